// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	// tableSize is what an object costs in a child beside its own bytes: the tables that a usual script makes of it.
	tableSize = 4 << 10
	// ownSize is what a child has of its own, the batch that it reads and what its collector has not collected yet among it.
	ownSize = 6 << 20
	// heldSize is how many bytes of objects a small child gets, because its parent holds them, too, and allHeld how many all get together.
	heldSize, allHeld = 8 << 20, 24 << 20
)

// need is how much memory the child needs for all objects, in bytes.
func (a *Aggregate) need() int64 {
	need := (a.members.size + int64(a.members.count)*tableSize + ownSize) / 7 * 8 // an eighth stays free, or the collector does not come to rest
	return (need + memoryStep - 1) / memoryStep * memoryStep
}

// deliver gives objects to the child: at first to a small one, so that few objects wait for no large one, and a script that hangs
// over them keeps nobody else waiting for it.
func (a *Aggregate) deliver(ctx context.Context, w *worker, b *batch, first int, need int64, count int) error {
	a.held.truncate(a.session, first)
	if need > smallMemory || a.held.size+len(b.items) > heldSize || !a.session.hold(len(b.items)) {
		a.enlarge()
	} else {
		defer func() {
			if !a.held.has(b) {
				a.session.release(len(b.items))
			}
		}()
	}
	err := a.hand(ctx, w, b, first, need, count)
	if w.outgrown(err) {
		a.enlarge()
		err = a.hand(ctx, w, b, first, need, count)
	}
	switch {
	case err != nil:
		return a.lose(err, w, count, need)
	case a.lost == nil && w.reserved < a.session.options.Memory:
		a.held.add(b)
	default:
		a.held.drop(a.session)
	}
	return nil
}

// hand gives objects to the child, which has all those before the first of them.
func (a *Aggregate) hand(ctx context.Context, w *worker, b *batch, first int, need int64, count int) error {
	if err := a.settle(ctx, w, first); err != nil || a.lost != nil {
		return err
	}
	if need > w.reserved {
		grown, err := w.grow(ctx, need)
		if err == nil && !grown {
			err = a.tooMany(count, need)
		}
		if err != nil {
			return err
		}
	}
	return a.collect(ctx, w, b, first)
}

// collect lets the child keep objects.
func (a *Aggregate) collect(ctx context.Context, w *worker, b *batch, first int) error {
	request := b.request(askCollect, uint32(first), 0, b.len())
	request[0] = binary.LittleEndian.AppendUint32(request[0], a.number)
	_, err := w.one(ctx, a.session.options.ObjectTimeout+grace+silence, request, answerReady)
	return err
}

// settle makes sure that there is one child, and that it has all the objects before the first of those that come next.
func (a *Aggregate) settle(ctx context.Context, w *worker, first int) error {
	if err := a.session.shrink(ctx); err != nil {
		return err
	}
	if err := w.ready(ctx); err != nil {
		return err
	}
	if first == 0 {
		a.home, a.lost = w.process, nil
	}
	if a.home != w.process && a.lost == nil {
		return a.move(ctx, w, first)
	}
	return nil
}

// move gives the objects to a child that took the place of the one that had them.
func (a *Aggregate) move(ctx context.Context, w *worker, count int) error {
	if a.held.count != count {
		a.lost = errors.New("the objects were lost when another script of the same run ended the process that had them")
		return nil
	}
	sent := 0
	for _, b := range a.held.batches {
		if err := a.collect(ctx, w, b, sent); err != nil {
			return err
		}
		sent += b.len()
	}
	a.home = w.process
	return nil
}

// lose makes the error for objects that did not get into the child, and keeps it.
func (a *Aggregate) lose(err error, w *worker, count int, need int64) error {
	var died *death
	switch {
	case errors.As(err, &died) && died.kind != BudgetMemory:
		err = died.budget(w.reserved, a.session.options.ObjectTimeout)
	case died != nil:
		err = a.tooMany(count, max(need, w.reserved+memoryStep))
	}
	a.lost = err
	return err
}

func (a *Aggregate) tooMany(count int, need int64) *BudgetError {
	return &BudgetError{BudgetObjects, fmt.Sprintf(
		"the %d objects selected so far need about %s of memory at once, and that cannot be had now: select fewer, or raise --max-script-memory",
		count, inMiB(need))}
}

// held are batches that a small child has, in their order.
type held struct {
	batches []*batch
	// count is of their objects, and size of these objects' bytes.
	count, size int
}

func (h *held) add(b *batch) {
	h.batches = append(h.batches, b)
	h.count, h.size = h.count+b.len(), h.size+len(b.items)
}

func (h *held) has(b *batch) bool { return len(h.batches) > 0 && h.batches[len(h.batches)-1] == b }

// truncate forgets all objects but the first n.
func (h *held) truncate(s *Session, n int) {
	for h.count > n {
		last := h.batches[len(h.batches)-1]
		h.batches = h.batches[:len(h.batches)-1]
		h.count, h.size = h.count-last.len(), h.size-len(last.items)
		before := len(last.items)
		if h.count >= n {
			s.release(before)
			s.recycle(last)
			continue
		}
		last.truncate(n - h.count)
		s.release(before - len(last.items))
		h.add(last)
	}
}

func (h *held) drop(s *Session) { h.truncate(s, 0) }
