// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Judged is what a script said of one object.
type Judged struct {
	// Object's Raw is valid only during the call that it is handed to.
	Object   object.Object
	Matching bool
	// Message is at most 1 KiB, without control characters.
	Message string
	// Err says why the object could not be judged: a *lua.ScriptError, *lua.TimeoutError or *BudgetError. The judging of
	// the others goes on.
	Err error
}

// Stream judges many objects while they are read. It is for one goroutine.
type Stream struct {
	// MetadataOnly says that there is no more of the objects than their metadata: ReadsMetadataOnly said that it is
	// enough. An object of which the script looks at more all the same is one that cannot be judged.
	MetadataOnly bool

	session *Session
	source  string
	each    func(Judged) error
	filling *batch
	flights []*flight // being judged, in the order of Add: at most one for each worker
	err     error     // ends the stream
	// began is when the first batch was sent, and waited is for how long the stream waited for verdicts since.
	began  time.Time
	waited time.Duration
	second place // nil if there is no second worker
}

// early is after how long of waiting for a batch the verdicts are handed on that there are. Many scripts need
// milliseconds for all of it.
const early = 250 * time.Millisecond

// flight is a batch that is being judged.
type flight struct {
	batch *batch
	at    place
	err   error
	done  chan struct{}
	// verdicts is where those of the batch come to stand, and handed how many of them were handed on.
	verdicts []verdict
	handed   int
}

// Stream judges objects with a script. Each is called once for each object, in the order of Add, by Add and Finish, and
// so somewhat behind Add. Its error ends the stream.
func (s *Session) Stream(source string, each func(Judged) error) *Stream {
	return &Stream{session: s, source: source, each: each}
}

// Add adds an object and copies its Raw. The context also bounds the judging, which goes on when Add has returned. An
// error is that of each, or ends all judging; the same error comes again from then on.
func (st *Stream) Add(ctx context.Context, o object.Object) error { return st.AddWith(ctx, o, nil) }

// AddWith adds an object and its data, which it copies: a JSON map of the data globals that the script finds filled.
// Data that is too much is an error which ends the stream.
func (st *Stream) AddWith(ctx context.Context, o object.Object, data object.JSON) error {
	if st.err == nil {
		st.err = checkData(data)
	}
	if st.err != nil {
		return st.err
	}
	if st.filling != nil && !st.filling.accepts(o, data) {
		if err := st.send(ctx); err != nil {
			return err
		}
	}
	if st.filling == nil {
		st.filling = st.session.batchFor(o.Kind)
		st.filling.withData, st.filling.metadataOnly = data != nil, st.MetadataOnly
	}
	st.filling.add(o, data)
	return nil
}

func checkData(data object.JSON) error {
	if len(data) > maxData {
		return fmt.Errorf("what goes with an object to its script is %d bytes long, the limit is %d", len(data), maxData)
	}
	return nil
}

// Finish judges what is left.
func (st *Stream) Finish(ctx context.Context) error {
	if st.err == nil && st.filling != nil {
		_ = st.send(ctx) // kept in st.err
	}
	for st.err == nil && len(st.flights) > 0 {
		st.land(ctx)
	}
	if st.err == nil {
		st.session.giveBack()
	}
	return st.err
}

// send lets the filled batch be judged, when a worker is free.
func (st *Stream) send(ctx context.Context) error {
	at := st.freePlace(ctx)
	if st.err != nil {
		return st.err
	}
	b := st.filling
	b.verdicts = slices.Grow(b.verdicts, b.len()) // they stay where they are while others are added
	f := &flight{batch: b, at: at, done: make(chan struct{}), verdicts: b.verdicts[:b.len()]}
	st.filling, st.flights = nil, append(st.flights, f)
	go func() {
		defer close(f.done)
		f.err = st.session.useAt(ctx, at, func(ctx context.Context, w *worker) error {
			return st.session.judge(ctx, w, st.source, f.batch)
		})
	}()
	return nil
}

// freePlace is where the next batch is judged. It waits for the oldest one when all workers have one.
func (st *Stream) freePlace(ctx context.Context) place {
	clock := st.session.pool.clock
	switch {
	case len(st.flights) == 0:
		if st.began.IsZero() {
			st.began = clock.Now()
		}
		return st.session.free
	case st.second == nil && st.waited > max(early, clock.Since(st.began)/2):
		st.second = st.session.borrow() // the script takes longer than what reads the objects
	}
	if len(st.flights) == 1 && st.second != nil {
		return st.other(st.flights[0].at)
	}
	at := st.flights[0].at
	begin := clock.Now()
	st.land(ctx)
	st.waited += clock.Since(begin)
	return at
}

func (st *Stream) other(at place) place {
	if at == st.second {
		return st.session.free
	}
	return st.second
}

// land waits for the oldest batch that is being judged and hands on its verdicts, in parts where it takes long.
func (st *Stream) land(ctx context.Context) {
	f := st.flights[0]
	ticker := time.NewTicker(early)
	defer ticker.Stop()
	for landed := false; !landed; {
		select {
		case <-f.done:
			landed = true
		case <-ticker.C:
			st.handOn(f, int(f.batch.settled.Load()))
		case <-ctx.Done():
			st.err = context.Cause(ctx)
		}
		if st.err != nil {
			return
		}
	}
	st.flights = st.flights[1:]
	var foul *protocolError
	if errors.As(f.err, &foul) {
		st.err = f.err
		return // what such a child said last is not used either
	}
	st.handOn(f, f.batch.judged())
	if st.err == nil {
		st.err = f.err
		st.session.recycle(f.batch)
	}
}

// handOn hands on the verdicts before to, but for those that were handed on before.
func (st *Stream) handOn(f *flight, to int) {
	for ; f.handed < to && st.err == nil; f.handed++ {
		v := &f.verdicts[f.handed]
		st.err = st.each(Judged{f.batch.object(f.handed), v.matching, v.message, v.err})
	}
}
