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

// worker is a place for one child. Its child can be replaced by a fresh one. One goroutine at a time has it.
type worker struct {
	session *Session
	process *process // nil before the first use and after a death
	// reserved is the memory that the child may use, in bytes. It stays reserved from one child to the next.
	reserved    int64
	reservation reservation
	// waited is for how long it waited for memory while it was used.
	waited time.Duration
	// full asks for all that one child may use, after a smaller child was not enough.
	full bool
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

// wanted is how much memory the child is to have.
func (w *worker) wanted() int64 {
	s := w.session
	if w.full {
		return max(s.options.Memory, s.begins())
	}
	return s.begins()
}

// ready starts a child where there is none, or one that is too small. Memory is reserved by who holds none, so that those who
// wait never wait for each other.
func (w *worker) ready(ctx context.Context) error {
	s := w.session
	if err := context.Cause(ctx); err != nil {
		return err
	}
	wanted := w.wanted()
	if w.reserved < wanted {
		if err := w.reserve(ctx, wanted); err != nil {
			return err
		}
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
		memory: w.reserved, maxMemory: max(w.reserved, s.pool.room.total()), now: s.options.Now, seed: s.options.Seed,
		objectTimeout: s.options.ObjectTimeout, aggregateTimeout: s.options.AggregateTimeout, print: s.options.Print != nil,
	}.append([]byte{askReady})
	_, err = w.one(ctx, startLimit, [][]byte{request}, answerReady)
	var died *death
	if errors.As(err, &died) {
		return fmt.Errorf("the process that runs scripts did not start: %s", died.detail)
	}
	return err
}

// reserve ends the child and waits for memory for a larger one.
func (w *worker) reserve(ctx context.Context, size int64) (err error) {
	s := w.session
	w.retire()
	defer s.keepOthersAway()()
	if err := s.shrink(ctx); err != nil {
		return err
	}
	if !s.prepaid {
		if w.reservation, err = s.pool.room.reserve(ctx, wish{size, w.shares(size)}, w.waits); err != nil {
			return err
		}
	}
	w.reserved = size
	return nil
}

// shares are where the worker can have memory for a child of that size. Aggregated scripts may hang for a minute, even over few objects:
// unless they are known to be quick, they have no part in what is set aside for small children. One over so many objects that it
// needs more than a child has usually has no part in anything that is set aside.
func (w *worker) shares(size int64) []*share {
	s := w.session
	if size > s.options.Memory {
		return []*share{&s.pool.room.general}
	}
	small := size <= smallMemory && (s.options.Pace.Quick || !s.collecting())
	return s.pool.room.shares(small, s.options.Pace)
}

// longWait is after how long of waiting for memory Options.Waiting is told. Where many tiny runs are due together, most wait for less.
const longWait = time.Second

// waits takes note that the session waits for memory. What it returns ends that.
func (w *worker) waits() (end func(context.Context)) {
	s, begin := w.session, time.Now()
	resumes := make(chan func(context.Context), 1)
	timer := time.AfterFunc(longWait, func() {
		resume := func(context.Context) {}
		if s.options.Waiting != nil {
			resume = s.options.Waiting()
		}
		resumes <- resume
	})
	ended := s.waits()
	return func(ctx context.Context) {
		if !timer.Stop() {
			(<-resumes)(ctx)
		}
		ended()
		w.waited += time.Since(begin)
	}
}

// retire ends the child and gives its memory back.
func (w *worker) retire() {
	w.bury()
	w.reservation.release()
	w.reservation, w.reserved = reservation{}, 0
}

func (w *worker) bury() {
	if w.process != nil {
		w.process.bury()
	}
	w.process, w.programs = nil, nil
}

// ask is process.ask. After an error there is no child.
func (w *worker) ask(ctx context.Context, limit time.Duration, request [][]byte, each func(answer) (bool, error)) error {
	err := w.process.ask(ctx, limit, request, w.session.print, each)
	if err != nil {
		w.process, w.programs = nil, nil // it is gone already
	}
	return err
}

// one asks for a single answer, of the wanted kind or a fault.
func (w *worker) one(ctx context.Context, limit time.Duration, request [][]byte, wanted answerKind) (one answer, err error) {
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
		return knownProgram{}, died.budget(w.reserved, compileTimeout)
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

// grow makes the child's memory larger, if that can be had without waiting.
func (w *worker) grow(ctx context.Context, to int64) (bool, error) {
	var ok bool
	if w.reservation, ok = w.session.pool.room.grow(w.reservation, wish{to, w.shares(to)}); !ok {
		return false, nil
	}
	request := binary.LittleEndian.AppendUint64([]byte{askGrow}, uint64(to))
	if _, err := w.one(ctx, silence, [][]byte{request}, answerReady); err != nil {
		return false, err
	}
	w.reserved = to
	return true, nil
}

// outgrown reports whether the child died of a want of memory, of which a child may have more.
func (w *worker) outgrown(err error) bool {
	var died *death
	return errors.As(err, &died) && died.kind == BudgetMemory && w.reserved < w.session.options.Memory
}

// exhausted reports whether an error is that of an object that used up its time or memory.
func exhausted(err error) bool {
	var budget *BudgetError
	var timeout *lua.TimeoutError
	return errors.As(err, &budget) || errors.As(err, &timeout)
}
