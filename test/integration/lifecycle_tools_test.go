// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/pkg/executor"
)

// event is an Event.
type event struct {
	regarding, related         client.Object
	kind, reason, action, note string
}

// recorder remembers Events with the objects they are about.
type recorder struct {
	mu     sync.Mutex
	events []event
	// onEvent, if any, is called with each.
	onEvent func(event)
}

func (r *recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	e := event{kind: kind, reason: reason, action: action, note: fmt.Sprintf(note, args...)}
	e.regarding, _ = regarding.(client.Object)
	e.related, _ = related.(client.Object)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	if r.onEvent != nil {
		r.onEvent(e)
	}
}

func (r *recorder) take() []event {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

// barrier holds those who come to it until it is opened, or the test ends.
type barrier struct {
	t       *testing.T
	arrived chan struct{}
	opened  chan struct{}
	open    func()
	// instead, if any, is shown when nobody comes.
	instead func() any
}

func newBarrier(t *testing.T) *barrier {
	b := &barrier{t: t, arrived: make(chan struct{}, 1000), opened: make(chan struct{})}
	b.open = sync.OnceFunc(func() { close(b.opened) })
	return b
}

// pass waits for the barrier to open.
func (b *barrier) pass() {
	b.arrived <- struct{}{}
	select {
	case <-b.opened:
	case <-b.t.Context().Done():
	case <-time.After(patience):
		b.t.Error("the barrier was not opened")
	}
}

// await waits until n more have come.
func (b *barrier) await(n int) {
	b.t.Helper()
	for range n {
		select {
		case <-b.arrived:
		case <-time.After(patience):
			if b.instead != nil {
				b.t.Logf("instead: %+v", b.instead())
			}
			b.t.Fatal("nobody came to the barrier")
		}
	}
}

// atBeginning holds every run before it has done anything.
func (b *barrier) atBeginning(s *settings) {
	s.gate = func(context.Context, executor.Request) { b.pass() }
}

// holdRequests holds the operator's requests of the method to paths with the part.
func (b *bench) holdRequests(at *barrier, method, part string) {
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == method && strings.Contains(r.URL.Path, part) {
			at.pass()
		}
		return nil, nil
	})
}
