// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
)

// judge lets a script judge the objects of a batch. What an object does wrong is its verdict, and the rest goes on, in a fresh
// child if need be. After an error the rest of the batch has no verdicts.
func (s *Session) judge(ctx context.Context, w *worker, source string, b *batch) error {
	killed := false // once already
	alone := 0      // how many objects are judged one by one, because one of them ended a child without being named
	for b.judged() < b.len() {
		to := b.len()
		if alone > 0 {
			to = b.judged() + 1
		}
		err := s.attempt(ctx, w, source, b, to)
		var died *death
		switch {
		case err == nil:
			alone = max(0, alone-1)
		case !errors.As(err, &died):
			return err
		case died.kind == BudgetKilled && !killed:
			killed = true // by somebody else: once more
		case !died.named && to-b.judged() > 1:
			alone = to - b.judged()
		case died.kind == BudgetMemory && w.reserved < s.options.Memory:
			w.full = true // once more, with all that a child may have
		default:
			s.blame(b, died.budget(w.reserved, s.options.ObjectTimeout))
			alone = 0
		}
	}
	return nil
}

// blame gives an error to the first object that has no verdict.
func (s *Session) blame(b *batch, err error) {
	if exhausted(err) {
		s.exhaust(b.objects[b.judged()], err)
	}
	b.verdicts = append(b.verdicts, verdict{err: err})
}

// attempt asks for the verdicts that are missing, of the objects before to.
func (s *Session) attempt(ctx context.Context, w *worker, source string, b *batch, to int) error {
	if err := s.impatient(); err != nil {
		return err
	}
	if err := w.ready(ctx); err != nil {
		return err
	}
	program, err := w.program(ctx, source)
	if err != nil {
		return err
	}
	limit := s.options.ObjectTimeout + grace + silence
	ask := byte(askJudge)
	if b.withData {
		ask = askJudgeWithData
	}
	request := b.request(ask, program.number, b.judged(), to)
	if !program.reads.Whole {
		w.parts = b.appendParts(w.parts[:0], program.reads, b.judged(), to)
		request[1] = w.parts
		if cap(w.parts) > 2*batchSize {
			w.parts = nil // of a very large object
		}
	}
	return w.ask(ctx, limit, request, func(a answer) (bool, error) {
		switch fault := a.fault(); {
		case fault != nil:
			s.blame(b, fault)
		case a.kind == answerYes, a.kind == answerNo, a.kind == answerNoBecause:
			b.verdicts = append(b.verdicts, verdict{a.kind == answerYes, a.text, nil})
		default:
			return false, &protocolError{"a wrong answer"}
		}
		if b.judged() == to {
			return true, nil
		}
		return false, s.impatient()
	})
}
