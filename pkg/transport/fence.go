// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Fence keeps an operator that may not be the leader any more from writing. Leader election alone does not: a process
// that was stopped for a while goes on with what it was doing, and learns seconds later that another one has the lease.
//
// The lease is another's at the earliest when its whole duration has passed since the API server took our last renewal,
// which is after we sent it. So the fence counts from the sending, and closes at the elector's renew deadline, which is
// shorter than the lease: what is between is for the requests that were let through just before, at most 16 for each
// run that is going on.
//
// The time is that of sinceBoot, which goes on while the process is stopped and, on Linux, while the machine is
// suspended. Nothing inside a virtual machine counts the time in which its host has paused all of it. Then, and for
// requests that were let through in time but arrive late, holds what always does: objects are touched as they were
// judged or not at all, and a record that another operator took over cannot be written.
type Fence struct {
	limit     time.Duration
	sinceBoot func() time.Duration
	refusal   error

	mu      sync.Mutex
	leads   bool
	renewed time.Duration
}

// NewFence returns a fence that is shut. limit is how long a renewal of the lease keeps it open, by the clock
// sinceBoot. What it refuses is refused with an error that is refusal.
func NewFence(limit time.Duration, sinceBoot func() time.Duration, refusal error) *Fence {
	return &Fence{limit: limit, sinceBoot: sinceBoot, refusal: refusal}
}

func (f *Fence) open(sent time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leads, f.renewed = true, sent
}

func (f *Fence) shut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leads = false
}

// Wrap makes a transport that sends writes only while the fence is open. It is the innermost: nothing waits between it
// and the sending.
func (f *Fence) Wrap(next http.RoundTripper) http.RoundTripper {
	return &fencedTransport{fence: f, next: next}
}

type fencedTransport struct {
	fence *Fence
	next  http.RoundTripper
}

// WrappedRoundTripper lets client-go reach the connections behind.
func (t *fencedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t *fencedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := t.fence.check(request); err != nil {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, err
	}
	return t.next.RoundTrip(request)
}

func (f *Fence) check(request *http.Request) error {
	if isHarmless(request) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if age := f.sinceBoot() - f.renewed; !f.leads || age >= f.limit {
		return &notLeaderError{method: request.Method, path: request.URL.Path, refusal: f.refusal}
	}
	return nil
}

// isHarmless reports whether a request may be sent by any replica: it reads, or it asks who may read the metrics.
func isHarmless(request *http.Request) bool {
	switch request.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	case http.MethodPost:
		return strings.Contains(request.URL.Path, "/apis/authentication.k8s.io/") ||
			strings.Contains(request.URL.Path, "/apis/authorization.k8s.io/")
	}
	return false
}

// notLeaderError says that a request was not sent.
type notLeaderError struct {
	method, path string
	refusal      error
}

// Error implements error.
func (e *notLeaderError) Error() string {
	return fmt.Sprintf("this operator is not the leader any more, so it did not send %s %s", e.method, e.path)
}

// Unwrap makes it what the caller takes it for: whatever it is doing, that is another operator's now.
func (e *notLeaderError) Unwrap() error { return e.refusal }

// FencedLock is the leader's lease, and moves the fence with it.
type FencedLock struct {
	resourcelock.Interface
	Fence *Fence
	// holder is who had the lease when it was looked at last.
	holder string
}

// Get reads the lease. One that is another's, or that is gone, shuts the fence.
func (l *FencedLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	switch {
	case err == nil:
		l.holder = record.HolderIdentity
	case apierrors.IsNotFound(err):
		l.holder = ""
	default:
		return record, raw, err
	}
	if l.holder != l.Identity() {
		l.Fence.shut()
	}
	return record, raw, err
}

// Create takes a lease that nobody had.
func (l *FencedLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.renew(ctx, record, l.Interface.Create)
}

// Update takes, renews or releases the lease.
func (l *FencedLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == l.Identity() {
		return l.renew(ctx, record, l.Interface.Update)
	}
	l.Fence.shut() // before another can have it
	if l.holder != l.Identity() {
		// The elector releases what it believes to be its own, on the state that it has just read: that may be another's.
		return fmt.Errorf("the lease %s is not released: %q has it", l.Describe(), l.holder)
	}
	return l.Interface.Update(ctx, record)
}

func (l *FencedLock) renew(
	ctx context.Context,
	record resourcelock.LeaderElectionRecord,
	write func(context.Context, resourcelock.LeaderElectionRecord) error,
) error {
	sent := l.Fence.sinceBoot()
	if err := write(ctx, record); err != nil {
		return err
	}
	l.holder = l.Identity()
	l.Fence.open(sent)
	return nil
}
