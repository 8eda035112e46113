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
)

// need is how much memory the child needs for all objects, in bytes.
func (a *Aggregate) need() int64 {
	need := (a.members.size + int64(a.members.count)*tableSize + ownSize) / 7 * 8 // an eighth stays free, or the collector does not come to rest
	return (need + memoryStep - 1) / memoryStep * memoryStep
}

// deliver gives objects to the child, which has all those before the first of them. At first it is a small one, so that few objects
// wait for no large one, and a script that hangs over them keeps nobody else waiting for it.
func (a *Aggregate) deliver(ctx context.Context, w *worker, b *batch, first int, need int64, count int) error {
	if err := a.settle(ctx, w, first); err != nil || a.lost != nil {
		return err
	}
	err := a.makeRoom(ctx, w, need, count)
	if err == nil {
		err = a.collect(ctx, w, b, first)
	}
	if err != nil {
		return a.lose(err, w, count, need)
	}
	return nil
}

// makeRoom lets the child grow, if it has to, and if that needs no waiting.
func (a *Aggregate) makeRoom(ctx context.Context, w *worker, need int64, count int) error {
	if need <= w.reserved {
		return nil
	}
	most := a.session.options.Memory
	double := max(need, min(2*w.reserved, most)) // or it would have to grow with every batch
	for _, to := range []int64{double, need} {
		if grown, err := w.grow(ctx, to); grown || err != nil {
			return err
		}
	}
	general := a.session.pool.room.general.size
	switch {
	case w.reserved < most:
		return a.outgrow(min(double, most))
	case need <= general:
		return a.outgrow(min(max(need, 2*w.reserved), general))
	}
	return a.tooMany(count, need)
}

// collect lets the child keep objects.
func (a *Aggregate) collect(ctx context.Context, w *worker, b *batch, first int) error {
	request := b.request(askCollect, uint32(first), 0, b.len())
	request[0] = binary.LittleEndian.AppendUint32(request[0], a.number)
	_, err := w.one(ctx, a.session.options.ObjectTimeout+grace+silence, request, answerReady)
	return err
}

// settle makes sure that there is one child, and takes note when it is not the one that has the objects before the first of those that
// come next.
func (a *Aggregate) settle(ctx context.Context, w *worker, first int) error {
	defer a.session.keepOthersAway()()
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
		a.lost = &LostError{"the process that had the objects ended, because of another script of the same run or for want of memory on the node"}
	}
	return nil
}

// lose makes the error for objects that did not get into the child, and keeps it.
func (a *Aggregate) lose(err error, w *worker, count int, need int64) error {
	var died *death
	switch {
	case w.outgrown(err):
		err = a.outgrow(a.session.options.Memory)
	case errors.As(err, &died) && died.kind != BudgetMemory:
		err = died.budget(w.reserved, a.session.options.ObjectTimeout)
	case died != nil:
		err = a.tooMany(count, max(need, w.reserved+memoryStep))
	}
	a.lost = err
	return err
}

// outgrow makes the error for objects that need a child of so many bytes.
func (a *Aggregate) outgrow(to int64) error {
	a.session.enlarge(to)
	return &LostError{"the objects need a process of " + inMiB(to) + ": select fewer, or raise --max-script-memory"}
}

func (a *Aggregate) tooMany(count int, need int64) *BudgetError {
	return &BudgetError{BudgetObjects, fmt.Sprintf(
		"the %d objects selected so far need about %s of memory at once, which is more than a script can have: select fewer, or raise --max-script-memory",
		count, inMiB(need))}
}
