// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestStoredXSS stores HTML wherever somebody may: nothing that is sent may be read as HTML. That the page shows it as
// text, web/e2e tries.
func TestStoredXSS(t *testing.T) {
	const evil = "<script>alert(1)</script>"
	c := admin(t)
	shop := namespace(t, c)
	of := cleaner(t, c, shop, func(spec *v1alpha1.CleanerSpec) { spec.Transform = "-- " + evil })
	of.Status.FailureMessage = ptr.To(evil)
	must(t, c.Status().Update(t.Context(), of))
	bad := outcome(shop, evil, v1alpha1.OutcomeFailed)
	bad.Reason, bad.Message = evil, evil
	run := record(t, c, of, 0, v1alpha1.CleanerRunStatus{
		Phase: v1alpha1.RunFailed, Message: evil, Objects: []v1alpha1.ObjectOutcome{bad},
	})
	v := visit(t, env.Config)
	for _, path := range []string{
		"cleaners", "cleaners/" + of.Name, "runs", "runs/" + run.Name, "runs/" + run.Name + "/outcomes", "summary",
		"why?object=ConfigMap/" + shop + "/" + evil, "findings?q=" + evil, "runs/" + evil, evil,
	} {
		response, err := v.client.Get(v.url + "/api/v1/" + path)
		must(t, err)
		body, err := io.ReadAll(response.Body)
		must(t, err)
		must(t, response.Body.Close())
		if kind := response.Header.Get("Content-Type"); kind != "application/json; charset=utf-8" || strings.Contains(string(body), "<script") {
			t.Errorf("%s: %s %s", path, kind, body)
		}
	}
}

// TestPathTraversal names what is not an object's name. Nothing but the API server's path for that object may be asked.
func TestPathTraversal(t *testing.T) {
	v := visit(t, env.Config)
	for _, path := range []string{
		"cleaners/..%2f..%2f..%2fapi%2fv1%2fsecrets", "cleaners/%2e%2e", "runs/..%2fcleaners", "runs/x%3fwatch=true", "plans/..%2fx",
		"reports/..%2f..", "library/..%2f..%2fgo.mod", "findings?namespace=..%2f..", "access?namespace=a%2fb",
		"runs/x/copy?object=ConfigMap/../../secrets", "why?object=ConfigMap/../secrets", "why?object=ConfigMap/a/..", "why?object=ConfigMap/a%2fb/c/d",
	} {
		status, answer := v.ask(http.MethodGet, path, nil)
		if status < 400 || status >= 500 {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
}

// TestSlowClients holds connections open: one that sends no header, one that sends no body, and one that reads nothing.
func TestSlowClients(t *testing.T) {
	server := NewHTTP(nil)
	for _, waits := range []time.Duration{server.ReadHeaderTimeout, server.ReadTimeout, server.IdleTimeout} {
		if waits <= 0 || waits > time.Minute {
			t.Errorf("the server waits %s", waits)
		}
	}
	options := optionsOf(env.Config)
	options.Now = func() time.Time { return time.Now().Add(-writeIn) } // the time to read an answer is over at once
	listening := httptest.NewUnstartedServer(nil)
	options.Hosts = []string{listening.Listener.Addr().String()}
	listening.Config = NewHTTP(New(options).Handler())
	listening.Config.ReadHeaderTimeout, listening.Config.ReadTimeout = 50*time.Millisecond, 100*time.Millisecond
	listening.Start()
	defer listening.Close()
	host := listening.Listener.Addr().String()
	enter, err := listening.Client().Transport.RoundTrip(httptest.NewRequest(http.MethodGet, listening.URL+"/?token=once", nil))
	must(t, err)
	cookie, key := enter.Cookies()[0].String(), strings.TrimPrefix(enter.Header.Get("Location"), "/#key=")
	for name, test := range map[string]struct{ sent, want string }{
		"no header": {"GET / HTTP/1.1\r\nHost: " + host + "\r\nX-Slow: ", ""},
		"no body": {"POST /api/v1/preview HTTP/1.1\r\nHost: " + host + "\r\nCookie: " + cookie + "\r\n" + keyHeader + ": " + key + "\r\nSec-Fetch-Site: same-origin\r\n" +
			"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{", "HTTP/1.1 408 Request Timeout\r\n"},
		"no reading": {"GET /api/v1/events?key=" + key + " HTTP/1.1\r\nHost: " + host + "\r\nCookie: " + cookie + "\r\n\r\n", ""},
	} {
		connection, err := net.Dial("tcp", host)
		must(t, err)
		must(t, connection.SetDeadline(time.Now().Add(10*time.Second)))
		_, err = io.WriteString(connection, test.sent)
		must(t, err)
		reader := bufio.NewReader(connection)
		if first, err := reader.ReadString('\n'); first != test.want {
			t.Errorf("%s: answered %q %v", name, first, err)
		}
		if _, err := io.Copy(io.Discard, reader); err != nil {
			t.Errorf("%s: the connection stays: %v", name, err)
		}
		must(t, connection.Close())
	}
}
