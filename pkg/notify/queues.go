// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"sync"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// maxPerService is how many notifications are sent to one service at once. If there were no such bound, a service that
// hangs would soon hold all senders, and no other service would get its notifications.
const maxPerService = 2

// queues hold the notifications that wait for their service. They take no sender while they wait.
type queues struct {
	mutex sync.Mutex
	busy  map[string]int
	// waiting are those whose service is busy, in the order in which they came, each once.
	waiting map[string][]letter
	waits   map[letter]bool
	// turns are the services of the letters that leave gave back, and that did not try to enter since then.
	turns map[letter]string
}

// serviceOf names a service by the Secret with its settings, which Cleaners share. Reports and Events are a service
// each.
func serviceOf(n v1alpha1.Notification) string {
	if n.NotificationRef == nil {
		return string(n.Type)
	}
	return string(n.Type) + " " + n.NotificationRef.Namespace + "/" + n.NotificationRef.Name
}

// enter returns false when the letter has to wait; it is given back by a leave then.
func (l *queues) enter(service string, next letter) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.busy == nil {
		l.busy, l.waiting, l.waits, l.turns = map[string]int{}, map[string][]letter{}, map[letter]bool{}, map[letter]string{}
	}
	delete(l.turns, next)
	if l.busy[service] >= maxPerService {
		if !l.waits[next] {
			l.waits[next] = true
			l.waiting[service] = append(l.waiting[service], next)
		}
		return false
	}
	l.busy[service]++
	return true
}

// leave makes room, and returns who may try to enter now.
func (l *queues) leave(service string) (next letter, ok bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.busy[service]--; l.busy[service] == 0 {
		delete(l.busy, service)
	}
	return l.give(service)
}

// pass is called when all is done for a letter: if it had its turn and did not need it, because there was nothing to
// send any more, the next one has it.
func (l *queues) pass(done letter) (next letter, ok bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	service, unused := l.turns[done]
	if !unused {
		return letter{}, false
	}
	delete(l.turns, done)
	return l.give(service)
}

// give gives the turn to who has waited longest.
func (l *queues) give(service string) (next letter, ok bool) {
	all := l.waiting[service]
	if len(all) == 0 {
		return letter{}, false
	}
	next, l.waiting[service] = all[0], all[1:]
	if len(all) == 1 {
		delete(l.waiting, service)
	}
	delete(l.waits, next)
	l.turns[next] = service
	return next, true
}
