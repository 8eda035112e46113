// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

// listsAhead is how many lists are asked for while one is read. Most have few objects: to wait for their first byte
// takes longer than to read them, at least from where people sit. The operator asks for none: what an answer holds
// that waits for its turn is charged to nobody, and other runs that hear the same list would wait with it.
const listsAhead = 3

// longestAhead is how long an answer waits for its turn. After this time it is given up, before the API server does so
// after a minute, and the list is asked for again when it is its turn. A test has no time.
var longestAhead = 20 * time.Second

// errTooEarly ends the reading of a list that waited for its turn for too long.
var errTooEarly = errors.New("the list was asked for too early")

// pending is a list that was asked for. The finder sees none of its objects before its turn.
type pending struct {
	list  finding.List
	turn  chan struct{} // closed when it is its turn
	ended chan struct{} // closed when it was read, or could not be
	// elsewhere and err are what readAllowed returned.
	elsewhere bool
	err       error
}

// inOrder asks for all lists, each a few lists before its turn where memory is not charged, and yields them in order.
func (r *reading) inOrder(ctx context.Context, lists []finding.List) iter.Seq2[int, *pending] {
	return func(yield func(int, *pending) bool) {
		ctx, stop := context.WithCancel(ctx)
		asked := make([]*pending, 0, len(lists))
		defer func() {
			stop()
			for _, p := range asked {
				<-p.ended
			}
		}()
		ahead := listsAhead
		if r.memory != nil {
			ahead = 0
		}
		for i := range lists {
			for len(asked) < min(i+1+ahead, len(lists)) {
				asked = append(asked, r.ask(ctx, lists[len(asked)]))
			}
			if !yield(i, asked[i]) {
				return
			}
		}
	}
}

// ask begins to read a list.
func (r *reading) ask(ctx context.Context, list finding.List) *pending {
	p := &pending{list: list, turn: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		p.err = fault.Logged(ctx, func() (err error) {
			if p.elsewhere, err = r.readAllowed(ctx, p); !errors.Is(err, errTooEarly) {
				return err
			}
			if err = p.awaitTurn(ctx); err == nil {
				p.elsewhere, err = r.readAllowed(ctx, p)
			}
			return err
		})
	}()
	return p
}

// read lets the finder see the list, and returns when it was read.
func (p *pending) read() (elsewhere bool, err error) {
	close(p.turn)
	<-p.ended
	return p.elsewhere, p.err
}

// awaitTurn waits until it is the list's turn.
func (p *pending) awaitTurn(ctx context.Context) error {
	select {
	case <-p.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// holdUntilTurn is awaitTurn for an answer, which cannot wait for long.
func (p *pending) holdUntilTurn(ctx context.Context) error {
	select {
	case <-p.turn: // as a rule
		return nil
	default:
	}
	ctx, stop := context.WithTimeoutCause(ctx, longestAhead, errTooEarly)
	defer stop()
	return p.awaitTurn(ctx)
}
