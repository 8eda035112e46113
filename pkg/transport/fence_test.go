// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// fencing is a fence with a clock that the test steps, before a lease that the test holds.
type fencing struct {
	t     *testing.T
	now   time.Duration
	sent  []string
	lease lease
	lock  *FencedLock
}

func newFencing(t *testing.T) *fencing {
	f := &fencing{t: t, now: time.Hour}
	f.lock = &FencedLock{Interface: &f.lease, Fence: NewFence(10*time.Second, func() time.Duration { return f.now }, errTaken)}
	return f
}

// send sends a request through the fence and reports whether it came out on the other side.
func (f *fencing) send(method, path string) error {
	f.t.Helper()
	client := &http.Client{Transport: f.lock.Fence.Wrap(roundTripper(func(r *http.Request) (*http.Response, error) {
		f.sent = append(f.sent, r.Method+" "+r.URL.Path)
		return httptest.NewRecorder().Result(), nil
	}))}
	request, err := http.NewRequestWithContext(f.t.Context(), method, "http://server"+path, http.NoBody)
	if err != nil {
		f.t.Fatal(err)
	}
	before := len(f.sent)
	response, err := client.Do(request)
	if err == nil {
		_ = response.Body.Close()
	}
	if passed := len(f.sent) > before; passed != (err == nil) {
		f.t.Fatalf("%s %s was sent: %v, and the error is %v", method, path, passed, err)
	}
	return err
}

var errTaken = errors.New("another operator has it")

const victim = "/api/v1/namespaces/shop/configmaps/old"

func (f *fencing) wantOpen() {
	f.t.Helper()
	for _, method := range []string{http.MethodDelete, http.MethodPatch, http.MethodPut, http.MethodPost} {
		if err := f.send(method, victim); err != nil {
			f.t.Fatalf("the leader may not send %s: %v", method, err)
		}
	}
}

func (f *fencing) wantShut() {
	f.t.Helper()
	for _, method := range []string{http.MethodDelete, http.MethodPatch, http.MethodPut, http.MethodPost} {
		err := f.send(method, victim)
		if !errors.Is(err, errTaken) {
			f.t.Fatalf("%s was answered by %v", method, err)
		}
		if want := "this operator is not the leader any more, so it did not send " + method + " " + victim; !strings.HasSuffix(err.Error(), want) {
			f.t.Fatalf("the error is %q, want %q", err, want)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		if err := f.send(method, victim); err != nil {
			f.t.Fatalf("%s: %v", method, err)
		}
	}
	for _, path := range []string{"/apis/authentication.k8s.io/v1/tokenreviews", "/k8s/clusters/x/apis/authorization.k8s.io/v1/subjectaccessreviews"} {
		if err := f.send(http.MethodPost, path); err != nil {
			f.t.Fatalf("a replica that does not lead cannot serve metrics: %v", err)
		}
	}
	if err := f.send(http.MethodPost, "/apis/events.k8s.io/v1/namespaces/default/events"); err == nil {
		f.t.Fatal("an Event went out, which tells of a run that another operator goes on with")
	}
}

func (f *fencing) record() resourcelock.LeaderElectionRecord {
	return resourcelock.LeaderElectionRecord{HolderIdentity: "me", LeaseDurationSeconds: 15}
}

func (f *fencing) renew() {
	f.t.Helper()
	if err := f.lock.Update(f.t.Context(), f.record()); err != nil {
		f.t.Fatal(err)
	}
}

func TestFenceFollowsTheLease(t *testing.T) {
	f := newFencing(t)
	f.wantShut() // it has never been the leader
	f.lease.err = apierrors.NewNotFound(schema.GroupResource{}, "lease")
	_, _, _ = f.lock.Get(t.Context())
	f.wantShut()
	f.lease.err = nil
	if err := f.lock.Create(t.Context(), f.record()); err != nil {
		t.Fatal(err)
	}
	f.wantOpen()
	f.now += 10*time.Second - 1
	f.wantOpen()
	f.now++
	f.wantShut()
	f.renew()
	f.wantOpen()
	f.now += 24 * time.Hour // the process, or the machine, was stopped
	f.wantShut()
}

// TestFenceCountsFromTheSending: the answer may come late, and the others count from when the server took the renewal.
func TestFenceCountsFromTheSending(t *testing.T) {
	f := newFencing(t)
	f.lease.write = func() { f.now += 9 * time.Second }
	f.renew()
	f.wantOpen()
	f.now += time.Second
	f.wantShut()
}

func TestFenceIsNotHeldOpenByARenewalThatFailed(t *testing.T) {
	f := newFencing(t)
	f.renew()
	f.now += 9 * time.Second
	f.lease.err = errors.New("no answer")
	if err := f.lock.Update(t.Context(), f.record()); err == nil {
		t.Fatal("the renewal did not fail")
	}
	if _, _, err := f.lock.Get(t.Context()); err == nil {
		t.Fatal("the reading did not fail")
	}
	f.wantOpen()
	f.now += time.Second
	f.wantShut()
}

func TestFenceShutsWhenTheLeaseIsAnothers(t *testing.T) {
	for name, lose := range map[string]func(*lease){
		"taken":    func(l *lease) { l.holder = "other" },
		"released": func(l *lease) { l.holder = "" },
		"deleted":  func(l *lease) { l.err = apierrors.NewNotFound(schema.GroupResource{}, "lease") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFencing(t)
			f.renew()
			f.wantOpen()
			lose(&f.lease)
			_, _, _ = f.lock.Get(t.Context())
			f.wantShut()
		})
	}
}

func TestFenceShutsBeforeTheLeaseIsReleased(t *testing.T) {
	f := newFencing(t)
	f.renew()
	f.wantOpen()
	f.lease.write = f.wantShut
	if err := f.lock.Update(t.Context(), resourcelock.LeaderElectionRecord{LeaseDurationSeconds: 1}); err != nil {
		t.Fatal(err)
	}
	if f.wantShut(); f.lease.holder != "" {
		t.Fatalf("the lease is held by %q", f.lease.holder)
	}
}

// TestAnothersLeaseIsNotReleased: the elector of a process that was stopped while it renewed would take the lease from the new
// leader, for it reads the lease and then writes what it believed before.
func TestAnothersLeaseIsNotReleased(t *testing.T) {
	f := newFencing(t)
	f.renew()
	f.lease.holder = "other"
	_, _, _ = f.lock.Get(t.Context())
	err := f.lock.Update(t.Context(), resourcelock.LeaderElectionRecord{LeaseDurationSeconds: 1})
	if err == nil || err.Error() != `the lease ns/lease is not released: "other" has it` {
		t.Fatalf("the error is %v", err)
	}
	if f.lease.holder != "other" {
		t.Fatalf("the lease is held by %q", f.lease.holder)
	}
}

// TestBootTimeGoesOn compares the clock that counts suspended time with the one that does not.
func TestBootTimeGoesOn(t *testing.T) {
	before := SinceBoot()
	start := time.Now()
	for time.Since(start) < time.Millisecond {
		continue
	}
	if gone := SinceBoot() - before; gone < time.Millisecond || gone > time.Hour {
		t.Fatalf("%s went by, want a millisecond", gone)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	return f(r)
}

// lease is a lease in memory.
type lease struct {
	holder string
	err    error
	// write, if any, is called while the lease is written.
	write func()
}

func (l *lease) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	return &resourcelock.LeaderElectionRecord{HolderIdentity: l.holder}, nil, l.err
}

func (l *lease) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, record)
}

func (l *lease) Update(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	if l.write != nil {
		l.write()
	}
	if l.err == nil {
		l.holder = record.HolderIdentity
	}
	return l.err
}

func (*lease) RecordEvent(string) {}
func (*lease) Identity() string   { return "me" }
func (*lease) Describe() string   { return "ns/lease" }
