// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	// firstPause is how long the API server is left alone that is away, when it is asked for the first time whether it is
	// back, and longestPause after a while.
	firstPause   = 200 * time.Millisecond
	longestPause = 15 * time.Second
)

// flow is where all requests of a run pass: so many at once as the limit lets, and none while the API server is away.
// Then all wait, and one asks whether it is back.
type flow struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	limit limit
	// passing is how many requests are on their way.
	passing int
	// asking is true while somebody asks whether the server answers; away, since it did not.
	asking, away bool
	// changed is closed and made anew when any of these change.
	changed chan struct{}
}

func newFlow(clk clock.PassiveClock) *flow {
	return &flow{clock: clk, limit: newLimit(), changed: make(chan struct{})}
}

// unsentError is the cause of a run that was stopped before a request was made.
type unsentError struct{ error }

func (e *unsentError) Unwrap() error { return e.error }

func isUnsent(err error) bool {
	var unsent *unsentError
	return errors.As(err, &unsent)
}

// pass makes a request as soon as one may pass. What is in hand when the run is stopped does not wait any more.
func (f *flow) pass(ctx context.Context, request func() error) error {
	number, err := f.enter(ctx)
	if err != nil {
		return err
	}
	report := func(*limit) {}
	defer func() { f.change(func() { f.passing--; report(&f.limit) }) }()
	sent := f.clock.Now()
	err = request()
	took := f.clock.Since(sent)
	switch {
	case isUnsent(err): // the server was not asked
	case isBusy(err):
		report = func(l *limit) { l.refused(number) }
	case !isUnclear(err):
		report = func(l *limit) { l.answered(number, took) }
	}
	return err
}

func (f *flow) enter(ctx context.Context) (number int, err error) {
	for {
		f.mu.Lock()
		changed, free := f.changed, !f.asking && f.passing < f.limit.now
		if free {
			f.passing++
			number = f.limit.number()
		}
		f.mu.Unlock()
		if free {
			return number, nil
		}
		select {
		case <-ctx.Done():
			return 0, &unsentError{context.Cause(ctx)}
		case <-changed:
			if stopped := context.Cause(ctx); stopped != nil {
				return 0, &unsentError{stopped}
			}
		}
	}
}

// change changes something that others wait for.
func (f *flow) change(what func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	what()
	close(f.changed)
	f.changed = make(chan struct{})
}

// untilAnswers waits until the API server answers, and reports whether it was away. An error is the cause of a run that
// was stopped. Of all that come, one asks.
func (f *flow) untilAnswers(ctx context.Context, answers func(context.Context) bool) (away bool, err error) {
	first := false
	for !first {
		if stopped := context.Cause(ctx); stopped != nil {
			return away, stopped
		}
		f.mu.Lock()
		first = !f.asking
		away = away || f.away
		changed := f.changed
		if first && !away {
			f.asking = true
		}
		f.mu.Unlock()
		if first && away { // it was waited for, and is back
			return true, nil
		}
		if !first {
			select {
			case <-ctx.Done():
				return away, context.Cause(ctx)
			case <-changed:
			}
		}
	}
	defer f.change(func() { f.asking, f.away = false, false })
	return f.ask(ctx, answers)
}

// ask asks until the API server answers, less and less often.
func (f *flow) ask(ctx context.Context, answers func(context.Context) bool) (away bool, err error) {
	log := klog.FromContext(ctx)
	pause := firstPause
	for !answers(ctx) {
		if stopped := context.Cause(ctx); stopped != nil {
			return away, stopped
		}
		if !away {
			away = true
			f.change(func() { f.away = true; f.limit.lower() })
			log.Info("The API server does not answer; the run waits for it")
		}
		if !waited(ctx, wait.Jitter(pause, 0.5)) {
			return away, context.Cause(ctx)
		}
		pause = min(2*pause, longestPause)
	}
	if away {
		log.Info("The API server answers again; the run goes on")
	}
	return away, nil
}

// waited reports whether there was time to wait: a run that was stopped has none.
func waited(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
