// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package executor

import "time"

// Slow is after how long a run counts as slow.
const Slow = 10 * time.Second

// Pace is what is known of how long a name's runs take.
type Pace int

// A name is known by its last run: one that was over in less than Slow is quick, unless its scripts used up what they may.
const (
	PaceUnknown Pace = iota
	PaceSlow
	PaceQuick
)

// paces are in the order in which they have more and more of the workers.
var paces = [...]Pace{PaceSlow, PaceUnknown, PaceQuick}

// queue is what waits for a worker, each pace's requests in a list of their own. The oldest begins first, with one exception, so
// that runs that take long or hang, however many, do not keep the others waiting: at most half of the workers have slow ones, and
// three quarters such or those of which nothing is known yet, rounded down, but one of them at least.
type queue struct {
	waiting [len(paces)][]ticket
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
	pace := waits.request.Pace
	e.queue.waiting[pace] = append(e.queue.waiting[pace], waits)
	e.wake.Signal()
}

// take removes what may begin next. One worker that looks for each that was woken is enough: the end of a run makes room for
// one, and it is its worker that looks.
func (e *Executor[R]) take() (Request, bool) {
	running := e.running()
	var next *ticket
	var from Pace
	busy := 0 // with this pace, and those before it
	for i, pace := range paces {
		busy += running[pace]
		share := max(1, e.workers*(i+2)/4) // 2, 3 and 4 quarters
		first := e.first(&e.queue.waiting[pace])
		if first != nil && busy < share && (next == nil || first.number < next.number) {
			next, from = first, pace
		}
	}
	if next == nil {
		return Request{}, false
	}
	request := e.dirty[next.request.Name].request // it may have been replaced since
	e.queue.waiting[from] = e.queue.waiting[from][1:]
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

// running is how many runs of each pace are in progress. One that is going on for long is slow.
func (e *Executor[R]) running() (n [len(paces)]int) {
	for _, p := range e.inProgress {
		if p.paused {
			continue
		}
		pace := p.request.Pace
		if e.clock.Since(p.started) >= Slow {
			pace = PaceSlow
		}
		n[pace]++
	}
	return n
}
