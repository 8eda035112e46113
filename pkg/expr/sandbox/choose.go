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
)

// choose runs the script and takes the answers. The bytes of an object that comes back must be those that were sent.
func (a *Aggregate) choose(ctx context.Context, w *worker) ([]Selected, error) {
	if err := a.settle(ctx, w, a.sent); err != nil {
		return nil, err
	}
	if a.lost != nil {
		return nil, a.lost
	}
	program, err := w.program(ctx, a.source)
	if err != nil {
		return nil, err
	}
	request := []byte{askAggregate}
	for _, n := range []uint32{program.number, a.number, uint32(a.members.count)} {
		request = binary.LittleEndian.AppendUint32(request, n)
	}
	var selected []Selected
	var last answer
	seen := map[uint32]bool{}
	limit := a.session.options.AggregateTimeout
	err = w.ask(ctx, limit+grace+silence, [][]byte{request}, func(answer answer) (bool, error) {
		if answer.kind != answerSelected {
			last = answer
			return true, answer.mustBe(answerReady)
		}
		if int64(answer.index) >= int64(a.members.count) || seen[answer.index] {
			return false, &protocolError{"an object that it was not given"}
		}
		seen[answer.index] = true
		member := a.members.at(int(answer.index))
		if sha256.Sum256(answer.raw) != member.sum {
			return false, &protocolError{"other bytes of an object than it was given"}
		}
		raw, err := a.kept(answer.raw)
		selected = append(selected, Selected{int(answer.index), member.object(raw), answer.text})
		return false, err
	})
	var died *death
	switch {
	case errors.As(err, &died) && died.kind == BudgetMemory:
		return nil, &BudgetError{BudgetMemory, fmt.Sprintf("used more than %s of memory for %d objects: select fewer, or look at less of each",
			inMiB(w.reserved), a.members.count)}
	case died != nil:
		return nil, died.budget(w.reserved, limit)
	case err != nil:
		return nil, err
	}
	return selected, last.fault()
}

// kept is what stays of the bytes of an object that was chosen.
func (a *Aggregate) kept(raw []byte) ([]byte, error) {
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
