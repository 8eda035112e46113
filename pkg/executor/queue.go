// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package executor

import "time"

// Slow is after how long a run counts as slow.
const Slow = 10 * time.Second

// queue is what waits for a worker, the oldest first. What comes first begins first, with one exception, so that runs that
// take long or hang, however many, do not keep the others waiting: names that are not known to be quick begin only while fewer
// than half of the workers have slow runs. What a run is going to need cannot be known, only what the last one needed: a name
// that has not run yet counts as slow until its first run is over.
type queue struct {
	quick, others []ticket
	// last is the number of the youngest ticket.
	last uint64
}

// ticket is a request's place in the queue.
type ticket struct {
	request Request
	number  uint64 // zero until it is in the queue
}

// enqueue puts a request at the end of the queue, and wakes a worker.
func (e *Executor[R]) enqueue(waits ticket) {
	e.queue.last++
	waits.number = e.queue.last
	e.dirty[waits.request.Name] = waits
	if waits.request.Quick {
		e.queue.quick = append(e.queue.quick, waits)
	} else {
		e.queue.others = append(e.queue.others, waits)
	}
	e.wake.Signal()
}

// take removes what may begin next. One worker that looks for each that was woken is enough: a slow run's end makes room for
// one, and it is its worker that looks.
func (e *Executor[R]) take() (Request, bool) {
	quick, others := e.first(&e.queue.quick), e.first(&e.queue.others)
	if others != nil && e.slow() >= (e.workers+1)/2 {
		others = nil
	}
	var next ticket
	switch {
	case quick == nil && others == nil:
		return Request{}, false
	case others == nil, quick != nil && quick.number < others.number:
		next, e.queue.quick = *quick, e.queue.quick[1:]
	default:
		next, e.queue.others = *others, e.queue.others[1:]
	}
	request := e.dirty[next.request.Name].request // it may have been replaced since
	delete(e.dirty, request.Name)
	return request, true
}

// first drops what was cancelled from the front of a list.
func (e *Executor[R]) first(list *[]ticket) *ticket {
	for ; len(*list) > 0; *list = (*list)[1:] {
		if first := &(*list)[0]; e.dirty[first.request.Name].number == first.number {
			return first
		}
	}
	return nil
}

// slow is how many runs in progress are slow, or may be.
func (e *Executor[R]) slow() (n int) {
	for _, p := range e.inProgress {
		if !p.request.Quick || e.clock.Since(p.started) >= Slow {
			n++
		}
	}
	return n
}
