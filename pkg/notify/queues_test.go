// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"fmt"
	"testing"
)

// A turn is not lost with a letter that does not need it any more, because its Cleaner is gone for example.
func TestTurnsAreNotLost(t *testing.T) {
	t.Parallel()
	var l queues
	slack := destination{"slack", "a"}
	of := func(run string) letter { return letter{run: run} }
	for _, run := range []string{"first", "second"} {
		if !l.enter(slack, of(run)) {
			t.Fatalf("%s does not enter an empty service", run)
		}
	}
	for _, run := range []string{"gone", "gone too", "good"} {
		if l.enter(slack, of(run)) {
			t.Fatalf("%s enters a service that is full", run)
		}
		if after, ok := l.pass(of(run)); ok {
			t.Fatalf("%s passes a turn that it did not have to %v", run, after)
		}
	}
	if !l.enter(destination{"mail", "a"}, of("other")) {
		t.Fatal("another service is full")
	}
	next, ok := l.leave(slack)
	for _, want := range []string{"gone", "gone too", "good"} {
		if !ok || next != of(want) {
			t.Fatalf("the turn is %v's (%v), want %s", next, ok, want)
		}
		if want != "good" {
			next, ok = l.pass(next)
		}
	}
	if !l.enter(slack, next) {
		t.Fatal("whose turn it is does not enter")
	}
	if after, ok := l.pass(next); ok {
		t.Fatalf("a turn that was used is passed to %v", after)
	}
	if after, ok := l.leave(slack); ok {
		t.Fatalf("nobody waits, and %v has the turn", after)
	}
}

// Services of one namespace, however many there are, do not take all senders.
func TestNamespacesDoNotTakeAllSenders(t *testing.T) {
	t.Parallel()
	var l queues
	of := func(n int, namespace string) (destination, letter) {
		return destination{fmt.Sprint(n), namespace}, letter{run: fmt.Sprint(namespace, n)}
	}
	for n := range maxPerNamespace {
		if !l.enter(of(n, "a")) {
			t.Fatalf("service %d does not enter", n)
		}
	}
	if l.enter(of(1, "a")) || l.enter(destination{"1", "a"}, letter{run: "waits longest"}) {
		t.Error("the namespace takes one more")
	}
	if l.enter(of(maxPerNamespace, "a")) {
		t.Error("the namespace takes one more")
	}
	if !l.enter(of(0, "b")) {
		t.Error("another namespace has no room")
	}
	other, _ := of(0, "b")
	if next, ok := l.leave(other); ok {
		t.Errorf("%v has the turn, and its namespace is full", next)
	}
	first, _ := of(0, "a")
	service, waits := of(maxPerNamespace, "a")
	if next, ok := l.leave(first); !ok || next != waits || !l.enter(service, next) {
		t.Errorf("%v has the turn", next)
	}
}
