// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const pageHost = "page.example.com"

// page is manager dashboard, as a process that knows of the cluster only where its API server is.
type page struct {
	*manager
	*testing.T
	url, address string
	client       *http.Client
}

// startPage starts it with a certificate for pageHost, and waits until it answers.
func startPage(t *testing.T, dir string, authorities *x509.CertPool) *page {
	t.Helper()
	p := &page{T: t, url: "https://" + pageHost, address: freeAddress(t)}
	p.trust(authorities)
	p.start("--tls-cert-file="+filepath.Join(dir, "tls.crt"), "--tls-private-key-file="+filepath.Join(dir, "tls.key"))
	return p
}

func (p *page) start(flags ...string) {
	p.Helper()
	server, err := url.Parse(env.Config.Host)
	must(p.T, err)
	ca := filepath.Join(p.TempDir(), "ca.crt")
	must(p.T, os.WriteFile(ca, env.Config.CAData, 0o600))
	p.manager = begin(p.T, []string{"KUBERNETES_SERVICE_HOST=" + server.Hostname(), "KUBERNETES_SERVICE_PORT=" + server.Port()},
		append([]string{"dashboard", "--bind-address=" + p.address, "--hosts=" + pageHost, "--kubernetes-ca-file=" + ca}, flags...)...)
	eventually(p.T, "the page answers", func(context.Context) (bool, error) {
		response, err := p.client.Get(p.url + "/readyz")
		if err == nil {
			err = response.Body.Close()
		}
		return err == nil, nil
	})
}

// trust is a new browser, for which the certificate of the page must be one of these authorities.
func (p *page) trust(authorities *x509.CertPool) {
	if p.client != nil {
		p.client.CloseIdleConnections()
	}
	p.client = &http.Client{Timeout: patience, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, p.address)
		},
	}}
	p.Cleanup(p.client.CloseIdleConnections)
}

// ask sends a request as the page in a browser does, or one that the change makes of it.
func (p *page) ask(method, path, token string, body any, change func(*http.Request)) (status int, answer string) {
	p.Helper()
	text, err := json.Marshal(body)
	must(p.T, err)
	r, err := http.NewRequestWithContext(p.Context(), method, p.url+path, bytes.NewReader(text))
	must(p.T, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if token != "" {
		r.AddCookie(&http.Cookie{Name: "__Host-kubecleaner", Value: token})
	}
	if change != nil {
		change(r)
	}
	response, err := p.client.Do(r)
	must(p.T, err)
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	must(p.T, err)
	return response.StatusCode, string(read)
}

// TestPageInTheCluster looks at the page as a person with one namespace, as nobody, and under another name.
func TestPageInTheCluster(t *testing.T) {
	c := newClient(t)
	newNamespace(t, c, "page-own", 3)
	newNamespace(t, c, "page-other", 3)
	person := token(t, c, "page-person", false)
	must(t, c.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "page-own", Name: "view"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:aggregate-to-view"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "page-person"}},
	}))
	dir := t.TempDir()
	p := startPage(t, dir, writeCertificate(t, dir, pageHost))

	const own = "/api/v1/findings?kind=ConfigMap&q=victim&namespace=page-own"
	for name, asked := range map[string]struct {
		method, path, token string
		body                any
		change              func(*http.Request)
		status              int
		want                string
	}{
		"health":            {http.MethodGet, "/healthz", "", nil, func(r *http.Request) { r.Host = "10.0.0.1:8443" }, 200, "ok"},
		"nobody":            {http.MethodGet, own, "", nil, nil, 401, "you are not logged in"},
		"a wrong token":     {http.MethodGet, own, person + "x", nil, nil, 401, "Unauthorized"},
		"another host":      {http.MethodGet, own, person, nil, func(r *http.Request) { r.Host = "evil.example.com" }, 403, "does not answer for the host"},
		"another page":      {http.MethodGet, own, person, nil, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403, "another site"},
		"the person":        {http.MethodGet, "/api/v1/whoami", person, nil, nil, 200, "system:serviceaccount:default:page-person"},
		"the namespace":     {http.MethodGet, own, person, nil, nil, 200, `"total":3`},
		"another namespace": {http.MethodGet, strings.Replace(own, "page-own", "page-other", 1), person, nil, nil, 200, "cannot list"},
		"Cleaners":          {http.MethodGet, "/api/v1/cleaners", person, nil, nil, 403, "list cleaners.apps.projectsveltos.io"},
		"login":             {http.MethodPost, "/login", "", map[string]string{"token": person}, nil, 204, ""},
		"login, wrong":      {http.MethodPost, "/login", "", map[string]string{"token": "wrong"}, nil, 401, "does not take this token"},
	} {
		status, answer := p.ask(asked.method, asked.path, asked.token, asked.body, asked.change)
		if status != asked.status || !strings.Contains(answer, asked.want) {
			t.Errorf("%s: %d %.400s", name, status, answer)
		}
	}
	if text := p.log.tail(1 << 20); strings.Contains(text, person) {
		t.Error("the token is in the log")
	}
}

// TestPageBehindAProxy: the proxy ends TLS, and says who the person is. Browsers still send the cookie over TLS only.
func TestPageBehindAProxy(t *testing.T) {
	c := newClient(t)
	person := token(t, c, "page-proxied", false)
	p := &page{T: t, url: "http://" + pageHost, address: freeAddress(t)}
	p.trust(nil)
	p.start("--insecure-behind-proxy", "--read-only")
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+person) }
	if status, answer := p.ask(http.MethodGet, "/api/v1/whoami", "", nil, bearer); status != 200 || !strings.Contains(answer, "page-proxied") {
		t.Errorf("the person: %d %s", status, answer)
	}
	if status, answer := p.ask(http.MethodPost, "/api/v1/cleaners", "", map[string]string{}, bearer); status != 403 || !strings.Contains(answer, "takes no writes") {
		t.Errorf("a write: %d %s", status, answer)
	}
	if status, _ := p.ask(http.MethodGet, "/api/v1/whoami", "", nil, nil); status != 401 {
		t.Errorf("nobody: %d", status)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/login", strings.NewReader(`{"token":"`+person+`"}`))
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	response, err := p.client.Do(r)
	must(t, err)
	must(t, response.Body.Close())
	if cookies := response.Cookies(); len(cookies) != 1 || !cookies[0].Secure {
		t.Errorf("the login is answered with %s and %d cookies", response.Status, len(cookies))
	}
	if strings.Contains(p.log.tail(1<<20), person) {
		t.Error("the token is in the log")
	}
}

// TestPageTakesANewCertificate, and ends with SIGTERM although a browser has a stream open.
func TestPageTakesANewCertificate(t *testing.T) {
	c := newClient(t)
	person := token(t, c, "page-streamer", false)
	dir := t.TempDir()
	p := startPage(t, dir, writeCertificate(t, dir, pageHost))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+pageHost+"/api/v1/events", nil)
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+person)
	stream, err := p.client.Do(r)
	must(t, err)
	defer func() { _ = stream.Body.Close() }()
	if stream.StatusCode != http.StatusOK || stream.ProtoMajor != 2 {
		t.Fatalf("the stream is answered with %s %s", stream.Proto, stream.Status)
	}

	other := &page{T: t, address: p.address}
	other.trust(writeCertificate(t, dir, pageHost))
	eventually(t, "the new certificate is used", func(context.Context) (bool, error) {
		response, err := other.client.Get("https://" + pageHost + "/healthz")
		if err == nil {
			err = response.Body.Close()
		}
		return err == nil, nil
	})
	p.stop(t)
	if _, err := io.Copy(io.Discard, stream.Body); err != nil {
		t.Errorf("the stream ended with %v", err)
	}
}
