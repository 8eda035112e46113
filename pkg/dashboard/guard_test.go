// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
)

// TestCookieOfAnotherPort is of who serves a page on another port of this computer, and got the cookie from the browser: it is of no use
// without the key, which only the page of this port has.
func TestCookieOfAnotherPort(t *testing.T) {
	handler := New(Options{
		Mode: ModeLocal, Cluster: &rest.Config{Host: "http://127.0.0.1:1"}, Hosts: []string{"127.0.0.1:80"}, Ticket: "once",
		Files: fstest.MapFS{"index.html": {Data: []byte("page")}}, Now: time.Now, Log: logr.Discard(),
	}).Handler()
	var cookies []*http.Cookie
	ask := func(path, key string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:80"+path, nil), httptest.NewRecorder()
		r.Header.Set(keyHeader, key)
		for _, cookie := range cookies {
			r.AddCookie(cookie)
		}
		handler.ServeHTTP(w, r)
		return w
	}
	enter := ask("/?token=once", "")
	key, ok := strings.CutPrefix(enter.Header().Get("Location"), "/#key=")
	if !ok || len(key) < 26 || strings.Contains(enter.Header().Get("Set-Cookie"), key) {
		t.Fatalf("the address leads to %q with the cookie %q", enter.Header().Get("Location"), enter.Header().Get("Set-Cookie"))
	}
	for path, code := range map[string]int{"/api/v1/cleaners": 401, "/api/v1/config": 200, "/api/v1/events?key=" + key: 401} {
		if w := ask(path, key); w.Code != code || strings.Contains(w.Body.String(), `"loggedIn":true`) {
			t.Errorf("%s without the cookie: %d %s", path, w.Code, w.Body)
		}
	}
	cookies = enter.Result().Cookies()
	for path, key := range map[string]string{
		"/api/v1/cleaners": "", "/api/v1/runs": cookies[0].Value, "/api/v1/events": key, "/api/v1/events?key=guess": key, "/api/v1/cleaners?key=" + key: "",
	} {
		if w := ask(path, key); w.Code != http.StatusUnauthorized {
			t.Errorf("%s with the key %q: %d %s", path, key, w.Code, w.Body)
		}
	}
	if w := ask("/api/v1/config", key); !strings.Contains(w.Body.String(), `"loggedIn":true`) {
		t.Errorf("the page is not logged in: %s", w.Body)
	}
	if w := ask("/?token=once", ""); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" {
		t.Errorf("the address, opened again: %d to %q", w.Code, w.Header().Get("Location"))
	}
}

// TestAttacks sends what pages of others, and people without a login, can send.
func TestAttacks(t *testing.T) {
	handler := New(Options{
		Mode: ModeLocal, Cluster: &rest.Config{Host: "http://127.0.0.1:1"}, Hosts: []string{"127.0.0.1:80"}, Ticket: "once",
		Files: fstest.MapFS{"index.html": {Data: []byte("page")}, ".secret": {Data: []byte("hidden")}}, Now: time.Now, Log: logr.Discard(),
	}).Handler()
	ask := func(method, path string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "http://127.0.0.1:80"+path, strings.NewReader("{}"))
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		if host := r.Header.Get("Host"); host != "" {
			r.Host = host
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	const post = "/api/v1/cleaners/x/trigger"
	for name, test := range map[string]struct {
		got  *httptest.ResponseRecorder
		code int
	}{
		"rebinding":         {ask("GET", "/", "Host", "evil.example:80"), 403},
		"CSRF":              {ask("POST", post, "Content-Type", "application/json", "Sec-Fetch-Site", "cross-site"), 403},
		"CSRF, no header":   {ask("POST", post, "Content-Type", "application/json"), 403},
		"CSRF, origin":      {ask("POST", post, "Content-Type", "application/json", "Sec-Fetch-Site", "same-origin", "Origin", "http://evil.example"), 403},
		"CSRF, form":        {ask("POST", post, "Content-Type", "text/plain", "Sec-Fetch-Site", "same-origin"), 415},
		"read of a page":    {ask("GET", "/api/v1/cleaners", "Sec-Fetch-Site", "cross-site"), 403},
		"no login":          {ask("GET", "/api/v1/cleaners"), 401},
		"wrong cookie":      {ask("GET", "/api/v1/cleaners", "Cookie", "kubecleaner-80=once"), 401},
		"token of a header": {ask("GET", "/api/v1/cleaners", "Authorization", "Bearer x"), 401},
		"wrong ticket":      {ask("GET", "/?token=guess"), 401},
		"ticket":            {ask("GET", "/?token=once"), 303},
		"ticket again":      {ask("GET", "/?token=once"), 401},
	} {
		if test.got.Code != test.code {
			t.Errorf("%s: %d %s", name, test.got.Code, test.got.Body)
		}
		header := test.got.Header()
		if csp := header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'self'") ||
			!strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") || header.Get("X-Content-Type-Options") != "nosniff" ||
			header.Get("X-Frame-Options") != "DENY" { // clickjacking, also of browsers that do not know frame-ancestors
			t.Errorf("%s: %v", name, header)
		}
	}
	for _, path := range []string{"/.secret", "/..%2f..%2fetc/passwd", "/%2e%2e/go.mod"} {
		if w := ask("GET", path); w.Code != http.StatusOK && w.Code != 307 && w.Code != 301 || strings.Contains(w.Body.String(), "hidden") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
