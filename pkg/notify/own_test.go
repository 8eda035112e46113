// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubecleaner/kubecleaner/test/testenv/servers"
)

const ownMachine = "no notification is sent to this address: it is this machine's own or the API server's. If you mean it, name its host in the flag --allowed-notification-hosts of the operator and of kubectl cleaner notify test"

// Nothing is sent to the operator's own machine that its flag does not name: neither over HTTP nor as a mail.
func TestOwnMachine(t *testing.T) {
	eachService(t, func(t *testing.T, s service) {
		sender, _ := newTestSender(t, nil)
		sender.guard = testGuard()
		server := serve(t, s)
		wantError(t, s.send(t, sender, server.URL, sample()), true, 0, ownMachine)
		wantError(t, s.send(t, sender, strings.Replace(server.URL, "127.0.0.1", "localhost", 1), sample()), true, 0, ownMachine)
		if len(server.got()) > 0 {
			t.Errorf("it got %d requests", len(server.got()))
		}
	})
	sender, _ := newTestSender(t, nil)
	sender.guard = testGuard()
	wantError(t, sendTo(t, sender, startMail(t, &servers.Mailbox{Open: true}), sample()), true, 0, ownMachine)
}

// A proxy of the environment may be on this machine. What it is asked for may not.
func TestProxyIsNotAskedForItsOwnMachine(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = append(asked, r.URL.Host) }))
	t.Cleanup(proxy.Close)
	address, err := url.Parse(proxy.URL)
	must(t, err)
	sender, _ := newTestSender(t, nil)
	sender.guard, sender.proxy, sender.proxied.Proxy = testGuard(), http.ProxyURL(address), http.ProxyURL(address)
	send := func(host string) error {
		return sender.New("Webhook")(t.Context(), settingsOf(map[string]string{"WEBHOOK_URL": "http://" + host + "/hook"}), sample())
	}
	must(t, send("hook.example.com"))
	must(t, send("10.96.0.10:8080"))
	for _, host := range []string{"127.0.0.1:8080", "localhost", "[::1]", "[::ffff:127.0.0.1]"} {
		wantError(t, send(host), true, 0, ownMachine)
	}
	for _, host := range []string{"169.254.169.254", "2130706433", "0x7f.1", "0.0.0.0"} {
		wantError(t, send(host), true, 0, "no notification is sent to this address: it is link-local, a cloud's metadata service, or not the address of a single host")
	}
	if strings.Join(asked, " ") != "hook.example.com 10.96.0.10:8080" {
		t.Errorf("the proxy was asked for %v", asked)
	}
}

const privateAddress = "the address is private, and the Cleaner names a ServiceAccount: use a Service in the Secret's own namespace (NAME.NAMESPACE.svc), or name the host in the operator's flag --allowed-notification-hosts"

// A Secret that a tenant wrote leads to no private address but that of a Service in its own namespace: neither over HTTP, nor as a mail,
// nor through a proxy, nor over a connection that is still open for somebody else.
func TestTenantsReachNoPrivateAddress(t *testing.T) {
	sender, _ := newTestSender(t, nil)
	server := newCounter(t)
	webhook := func(limited, url string) error {
		settings := settingsOf(map[string]string{"WEBHOOK_URL": url})
		settings.Limited = limited
		return sender.New("Webhook")(t.Context(), settings, sample())
	}
	must(t, webhook("", server.URL))
	sender.guard = sender.guard.WithLookup(func(context.Context, string, string) ([]netip.Addr, error) { return nil, nil }, nil)
	sender.guard.Allowed = nil
	must(t, webhook("", server.URL)) // over the open connection
	for _, address := range []string{"http://10.1.2.3:8080/hook", "http://[64:ff9b::a01:203]", "http://[2002:a01:203::1]"} {
		wantError(t, webhook("team-a", address), true, 0, privateAddress)
	}
	wantError(t, webhook("team-a", server.URL), true, 0, ownMachine)
	if server.requests.Load() != 2 {
		t.Errorf("the server got %d requests", server.requests.Load())
	}
	mail := settingsOf(map[string]string{"SMTP_HOST": "10.1.2.3", "SMTP_SENDER": "a@example.com", "SMTP_RECIPIENTS": "b@example.com"})
	mail.Limited = "team-a"
	wantError(t, sender.New("SMTP")(t.Context(), mail, sample()), true, 0, privateAddress)
	address, err := url.Parse(server.URL)
	must(t, err)
	sender.proxy, sender.proxied.Proxy = http.ProxyURL(address), http.ProxyURL(address)
	sender.guard = testGuard()
	wantError(t, webhook("team-a", "http://10.1.2.3:8080/hook"), true, 0, privateAddress)
	wantError(t, webhook("", "http://metadata.google.internal/computeMetadata"), true, 0, "no notification is sent to this address: it is link-local, a cloud's metadata service, or not the address of a single host")
	must(t, webhook("", "http://10.1.2.3:8080/hook")) // a relay of who acts with the operator's rights
	if server.requests.Load() != 3 {
		t.Errorf("the server got %d requests", server.requests.Load())
	}
}

// counter is a server that counts what it is asked.
type counter struct {
	*httptest.Server
	requests atomic.Int64
}

func newCounter(t *testing.T) *counter {
	t.Helper()
	c := &counter{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { c.requests.Add(1) }))
	t.Cleanup(c.Close)
	return c
}
