// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/egress"
)

const ownMachine = "the address is this machine's own, where no notification is sent to; if it is meant, name its host in the flag --allowed-notification-hosts, of the operator and of kubectl cleaner notify test"

// Nothing is sent to the operator's own machine that its flag does not name: neither over HTTP nor as a mail.
func TestOwnMachine(t *testing.T) {
	eachService(t, func(t *testing.T, s service) {
		sender, _ := newTestSender(t, nil)
		sender.allowed = nil
		server := serve(t, s)
		wantError(t, s.send(t, sender, server.URL, sample()), true, 0, ownMachine)
		wantError(t, s.send(t, sender, strings.Replace(server.URL, "127.0.0.1", "localhost", 1), sample()), true, 0, ownMachine)
		if len(server.got()) > 0 {
			t.Errorf("it got %d requests", len(server.got()))
		}
	})
	sender, _ := newTestSender(t, nil)
	sender.allowed = nil
	wantError(t, sendTo(t, sender, (&mailbox{open: true}).start(t, nil, false), sample()), true, 0, ownMachine)
}

// A proxy of the environment may be on this machine. What it is asked for may not.
func TestProxyIsNotAskedForItsOwnMachine(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = append(asked, r.URL.Host) }))
	t.Cleanup(proxy.Close)
	address, err := url.Parse(proxy.URL)
	must(t, err)
	sender, _ := newTestSender(t, nil)
	sender.allowed, sender.proxy, sender.proxied.Proxy = egress.Hosts{}, http.ProxyURL(address), http.ProxyURL(address)
	send := func(host string) error {
		return sender.New("Webhook")(t.Context(), settingsOf(map[string]string{"WEBHOOK_URL": "http://" + host + "/hook"}), sample())
	}
	must(t, send("hook.example.com"))
	must(t, send("10.96.0.10:8080"))
	for _, host := range []string{"127.0.0.1:8080", "localhost", "[::1]", "[::ffff:127.0.0.1]"} {
		wantError(t, send(host), true, 0, ownMachine)
	}
	for _, host := range []string{"169.254.169.254", "2130706433", "0x7f.1", "0.0.0.0"} {
		wantError(t, send(host), true, 0, "the address is link-local or none of a host, where no notification is sent to")
	}
	if strings.Join(asked, " ") != "hook.example.com 10.96.0.10:8080" {
		t.Errorf("the proxy was asked for %v", asked)
	}
}
