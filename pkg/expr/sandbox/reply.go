// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/binary"
	"os"
	"runtime/metrics"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
)

const (
	// beat is how often the watch looks.
	beat = 10 * time.Millisecond
	// heartbeat is how long the answers to a batch are held back at most.
	heartbeat = 100 * time.Millisecond
	// giveWayAfter is for how long a step may have a processor before the child lets other processes go first.
	giveWayAfter = time.Second
	// exitWatched is the exit status of a child that its watch ended.
	exitWatched = 3
)

// reply gathers a child's answers in frames. Its watch ends the child when a step takes too long or too much memory,
// with all answers so far and the reason: so it is known which object is to blame, and nothing has to be judged twice.
type reply struct {
	clock clock.PassiveClock
	out   *os.File
	wake  chan struct{}

	mu        sync.Mutex
	frame     []byte
	flushed   time.Time
	memory    uint64 // bytes
	stopwatch lua.Stopwatch
	began     time.Time     // the current step
	limit     time.Duration // of the current step
	due       time.Time     // when the current step must have ended; zero when there is none
	gaveWay   bool
}

func newReply(out *os.File, clk clock.PassiveClock) *reply {
	return &reply{clock: clk, out: out, wake: make(chan struct{}, 1), frame: make([]byte, headerSize, 2*flushSize)}
}

// begin begins a step that may take so long.
func (r *reply) begin(limit time.Duration) {
	now := r.clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopwatch.Begin(now)
	r.began, r.limit, r.due = now, limit+grace, now.Add(limit+grace)
}

// end ends the step with its answer.
func (r *reply) end(a answer) {
	now := r.clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.due = time.Time{}
	r.append(a)
	if now.Sub(r.flushed) > heartbeat {
		r.send()
		r.flushed = now
	}
}

// add adds an answer in the middle of a step.
func (r *reply) add(a answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.append(a)
}

// flush sends what there is. A request is done.
func (r *reply) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.send()
	r.flushed = r.clock.Now()
}

func (r *reply) append(a answer) {
	r.frame = a.append(r.frame)
	if len(r.frame) > flushSize {
		r.send()
	}
}

func (r *reply) send() {
	if len(r.frame) == headerSize {
		return
	}
	binary.LittleEndian.PutUint32(r.frame, uint32(len(r.frame)-headerSize))
	if _, err := r.out.Write(r.frame); err != nil {
		os.Exit(1) // the parent is gone
	}
	r.frame = r.frame[:headerSize]
}

// wakeWatch lets the watch look while a request is answered. A child that waits for its parent does not wake up at all.
func (r *reply) wakeWatch() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *reply) watch() {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for range r.wake {
		ticker.Reset(beat)
		for idle := 0; idle < 2; {
			<-ticker.C
			metrics.Read(samples)
			if r.look(r.clock.Now(), samples[0].Value.Uint64()-samples[1].Value.Uint64()) {
				idle = 0
			} else {
				idle++
			}
		}
		ticker.Stop()
	}
}

// look ends the child if it must, and says whether a step is going on.
func (r *reply) look(now time.Time, used uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.due.IsZero():
		return false
	case used > r.memory/8*7:
		r.die(answerOutOfMemory)
	case now.After(r.due):
		r.overdue(now)
	case !r.gaveWay && now.Sub(r.began) > giveWayAfter && r.limit-r.stopwatch.Left(now, r.limit) > giveWayAfter:
		r.gaveWay = true
		giveWay()
	}
	return true
}

// overdue ends the child, unless it had no processor for a part of the time: then the parent must wait as well.
func (r *reply) overdue(now time.Time) {
	left := r.stopwatch.Left(now, r.limit)
	if left == 0 {
		r.die(answerOutOfTime)
	}
	r.due = now.Add(left)
	r.append(answer{kind: answerAlive})
	r.send()
}

func (r *reply) die(reason answerKind) {
	r.append(answer{kind: reason})
	r.send()
	os.Exit(exitWatched)
}
