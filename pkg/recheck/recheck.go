// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package recheck keeps the second decision on what a run touches, and has it made again while the run acts for long.
package recheck

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// maxAge is how old what was read for a decision may be when an object is touched because of it. Then a new decision is
// made. It may be used for leastUse, however long a script took to make it: otherwise there would be none that is young
// enough.
const (
	maxAge   = time.Minute
	leastUse = 5 * time.Second
)

// Left says why a candidate is left alone. Empty if it is not.
type Left func(stage.Candidate) (why string)

// Decided is a decision. Read is when the reading ended that it was made from.
type Decided struct {
	Left Left
	Read time.Time
}

// Decide makes a decision.
type Decide func(context.Context) (Decided, error)

// Join makes one decision of several. It leaves alone what one of them does, and is as old as the last: what must be
// young comes last. What comes before is older by what the others take to decide.
func Join(decides ...Decide) Decide {
	return func(ctx context.Context) (joined Decided, err error) {
		var all []Left
		for _, decide := range decides {
			decided, err := decide(ctx)
			if err != nil {
				return Decided{}, err
			}
			all, joined.Read = append(all, decided.Left), decided.Read
		}
		joined.Left = func(c stage.Candidate) (why string) {
			for _, left := range all {
				if why = left(c); why != "" {
					break
				}
			}
			return why
		}
		return joined, nil
	}
}

// After makes the first decision the one that was made already, if what was read for it is young enough, and each later
// one anew.
func After(clk clock.PassiveClock, decided Decided, decide Decide) Decide {
	return func(ctx context.Context) (Decided, error) {
		first := decided
		decided = Decided{}
		if first.Left != nil && clk.Since(first.Read) <= maxAge {
			return first, nil
		}
		return decide(ctx)
	}
}

// Decision is the latest decision, which is made anew when it is too old. It is safe for concurrent use.
type Decision struct {
	decide Decide
	clock  clock.PassiveClock

	mu sync.RWMutex
	// latest is the latest decision, which was made at the time; fault is why there is none.
	latest Decided
	made   time.Time
	fault  *Error
}

// New returns a Decision. latest is the one that was made just now: the zero value if none was.
func New(clk clock.PassiveClock, decide Decide, latest Decided) *Decision {
	return &Decision{decide: decide, clock: clk, latest: latest, made: clk.Now()}
}

// Error says that nothing could be decided again: nothing more is touched.
type Error struct{ error }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.error }

// Is reports whether an error is an Error.
func Is(err error) bool {
	var e *Error
	return errors.As(err, &e)
}

// Enter begins to touch an object, unless a decision that is young enough leaves it alone, and says why. While a new
// decision is made, nothing is touched. The caller calls leave when there is neither a reason nor an error.
func (d *Decision) Enter(ctx context.Context, c stage.Candidate) (leave func(), why string, err error) {
	for {
		d.mu.RLock()
		switch {
		case d.fault != nil:
			err = d.fault
		case !d.isFresh():
			d.mu.RUnlock()
			d.again(ctx)
			continue
		default:
			why = d.latest.Left(c)
		}
		if err != nil || why != "" {
			d.mu.RUnlock()
			return nil, why, err
		}
		return d.mu.RUnlock, "", nil
	}
}

// Hold is what a candidate has on a decision while it is touched. No new decision is made until it leaves.
type Hold struct {
	decision *Decision
	of       stage.Candidate
	leave    func()
}

// Hold returns the Hold of a candidate. It holds nothing until it is renewed.
func (d *Decision) Hold(c stage.Candidate) *Hold { return &Hold{decision: d, of: c} }

// IsValid reports whether the decision is young enough still to touch the candidate because of it.
func (h *Hold) IsValid() bool { return h.leave != nil && h.decision.isFresh() }

// Renew asks the latest decision, which is made anew if it is too old. why says why the candidate is left alone. Then,
// and after an error, nothing is held.
func (h *Hold) Renew(ctx context.Context) (why string, err error) {
	h.Leave()
	h.leave, why, err = h.decision.Enter(ctx, h.of)
	return why, err
}

// Leave lets go of the decision.
func (h *Hold) Leave() {
	if h.leave != nil {
		h.leave()
		h.leave = nil
	}
}

func (d *Decision) isFresh() bool {
	return d.latest.Left != nil && (d.clock.Since(d.latest.Read) <= maxAge || d.clock.Since(d.made) <= leastUse)
}

// again decides once more, unless somebody else just did.
func (d *Decision) again(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fault != nil || d.isFresh() {
		return
	}
	d.latest = Decided{} // its memory is free for the next one
	latest, err := d.decide(ctx)
	if err != nil {
		d.fault = &Error{err}
		return
	}
	d.latest, d.made = latest, d.clock.Now()
}
