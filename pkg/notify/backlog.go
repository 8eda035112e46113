// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"errors"
	"sync"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// maxBacklog is how many objects may be kept, of all runs together, some 300 bytes each.
const maxBacklog = 100_000

// backlog are the objects that Events are still to be written about. A record need not have room for all of them; what
// is not kept here any more is sent from there. It is safe for concurrent use.
type backlog struct {
	mutex   sync.Mutex
	letters map[letter][]stage.Outcome
	size    int
}

// Notify sends the notifications of a run that has just ended, with Events on all of its objects, also those that its
// record does not list, unless outcomes are nil.
func (o *Outbox) Notify(run *v1alpha1.CleanerRun, outcomes []stage.Outcome) {
	for i := range run.Status.Notifications {
		if entry := &run.Status.Notifications[i]; outcomes != nil && entry.Type == v1alpha1.NotificationEvent &&
			entry.State == v1alpha1.NotificationPending {
			o.backlog.add(letter{run.Name, entry.Name}, handledOf(Message{Run: run, Outcomes: outcomes}))
		}
	}
	o.Add(run)
}

func (b *backlog) add(next letter, outcomes []stage.Outcome) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.letters == nil {
		b.letters = map[letter][]stage.Outcome{}
	}
	if b.size+len(outcomes) > maxBacklog {
		return
	}
	b.letters[next] = outcomes
	b.size += len(outcomes)
}

// of are the objects kept for a letter. Nil when they are to be taken from the record.
func (b *backlog) of(next letter) []stage.Outcome {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.letters[next]
}

// written takes out the objects whose Events are there now: all but those that the fault names.
func (b *backlog) written(next letter, fault error) {
	var failure *Error
	if !errors.As(fault, &failure) || len(failure.unwritten) == 0 {
		return
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if kept, ok := b.letters[next]; ok {
		b.letters[next] = failure.unwritten
		b.size += len(failure.unwritten) - len(kept)
	}
}

func (b *backlog) drop(next letter) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.size -= len(b.letters[next])
	delete(b.letters, next)
}
