// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"github.com/kubecleaner/kubecleaner/pkg/fault"
)

// No value of a Secret is in a log, an error or, unless the service needs it to find the place, in a message.
func TestCanaries(t *testing.T) {
	eachService(t, func(t *testing.T, s service) {
		var log bytes.Buffer
		logger := funcr.New(func(prefix, args string) { log.WriteString(prefix + args + "\n") }, funcr.Options{Verbosity: 10})
		sender, _ := newTestSender(t, nil)
		var server *loopback
		echo := func(status int) trouble {
			return func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(status)
				for _, value := range s.keys(server.URL) {
					_, _ = w.Write([]byte(value + " " + r.URL.String() + `","error":"` + value))
				}
			}
		}
		server = serve(t, s, echo(200), echo(400), echo(403), echo(500), echo(500), echo(500))
		keys := s.keys(server.URL)
		ctx := logr.NewContext(t.Context(), logger)
		for range 4 {
			err := sender.New(s.kind)(ctx, settingsOf(keys), sample())
			// A webhook that answers with success has taken the message, whatever it says.
			if err != nil {
				noCanary(t, err.Error())
			}
		}
		for name, value := range keys {
			message := sample()
			message.Run.Status.Message = "it says " + value
			message.Run.Status.Objects[0].Message = value + "?"
			before := len(server.got())
			must(t, sender.New(s.kind)(ctx, settingsOf(keys), message))
			for _, got := range server.got()[before:] {
				isPlace := strings.HasSuffix(name, "_ID") || strings.HasSuffix(name, "API_URL")
				if !isPlace && strings.Contains(shown(s.kind, got), value) {
					t.Errorf("%s is in the message:\n%s", name, shown(s.kind, got))
				}
			}
		}
		noCanary(t, log.String())
	})
}

// A panic may quote the values of a Secret as well.
func TestCanariesInAPanic(t *testing.T) {
	var log bytes.Buffer
	logger := funcr.New(func(prefix, args string) { log.WriteString(prefix + args + "\n") }, funcr.Options{Verbosity: 10})
	sender, _ := newTestSender(t, nil)
	broken := webhookChannel()
	keys, err := broken.read(settingsOf(map[string]string{"WEBHOOK_URL": "https://example.com/canary"}))
	must(t, err)
	broken.send = func(_ context.Context, _ *call, values values, _ *report) error {
		panic("no idea what to do with " + values.get("WEBHOOK_URL")) //nolint:forbidigo // what is tried
	}
	wantError(t, sender.deliver(logr.NewContext(t.Context(), logger), broken, keys, "", sample()), true, 0, fault.Words)
	noCanary(t, log.String())
	if !strings.Contains(log.String(), "no idea what to do with ") || !strings.Contains(log.String(), "canaries_test.go") {
		t.Errorf("the log does not say what panicked, and where: %s", log.String())
	}
}
