// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// listen opens the stream of events, and returns what waits for a line with the text.
func (v *visitor) listen() (until func(text string) string) {
	v.Helper()
	ctx, cancel := context.WithCancel(v.Context())
	v.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.url+"/api/v1/events", nil)
	must(v.T, err)
	response, err := v.client.Do(r)
	must(v.T, err)
	v.Cleanup(func() { _ = response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	return func(text string) string {
		v.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return lines.Text()
			}
		}
		v.Fatalf("the stream ended without %q: %v", text, lines.Err())
		return ""
	}
}

// TestEvents watches as somebody who may, and as somebody who may not.
func TestEvents(t *testing.T) {
	c := admin(t)
	shop := namespace(t, c)
	until := visit(t, env.Config).listen()
	until(`"type":"RESET"`)
	until(`"type":"RESET"`) // of both kinds
	of := cleaner(t, c, shop, nil)
	until(`{"type":"ADDED","name":"` + of.Name + `"}`)
	record(t, c, of, 0, v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted})
	until(`"type":"MODIFIED"`)

	nobody, err := env.AddUser("stream-nobody")
	must(t, err)
	v := visit(t, nobody.Config())
	if got := v.listen()(`"type":"ERROR"`); !strings.Contains(got, `"missing":"list cleaner`) {
		t.Errorf("nobody is told %s", got)
	}
	if _, answer := v.ask(http.MethodPost, "preview", Preview{Name: of.Name}); !strings.Contains(answer, "event: error\n") ||
		!strings.Contains(answer, `"missing":"get cleaners.apps.projectsveltos.io"`) {
		t.Errorf("nobody's preview: %s", answer)
	}
}

// TestLostWatch: the page must know when nothing is watched, and when it is again.
func TestLostWatch(t *testing.T) {
	var works atomic.Bool
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodPost: // who the person is
			_, _ = w.Write([]byte(`{}`))
		case r.URL.Query().Has("watch"):
			<-r.Context().Done()
		case works.Load():
			_, _ = w.Write([]byte(`{"metadata":{"resourceVersion":"1"}}`))
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(api.Close)
	until := visit(t, &rest.Config{Host: api.URL}).listen()
	until(`{"type":"ERROR","name":"runs"`)
	works.Store(true)
	until(`"type":"RESET"`)
}
