// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// worker is the place for a session's child, which can be replaced by a fresh one. One goroutine at a time has it.
type worker struct {
	session *Session
	process *process // nil before the first use and after a death
	// programs are the scripts that the child has compiled, by source.
	programs map[string]knownProgram
	// parts is where the parts of a batch's objects that a script reads are put together.
	parts []byte
}

// knownProgram is a script that a child has compiled.
type knownProgram struct {
	number uint32
	// reads is what evaluate may look at of an object, and so all that the child needs of it, until it looks further.
	reads object.Part
}

// ready starts a child where there is none.
func (w *worker) ready(ctx context.Context) error {
	s := w.session
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if w.process != nil && w.process.gone() {
		w.bury() // it died idle, which is no fault of what comes next
	}
	if w.process != nil {
		return nil
	}
	process, err := s.pool.startProcess()
	if err != nil {
		return err
	}
	w.process, w.programs = process, map[string]knownProgram{}
	request := settings{
		memory: s.options.Memory, now: s.options.Now, seed: s.options.Seed,
		objectTimeout: s.options.ObjectTimeout, aggregateTimeout: s.options.AggregateTimeout, print: s.options.Print != nil,
	}.append([]byte{askReady})
	_, err = w.one(ctx, startLimit, [][]byte{request}, answerReady)
	var died *death
	if errors.As(err, &died) {
		return fmt.Errorf("the process that runs scripts did not start: %s", died.detail)
	}
	return err
}

// bury ends the child.
func (w *worker) bury() {
	if w.process != nil {
		w.process.bury()
	}
	w.process, w.programs = nil, nil
}

// ask is process.ask. After an error there is no child.
func (w *worker) ask(
	ctx context.Context,
	limit time.Duration,
	request [][]byte,
	each func(answer) (bool, error),
) error {
	err := w.process.ask(ctx, limit, request, w.session.print, each)
	if err != nil {
		w.process, w.programs = nil, nil // it is gone already
	}
	return err
}

// one asks for a single answer, of the wanted kind or a fault.
func (w *worker) one(
	ctx context.Context,
	limit time.Duration,
	request [][]byte,
	wanted answerKind,
) (one answer, err error) {
	err = w.ask(ctx, limit, request, func(a answer) (bool, error) {
		one = a
		return true, a.mustBe(wanted)
	})
	return one, err
}

// program makes the child know a script. A script that does not compile, or that ends the child, is an
// error for good.
func (w *worker) program(ctx context.Context, source string) (knownProgram, error) {
	if known, ok := w.programs[source]; ok {
		return known, nil
	}
	number := uint32(len(w.programs))
	request := binary.LittleEndian.AppendUint32([]byte{askProgram}, number)
	request = appendBytes(request, []byte(source))
	one, err := w.one(ctx, compileTimeout+grace+silence, [][]byte{request}, answerProgram)
	var died *death
	switch {
	case errors.As(err, &died) && died.kind != BudgetKilled:
		return knownProgram{}, w.session.fault(died, compileTimeout)
	case err != nil:
		return knownProgram{}, err
	}
	if fault := one.fault(); fault != nil {
		return knownProgram{}, fault
	}
	w.programs[source] = knownProgram{number, one.reads}
	return w.programs[source], nil
}

// giveWhole makes the script get objects whole from now on.
func (w *worker) giveWhole(source string) {
	w.programs[source] = knownProgram{number: w.programs[source].number}
}

// exhausted reports whether an error is that of an object that used up its time or memory.
func exhausted(err error) bool {
	var budget *BudgetError
	var timeout *lua.TimeoutError
	return errors.As(err, &budget) || errors.As(err, &timeout)
}
