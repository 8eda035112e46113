// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// choose runs the script and takes the answers, twice if there are objects that it may not choose.
func (a *Aggregate) choose(ctx context.Context, w *worker) ([]Selected, error) {
	if len(a.Unchosen) == 0 {
		return a.chooseOf(ctx, w, &choice{of: a})
	}
	with := &choice{of: a, placesOnly: true}
	if _, err := a.chooseOf(ctx, w, with); err != nil || !slices.Contains(with.seen, true) {
		return nil, err
	}
	return a.chooseOf(ctx, w, &choice{of: a, without: a.Unchosen, among: with.seen})
}

// chooseOf runs the script once. The bytes of an object that comes back must be those that were sent.
func (a *Aggregate) chooseOf(ctx context.Context, w *worker, chosen *choice) ([]Selected, error) {
	chosen.seen = make([]bool, a.members.count)
	for _, place := range chosen.without {
		chosen.seen[place] = true // what comes back is refused
	}
	err := a.attempt(ctx, w, chosen)
	var died *death
	switch {
	case errors.As(err, &died) && died.kind == BudgetMemory && !a.session.outgrown(died):
		return nil, &BudgetError{
			BudgetMemory,
			fmt.Sprintf("used more than %s of memory for %d objects: select fewer, or look at less of each",
				inMiB(a.session.options.Memory), a.members.count),
		}
	case died != nil:
		return nil, a.session.fault(died, a.session.options.AggregateTimeout)
	case err != nil:
		return nil, err
	case chosen.last.kind == answerBeyond:
		a.session.pool.compiled.put(dataOf(a.source), finding{})
		return nil, &OutgrownError{a.session.options.Memory, true}
	}
	return slices.Concat(chosen.blocks...), chosen.last.fault()
}

// attempt runs the script once.
func (a *Aggregate) attempt(ctx context.Context, w *worker, chosen *choice) error {
	if err := a.settle(ctx, w, a.sent); err != nil {
		return err
	}
	program, err := w.program(ctx, a.source)
	if err != nil {
		return err
	}
	request := []byte{askAggregate}
	for _, n := range []uint32{program.number, a.number, uint32(a.members.count)} {
		request = binary.LittleEndian.AppendUint32(request, n)
	}
	request = append(request, flag(a.withoutData)*aggregateWithoutData)
	request = binary.LittleEndian.AppendUint32(request, uint32(len(chosen.without)))
	for _, place := range chosen.without {
		request = binary.LittleEndian.AppendUint32(request, uint32(place))
	}
	return w.ask(ctx, a.session.options.AggregateTimeout+grace+silence, [][]byte{request}, chosen.take)
}

// choice is what a script has chosen so far.
type choice struct {
	of *Aggregate
	// without are the places of the objects that are kept from the script. Among, if not nil, says which others count.
	without []int
	among   []bool
	// placesOnly says that nothing is kept of what is chosen but seen.
	placesOnly bool
	seen       []bool
	// blocks are what it is in, like members.
	blocks [][]Selected
	last   answer
}

func (c *choice) take(answer answer) (last bool, err error) {
	if answer.kind != answerSelected {
		c.last = answer
		if answer.kind == answerBeyond && c.of.withoutData {
			return true, nil
		}
		return true, answer.mustBe(answerReady)
	}
	if int64(answer.index) >= int64(len(c.seen)) || c.seen[answer.index] {
		return false, &protocolError{"an object that it was not given"}
	}
	c.seen[answer.index] = true
	member := c.of.members.at(int(answer.index))
	if sha256.Sum256(answer.raw) != member.sum {
		return false, &protocolError{"other bytes of an object than it was given"}
	}
	if c.placesOnly || c.among != nil && !c.among[answer.index] {
		return false, nil
	}
	raw, err := c.kept(answer)
	c.add(Selected{int(answer.index), member.object(raw), answer.text})
	return false, err
}

// add appends to the last block, or to a new one: blocks are never copied.
func (c *choice) add(one Selected) {
	if n := len(c.blocks); n == 0 || len(c.blocks[n-1]) == membersPerBlock {
		c.blocks = append(c.blocks, make([]Selected, 0, membersPerBlock))
	}
	block := &c.blocks[len(c.blocks)-1]
	*block = append(*block, one)
}

// kept is what stays of the bytes of an object that was chosen.
func (c *choice) kept(one answer) ([]byte, error) {
	raw, a := one.raw, c.of
	if a.NamesOnly {
		raw = nil
	}
	if a.Keep != nil {
		if err := a.Keep(len(raw)); err != nil {
			return nil, err
		}
	}
	return bytes.Clone(raw), nil
}
