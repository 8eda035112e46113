// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package executor

import (
	"cmp"
	"slices"
)

// Lane is what is known of a name's runs: how long they take.
type Lane int

// A lane's requests may also use what lanes above it have.
const (
	LaneSlow Lane = iota
	LaneUnknown
	LaneQuick
	lanes
)

// Room is workers, and how heavy the requests may be, all together, that they carry out at once.
type Room struct {
	Workers int
	Weight  int64
}

// Rooms are what each lane has of its own.
type Rooms [lanes]Room

// queue is what waits for room, each lane's requests in a list of their own.
//
//  1. A request takes a worker and its weight from one room, when both are free: from that of its own lane, or
//     else from that of a slower lane. So quick requests have all rooms, unknown ones two, and slow ones one.
//  2. The oldest goes first. While it waits for certain rooms, a younger one takes nothing from these.
//  3. A request that is heavier than its lane's own room counts as slow.
//
// So slower requests never use a lane's own room. A quick one waits at most for the end of other quick ones, and an
// unknown one for that of unknown and quick ones, however many slow, heavy or hostile ones there are. By 2, a request
// that needs all of a room has its turn when those end that use the room now.
type queue struct {
	waiting [lanes][]ticket
	// free is what is left of each room.
	free Rooms
	own  Rooms
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
	q, lane := &e.queue, waits.request.Lane
	if waits.request.Weight > q.own[lane].Weight {
		lane = LaneSlow
		waits.request.Weight = min(waits.request.Weight, q.own[lane].Weight) // or it would never begin
	}
	q.last++
	waits.number = q.last
	e.dirty[waits.request.Name] = waits
	q.waiting[lane] = append(q.waiting[lane], waits)
	e.wake.Signal()
}

// take removes what may begin next, and says in which room.
func (e *Executor[R]) take() (request Request, room Lane, ok bool) {
	var oldest []Lane // of each lane that has any
	for lane := range lanes {
		if e.first(lane) != nil {
			oldest = append(oldest, lane)
		}
	}
	slices.SortFunc(oldest, func(a, b Lane) int { return cmp.Compare(e.first(a).number, e.first(b).number) })
	awaited := Lane(-1) // this room, and all of slower lanes
	for _, lane := range oldest {
		request := e.dirty[e.first(lane).request.Name].request // it may have been replaced since
		for room := lane; room > awaited; room-- {
			if free := &e.queue.free[room]; free.Workers > 0 && free.Weight >= request.Weight {
				free.Workers--
				free.Weight -= request.Weight
				e.queue.waiting[lane] = e.queue.waiting[lane][1:]
				delete(e.dirty, request.Name)
				return request, room, true
			}
		}
		awaited = max(awaited, lane)
	}
	return Request{}, 0, false
}

// first drops what was cancelled from the front of a list.
func (e *Executor[R]) first(lane Lane) *ticket {
	for list := &e.queue.waiting[lane]; len(*list) > 0; *list = (*list)[1:] {
		if first := &(*list)[0]; e.dirty[first.request.Name].number == first.number {
			return first
		}
	}
	return nil
}
