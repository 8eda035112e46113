// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// judge lets a script judge the objects of a batch. What an object does wrong is its verdict, and the rest goes on, in
// a fresh child if need be. After an error the rest of the batch has no verdicts.
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
		case s.outgrown(died):
			return s.fault(died, s.options.ObjectTimeout)
		case died.kind == BudgetKilled && !killed:
			killed = true // by somebody else: once more
		case !died.named && to-b.judged() > 1:
			alone = to - b.judged()
		default:
			s.blame(b, s.fault(died, s.options.ObjectTimeout))
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
	b.settle(verdict{err: err})
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
	a := &asking{session: s, worker: w, source: source, part: program.reads, batch: b, to: to, answered: b.judged()}
	return w.ask(ctx, s.options.ObjectTimeout+grace+silence, a.request(program.number), a.take)
}

// asking is a question about the objects of a batch that have no verdicts yet, those before to.
type asking struct {
	session  *Session
	worker   *worker
	source   string
	part     object.Part // what the child gets of each object
	batch    *batch
	to       int
	answered int
	// beyond is true when the script looked further than the part: the objects from there on are to be asked about again.
	beyond bool
}

func (a *asking) request(program uint32) [][]byte {
	b, w := a.batch, a.worker
	var flags byte
	if b.withData {
		flags |= judgeData
	}
	request := b.request(askJudge, program, b.judged(), a.to)
	if a.part.Narrow {
		flags |= judgePart
		w.parts = b.appendParts(w.parts[:0], a.part, b.judged(), a.to)
		request[1] = w.parts
		if cap(w.parts) > 2*batchSize {
			w.parts = nil // of a very large object
		}
	}
	request[0] = append(request[0], flags)
	return request
}

// take takes an answer, and says whether it was the last one.
func (a *asking) take(one answer) (last bool, err error) {
	b, isBeyond := a.batch, one.kind == answerBeyond && a.part.Narrow
	switch fault := one.fault(); {
	case a.beyond:
	case isBeyond && b.metadataOnly:
		b.settle(verdict{err: errBeyondMetadata})
	case isBeyond:
		a.beyond = true
		a.worker.giveWhole(a.source)
	case fault != nil:
		a.session.blame(b, fault)
	case one.kind == answerYes, one.kind == answerNo, one.kind == answerNoBecause:
		b.settle(verdict{one.kind == answerYes, one.text, nil})
	default:
		return false, &protocolError{"a wrong answer"}
	}
	if a.answered++; a.answered == a.to {
		return true, nil
	}
	return false, a.session.impatient()
}

// errBeyondMetadata is for objects of which there is no more than the metadata.
var errBeyondMetadata = &lua.ScriptError{
	Msg: "the script read a field that KubeCleaner did not find in its source, and only the metadata of the objects was read. Write function evaluate(obj) instead of function evaluate(): then the whole object is read",
}
