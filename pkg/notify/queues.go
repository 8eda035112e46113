// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"slices"
	"sync"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// maxPerService is how many notifications are sent to one service at once, and maxPerNamespace how many to all
// services whose Secrets are in one namespace. Without these bounds, services that hang would soon hold all senders,
// and no other service would get its notifications.
const maxPerService, maxPerNamespace = 2, 6

// destination is a service to which notifications go: the Secret with its settings, which Cleaners share. Reports and
// Events are a service each, without a namespace.
type destination struct{ name, namespace string }

// queues hold the notifications that wait for their service. They take no sender while they wait.
type queues struct {
	mutex sync.Mutex
	// busy counts what is sent to each service, and busyIn to those of each namespace, with turns. There are no zeros.
	busy   map[destination]int
	busyIn map[string]int
	// waiting are those for whose service there is no room, in the order in which they came, each once.
	waiting []waiter
	waits   map[letter]bool
	// turns are the services of the letters that were given back, and that did not enter since then. Their place is kept.
	turns map[letter]destination
}

// waiter is a letter that waits for its service.
type waiter struct {
	letter
	of destination
}

func serviceOf(n v1alpha1.Notification) destination {
	if n.NotificationRef == nil {
		return destination{name: string(n.Type)}
	}
	return destination{string(n.Type) + " " + n.NotificationRef.Name, n.NotificationRef.Namespace}
}

// isFull reports whether nothing more is sent to a service for now.
func (l *queues) isFull(of destination) bool {
	return l.busy[of] >= maxPerService || of.namespace != "" && l.busyIn[of.namespace] >= maxPerNamespace
}

// enter returns false when the letter has to wait; it is given back by a leave then.
func (l *queues) enter(of destination, next letter) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.busy == nil {
		l.busy, l.busyIn = map[destination]int{}, map[string]int{}
		l.waits, l.turns = map[letter]bool{}, map[letter]destination{}
	}
	if kept, ok := l.turns[next]; ok && kept == of {
		delete(l.turns, next)
		return true
	}
	if l.isFull(of) {
		if !l.waits[next] {
			l.waits[next] = true
			l.waiting = append(l.waiting, waiter{next, of})
		}
		return false
	}
	l.take(of)
	return true
}

// leave makes room, and returns who may enter now.
func (l *queues) leave(of destination) (next letter, ok bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.give(of)
}

// pass is called when all is done for a letter: if it had its turn and did not need it, because there was nothing to
// send any more, the next one has it.
func (l *queues) pass(done letter) (next letter, ok bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	of, unused := l.turns[done]
	if !unused {
		return letter{}, false
	}
	delete(l.turns, done)
	return l.give(of)
}

func (l *queues) take(of destination) {
	l.busy[of]++
	l.busyIn[of.namespace]++
}

// give frees a place of a service, and gives it to one of those for whom there is room then: of those for whose service
// least is being sent, which may be one that does not hang, to who has waited longest. There was no room for anybody
// before, so there is for one at most.
func (l *queues) give(of destination) (next letter, ok bool) {
	if l.busy[of]--; l.busy[of] == 0 {
		delete(l.busy, of)
	}
	if l.busyIn[of.namespace]--; l.busyIn[of.namespace] == 0 {
		delete(l.busyIn, of.namespace)
	}
	chosen := -1
	for i, w := range l.waiting {
		if !l.isFull(w.of) && (chosen < 0 || l.busy[w.of] < l.busy[l.waiting[chosen].of]) {
			chosen = i
		}
	}
	if chosen < 0 {
		return letter{}, false
	}
	w := l.waiting[chosen]
	l.waiting = slices.Delete(l.waiting, chosen, chosen+1)
	delete(l.waits, w.letter)
	l.turns[w.letter] = w.of
	l.take(w.of)
	return w.letter, true
}
