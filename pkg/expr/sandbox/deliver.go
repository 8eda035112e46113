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
	// ownSize is what a child has of its own, the batch that it reads and what its collector has not collected yet among
	// it.
	ownSize = 6 << 20
)

// need is how much memory the child needs for all objects, in bytes.
func (a *Aggregate) need() int64 {
	// an eighth stays free, or the collector does not come to rest
	return (a.members.size + int64(a.members.count)*tableSize + ownSize) / 7 * 8
}

// deliver gives objects to the child, which has all those before the first of them.
func (a *Aggregate) deliver(ctx context.Context, w *worker, b *batch, first int, need int64, count int) error {
	if err := a.settle(ctx, w, first); err != nil {
		return err
	}
	a.fault = a.collect(ctx, w, b, first, need, count)
	return a.fault
}

func (a *Aggregate) collect(ctx context.Context, w *worker, b *batch, first int, need int64, count int) error {
	s := a.session
	switch {
	case need <= s.options.Memory:
	case need <= s.pool.most:
		return &OutgrownError{s.options.Memory, false}
	default:
		return tooMany(count, need)
	}
	request := b.request(askCollect, uint32(first), 0, b.len())
	request[0] = binary.LittleEndian.AppendUint32(request[0], a.number)
	_, err := w.one(ctx, s.options.ObjectTimeout+grace+silence, request, answerReady)
	var died *death
	switch {
	case !errors.As(err, &died):
		return err
	case died.kind == BudgetMemory && !s.outgrown(died):
		return tooMany(count, max(need, s.options.Memory+memoryStep))
	}
	return s.fault(died, s.options.ObjectTimeout)
}

// settle makes sure that the child is the one that has the objects before the first of those that come next.
func (a *Aggregate) settle(ctx context.Context, w *worker, first int) error {
	if err := w.ready(ctx); err != nil {
		return err
	}
	if first == 0 {
		a.home, a.fault = w.process, nil
	}
	if a.fault == nil && a.home != w.process {
		return &BudgetError{
			BudgetKilled,
			"the process that had the objects ended, because of another script of the same run or for want of memory on the node",
		}
	}
	return a.fault
}

func tooMany(count int, need int64) *BudgetError {
	return &BudgetError{
		BudgetObjects,
		fmt.Sprintf(
			"the %d objects selected so far need about %s of memory at once, which is more than a script can have: select fewer, or raise --max-script-memory",
			count,
			inMiB(need),
		),
	}
}
