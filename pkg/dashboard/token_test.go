// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inCluster is a browser without a login, at a server as the manager's command dashboard starts it. The server has the
// administrator's certificate, which it must not use.
func inCluster(t *testing.T, config *rest.Config, change func(*Options)) *visitor {
	t.Helper()
	options := optionsOf(config)
	options.Mode, options.Ticket, options.Hosts = ModeToken, "", []string{"127.0.0.1"}
	if change != nil {
		change(&options)
	}
	listening := httptest.NewUnstartedServer(nil)
	listening.Config = NewHTTP(New(options).Handler())
	listening.StartTLS()
	t.Cleanup(listening.Close)
	jar, err := cookiejar.New(nil)
	must(t, err)
	browser := listening.Client()
	browser.Jar, browser.Timeout = jar, time.Minute
	return &visitor{t, listening.URL, browser}
}

// tokenOf is a token of a new ServiceAccount that may read the objects of its namespace.
func tokenOf(t *testing.T, c client.Client, namespace string) string {
	t.Helper()
	account := create(t, c, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "reader-"}})
	create(t, c, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account.Name},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: account.Name, Namespace: namespace}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:aggregate-to-view"},
	})
	request := &authenticationv1.TokenRequest{}
	must(t, c.SubResource("token").Create(t.Context(), account, request))
	return request.Status.Token
}

// TestServerInTheCluster logs in with a token. What it may not, the server does not do, whatever its own rights are.
func TestServerInTheCluster(t *testing.T) {
	c := admin(t)
	shop, other := namespace(t, c), namespace(t, c)
	create(t, c, settingsIn(shop))
	token := tokenOf(t, c, shop)
	v := inCluster(t, env.Config, nil)

	for path, want := range map[string]int{
		"whoami": 401, "cleaners": 401, "findings?namespace=" + shop: 401, "events": 401, "doctor": 401, "config": 200, "/": 200,
		"/healthz": 200, "/readyz": 200,
	} {
		v.wants(want, http.MethodGet, path, nil, nil)
	}
	if status, answer := v.ask(http.MethodPost, "/login", Login{Token: token + "x"}); status != 401 || !strings.Contains(answer, "does not take this token") {
		t.Errorf("a wrong token: %d %s", status, answer)
	}
	v.wants(http.StatusBadRequest, http.MethodPost, "/login", Login{Token: "a\nb"}, nil)
	v.wants(http.StatusUnauthorized, http.MethodGet, "whoami", nil, nil)

	v.wants(http.StatusNoContent, http.MethodPost, "/login", Login{Token: token}, nil)
	var who WhoAmI
	v.wants(http.StatusOK, http.MethodGet, "whoami", nil, &who)
	if !strings.HasPrefix(who.User, "system:serviceaccount:"+shop+":reader-") {
		t.Errorf("the server acts as %s", who.User)
	}
	var found Findings
	v.wants(http.StatusOK, http.MethodGet, "findings?q=settings&namespace="+shop, nil, &found)
	if found.Total != 1 {
		t.Errorf("the person's namespace has %d findings", found.Total)
	}
	_, answer := v.ask(http.MethodGet, "findings?namespace="+other, nil)
	if !strings.Contains(answer, "cannot list") {
		t.Errorf("findings of another namespace: %s", answer)
	}
	v.wants(http.StatusForbidden, http.MethodGet, "cleaners", nil, nil)
	v.wants(http.StatusNoContent, http.MethodPost, "/logout", nil, nil)
	v.wants(http.StatusUnauthorized, http.MethodGet, "whoami", nil, nil)
}

// TestTokenOfAProxy is of a proxy in front that knows the person: its token counts, and not a cookie beside it.
func TestTokenOfAProxy(t *testing.T) {
	c := admin(t)
	shop := namespace(t, c)
	v := inCluster(t, env.Config, nil)
	for header, want := range map[string]int{"Bearer " + tokenOf(t, c, shop): 200, "Bearer wrong": 401, "Basic YTpi": 401} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.url+"/api/v1/whoami", nil)
		must(t, err)
		r.Header.Set("Authorization", header)
		r.Header.Set("Impersonate-User", "admin") // goes no further
		response, err := v.client.Do(r)
		must(t, err)
		body, err := io.ReadAll(response.Body)
		must(t, err)
		must(t, response.Body.Close())
		if response.StatusCode != want || want == 200 && !strings.Contains(string(body), "system:serviceaccount:"+shop) {
			t.Errorf("%.12s...: %d %s", header, response.StatusCode, body)
		}
	}
}

// TestCookieInTheCluster looks at what other hosts, other pages and scripts get of the token.
func TestCookieInTheCluster(t *testing.T) {
	c := admin(t)
	v := inCluster(t, env.Config, nil)
	body, err := json.Marshal(Login{Token: tokenOf(t, c, namespace(t, c))})
	must(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.url+"/login", strings.NewReader(string(body)))
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	response, err := v.client.Do(r)
	must(t, err)
	must(t, response.Body.Close())
	cookies := response.Cookies()
	if len(cookies) != 1 {
		t.Fatalf("the cookies are %v", cookies)
	}
	cookie := cookies[0]
	if cookie.Name != "__Host-kubecleaner" || !cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode ||
		cookie.Domain != "" || cookie.Path != "/" || !cookie.Expires.IsZero() || cookie.MaxAge != 0 {
		t.Errorf("the cookie is %s", strings.Replace(cookie.String(), cookie.Value, "...", 1))
	}
	if response.Header.Get("Strict-Transport-Security") == "" {
		t.Error("browsers may come back without TLS")
	}
}

// TestHostsInTheCluster: names count with any port, and probes with any name.
func TestHostsInTheCluster(t *testing.T) {
	v := inCluster(t, &rest.Config{Host: "http://127.0.0.1:1"}, func(o *Options) { o.Hosts = []string{"page.example.com", "::1", "localhost"} })
	for host, want := range map[string]int{
		"page.example.com": 200, "Page.Example.com:8443": 200, "[::1]:8443": 200, "evil.example.com": 403, "page.example.com.evil.example": 403,
		"127.0.0.1:8443": 403, "x.page.example.com": 403, "localhost:8443": 200,
	} {
		for path, want := range map[string]int{"/": want, "/api/v1/config": want, "/healthz": 200, "/readyz": 200} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.url+path, nil)
			must(t, err)
			r.Host = host
			response, err := v.client.Do(r)
			must(t, err)
			must(t, response.Body.Close())
			if response.StatusCode != want {
				t.Errorf("%s%s: %d, not %d", host, path, response.StatusCode, want)
			}
			if strict := response.Header.Get("Strict-Transport-Security"); strict != "" && host == "localhost:8443" {
				t.Errorf("%s%s changes what browsers do with all of localhost: %s", host, path, strict)
			}
		}
	}
}

// TestTokenGoesNoFurther: an API server, or an aggregated one behind it, sends the request on to another host.
func TestTokenGoesNoFurther(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another host was asked, with %q", r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	v := inCluster(t, &rest.Config{Host: server.URL}, nil)
	if status, answer := v.ask(http.MethodPost, "/login", Login{Token: "token"}); status < 500 {
		t.Errorf("%d %s", status, answer)
	}
}

// TestStreamsEndWithTheServer: else the end of the server would wait for each browser.
func TestStreamsEndWithTheServer(t *testing.T) {
	ending := make(chan struct{})
	c := admin(t)
	v := inCluster(t, env.Config, func(o *Options) { o.Ending = ending })
	v.wants(http.StatusNoContent, http.MethodPost, "/login", Login{Token: tokenOf(t, c, namespace(t, c))}, nil)
	response, err := v.client.Get(v.url + "/api/v1/events")
	must(t, err)
	defer response.Body.Close()
	close(ending)
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Errorf("the stream ended with %v", err)
	}
}
