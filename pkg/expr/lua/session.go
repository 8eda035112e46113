// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	gopher "github.com/yuin/gopher-lua"
	utilclock "k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	defaultObjectTimeout    = 2 * time.Second
	defaultAggregateTimeout = 60 * time.Second
)

// Options are what a run gives its scripts.
type Options struct {
	// Now is what os.time and os.date show during the whole session.
	Now time.Time
	// Clock measures how long scripts take.
	Clock utilclock.PassiveClock
	// Seed is where math.random starts. Each object has a sequence of its own that depends on Seed and its UID.
	Seed int64
	// ObjectTimeout limits one Evaluate or Transform, as a Stopwatch counts. Zero means 2 seconds.
	ObjectTimeout time.Duration
	// AggregateTimeout limits one Aggregate, likewise. Zero means 60 seconds.
	AggregateTimeout time.Duration
	// Print gets what scripts print: at most 64 lines of 256 bytes in a session. Nil drops it.
	Print func(line string)
}

// Session is one run's interpreter for one program: libraries are loaded once, and the chunk runs anew for each object
// in a fresh environment. It is not safe for concurrent use.
type Session struct {
	program *Program
	options Options
	// box is nil before the first call and after a failed one, which may leave the interpreter in any state.
	box *sandbox
	// kinds are those of the objects so far. A session sees few.
	kinds map[object.Kind]*kindText
	// random is nil until the script of the current call asks for a number. Its sequence is that of current.
	random  *rand.Rand
	current object.Object
	printed int
	closed  bool
	watch   Stopwatch
}

// NewSession makes a session; Close ends it.
func (p *Program) NewSession(options Options) *Session {
	if options.ObjectTimeout == 0 {
		options.ObjectTimeout = defaultObjectTimeout
	}
	if options.AggregateTimeout == 0 {
		options.AggregateTimeout = defaultAggregateTimeout
	}
	return &Session{program: p, options: options, kinds: make(map[object.Kind]*kindText)}
}

// Close frees the interpreter. Calls on a closed session return ErrClosed.
func (s *Session) Close() {
	s.discard()
	s.closed = true
}

func (s *Session) discard() {
	if s.box == nil {
		return
	}
	s.box.close()
	s.box = nil
}

// open makes the interpreter ready for one call: on one object, or on many, which is the zero Object.
func (s *Session) open(ctx context.Context, o object.Object) error {
	if s.closed {
		return ErrClosed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.box == nil {
		s.box = newSandbox(s.functions())
	}
	s.box.begin()
	s.random, s.current = nil, o
	return nil
}

// root makes the table of a whole object. Nothing but its outermost brace is looked at.
func (s *Session) root(o object.Object) (*lazy, error) {
	l := new(lazy)
	if err := s.initRoot(l, o); err != nil {
		return nil, err
	}
	return l, nil
}

func (s *Session) initRoot(l *lazy, o object.Object) error {
	raw := bytes.TrimLeft(o.Raw, " \t\r\n")
	if len(raw) == 0 || raw[0] != '{' || len(raw) > math.MaxInt32 {
		return fmt.Errorf("reading %s: its JSON is no map", o)
	}
	s.box.initLazy(l, raw)
	l.kind = s.kindOf(o.Kind)
	return nil
}

func (s *Session) kindOf(kind object.Kind) *kindText {
	if known, ok := s.kinds[kind]; ok {
		return known
	}
	apiVersion := kind.APIVersion()
	text := &kindText{
		apiVersion: gopher.LString(apiVersion), kind: gopher.LString(kind.Kind),
		apiVersionRaw: quoted(apiVersion), kindRaw: quoted(kind.Kind),
	}
	s.kinds[kind] = text
	return text
}

func quoted(text string) object.JSON {
	raw, _ := json.Marshal(text) // a string always has a JSON text
	return raw
}

// call is one call of a script's function.
type call struct {
	function string
	// global is the name under which the function also finds its argument.
	global   string
	argument gopher.LValue
	// data is a JSON map of data globals. Nil when there are none.
	data  object.JSON
	limit time.Duration
	// example is what a script writes that lacks the function.
	example string
}

// run calls the function in a fresh environment. Any fault discards the interpreter.
func (s *Session) run(parent context.Context, c call) (result gopher.LValue, err error) {
	timed, stop := s.limit(parent, c.limit)
	defer stop()
	ctx := &deadline{Context: timed, done: timed.Done(), state: s.box.state}
	s.box.state.SetContext(ctx)
	// The interpreter recovers panics of its libraries; this is for its own.
	err = caught("the interpreter", func() (err error) {
		result, err = s.box.call(s.program, c)
		return err
	})
	if err == nil && timed.Err() == nil {
		return result, nil
	}
	s.discard()
	// A script can swallow the error that the deadline raises, so that only the context shows it.
	switch {
	case parent.Err() != nil:
		err = context.Cause(parent)
	case timed.Err() != nil:
		err = &TimeoutError{Function: c.function, Limit: c.limit, Line: ctx.line}
	}
	return result, err
}

// limit makes a context that ends when the process has been at work for so long.
func (s *Session) limit(parent context.Context, limit time.Duration) (timed context.Context, stop func()) {
	timed, cancel := context.WithCancel(parent)
	s.watch.Begin(s.options.Clock.Now())
	watch := s.watch
	timer := time.AfterFunc(limit, func() {
		for left := watch.Left(s.options.Clock.Now(), limit); left > 0; left = watch.Left(s.options.Clock.Now(), limit) {
			select {
			case <-timed.Done():
				return
			case <-time.After(max(left, time.Millisecond)):
			}
		}
		cancel()
	})
	return timed, func() {
		timer.Stop()
		cancel()
	}
}

// call runs the chunk and then the function. The order matters: the chunk does not see the object.
func (b *sandbox) call(program *Program, c call) (gopher.LValue, error) {
	env := b.environment()
	for name, raw := range c.data.Fields() {
		env.RawSetString(name.String(), b.dataValue(raw))
	}
	chunk := b.state.NewFunctionFromProto(program.proto)
	chunk.Env = env
	if _, err := b.protected(chunk); err != nil {
		return nil, err
	}
	env.RawSetString(c.global, c.argument)
	function, ok := env.RawGetString(c.function).(*gopher.LFunction)
	if !ok {
		return nil, faultf("the script has no global function %s; write: %s", c.function, c.example)
	}
	return b.protected(function, c.argument)
}

// dataValue is the value of a data global.
func (b *sandbox) dataValue(raw object.JSON) gopher.LValue {
	if t := raw.Type(); t != object.Map && t != object.List {
		return scalarOf(raw)
	}
	l := new(lazy)
	b.initLazy(l, raw)
	return &l.LTable
}

func (b *sandbox) protected(function *gopher.LFunction, arguments ...gopher.LValue) (gopher.LValue, error) {
	if err := b.state.CallByParam(gopher.P{Fn: function, NRet: 1, Protect: true}, arguments...); err != nil {
		return nil, scriptError(err)
	}
	result := b.state.Get(-1)
	b.state.Pop(1)
	// The result's own fields are read as those of any table.
	b.plain(result)
	return result, nil
}
