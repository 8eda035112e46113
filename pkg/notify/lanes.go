// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"sync"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// abreast is how many notifications are sent to one service at once. If there were no such bound, a service that hangs
// would soon have all senders, and nobody else would be told anything.
const abreast = 2

// lanes let notifications wait for their service without a sender.
type lanes struct {
	mutex sync.Mutex
	busy  map[string]int
	// waiting are those whose service is busy, in the order in which they came, each once.
	waiting map[string][]letter
	waits   map[letter]bool
	// turns are the lanes that those may try to enter who were given back.
	turns map[letter]string
}

// laneOf tells services apart by the Secret with their settings, which Cleaners share. Reports and Events have a lane
// for each type.
func laneOf(n v1alpha1.Notification) string {
	if n.NotificationRef == nil {
		return string(n.Type)
	}
	return string(n.Type) + " " + n.NotificationRef.Namespace + "/" + n.NotificationRef.Name
}

// enter returns false when the letter has to wait; it is given back by a leave then.
func (l *lanes) enter(lane string, next letter) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.busy == nil {
		l.busy, l.waiting, l.waits, l.turns = map[string]int{}, map[string][]letter{}, map[letter]bool{}, map[letter]string{}
	}
	delete(l.turns, next)
	if l.busy[lane] >= abreast {
		if !l.waits[next] {
			l.waits[next] = true
			l.waiting[lane] = append(l.waiting[lane], next)
		}
		return false
	}
	l.busy[lane]++
	return true
}

// leave makes room, and returns who may try to enter now.
func (l *lanes) leave(lane string) (next letter, ok bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.busy[lane]--; l.busy[lane] == 0 {
		delete(l.busy, lane)
	}
	return l.give(lane)
}

// pass is called when all is done for a letter: if it had its turn and did not need it, because there was nothing to
// send any more, the next one has it.
func (l *lanes) pass(done letter) (next letter, ok bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	lane, unused := l.turns[done]
	if !unused {
		return letter{}, false
	}
	delete(l.turns, done)
	return l.give(lane)
}

// give gives the turn to who has waited longest.
func (l *lanes) give(lane string) (next letter, ok bool) {
	all := l.waiting[lane]
	if len(all) == 0 {
		return letter{}, false
	}
	next, l.waiting[lane] = all[0], all[1:]
	if len(all) == 1 {
		delete(l.waiting, lane)
	}
	delete(l.waits, next)
	l.turns[next] = lane
	return next, true
}
