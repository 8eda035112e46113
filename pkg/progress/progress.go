// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package progress counts how far a run has come, and how long each of its stages takes.
package progress

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
)

const (
	// every is how often the progress is shown, and so after how long for the first time.
	every = 5 * time.Second
	// timeout bounds one such showing.
	timeout = 4 * time.Second
)

// Hooks are what a Meter calls.
type Hooks struct {
	// Show shows the progress to others, from time to time. When it returns false, it is not called again.
	Show func(ctx context.Context, shown v1alpha1.RunProgress) (again bool)
	// Begun is called when a stage begins. What it returns is called at the stage's end.
	Begun func(stage metrics.Stage) (end func())
	// Took is called at the end with how long a stage took, all in all.
	Took func(stage metrics.Stage, took time.Duration)
}

// Meter counts how far a run has come. A nil Meter, as of a preview, counts nothing.
type Meter struct {
	clock clock.PassiveClock
	hooks Hooks
	// stop ends the showing, and ended is closed then. What was being shown when it returns may not arrive any more.
	stop  func()
	ended chan struct{}

	mu       sync.Mutex
	stage    metrics.Stage
	endStage func()
	since    time.Time
	took     map[metrics.Stage]time.Duration
	kind     string
	// done, matched and total are of the stage. A total of 0 is not known.
	done, matched, total int64
}

// Start begins to count, in a stage of which total objects are to come, as far as that is known. It shows the progress
// beside the run, which does not wait for it.
func Start(ctx context.Context, clk clock.WithTicker, hooks Hooks, stage metrics.Stage, total int) *Meter {
	m := &Meter{
		clock: clk, hooks: hooks, took: map[metrics.Stage]time.Duration{},
		stage: stage, endStage: hooks.Begun(stage), total: int64(total), since: clk.Now(), ended: make(chan struct{}),
	}
	showing, cancel := context.WithCancel(ctx)
	ticker := clk.NewTicker(every)
	go func() {
		defer close(m.ended)
		for again := true; again; {
			select {
			case <-showing.Done():
				return
			case <-ticker.C():
				again = m.show(showing)
			}
		}
	}()
	m.stop = sync.OnceFunc(func() {
		ticker.Stop()
		cancel()
		<-m.ended
	})
	return m
}

func (m *Meter) show(ctx context.Context) (again bool) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return m.hooks.Show(ctx, m.snapshot())
}

// phaseOf is what a stage is called in a record.
func phaseOf(stage metrics.Stage) v1alpha1.ProgressPhase {
	return map[metrics.Stage]v1alpha1.ProgressPhase{
		metrics.StageList: v1alpha1.ProgressListing, metrics.StageJudge: v1alpha1.ProgressJudging,
		metrics.StageRecord: v1alpha1.ProgressCopying, metrics.StageAct: v1alpha1.ProgressActing,
	}[stage]
}

func (m *Meter) snapshot() v1alpha1.RunProgress {
	now := m.clock.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	shown := v1alpha1.RunProgress{Phase: phaseOf(m.stage), Done: m.done, UpdateTime: metav1.NewTime(now)}
	if took := now.Sub(m.since); took > 0 {
		shown.Rate = int64(float64(m.done) / took.Seconds())
	}
	if m.stage == metrics.StageList {
		shown.Kind, shown.Matched = m.kind, ptr.To(m.matched)
	}
	if m.total > 0 {
		shown.Total = ptr.To(m.total)
	}
	return shown
}

// Enter begins a stage, of which total objects are to come, as far as that is known.
func (m *Meter) Enter(stage metrics.Stage, total int) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.endOfStage()
	m.endStage = m.hooks.Begun(stage)
	m.stage, m.kind, m.done, m.matched, m.total = stage, "", 0, 0, int64(total)
}

func (m *Meter) endOfStage() {
	now := m.clock.Now()
	m.took[m.stage] += now.Sub(m.since)
	m.endStage()
	m.since = now
}

// List says that objects of the kind come now.
func (m *Meter) List(kind string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kind = kind
}

// Did counts one more object.
func (m *Meter) Did() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done++
}

// Matched counts one more object that matches.
func (m *Meter) Matched() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.matched++
}

// StopShowing ends the showing.
func (m *Meter) StopShowing() {
	if m != nil {
		m.stop()
	}
}

// End ends the last stage, and reports how long each of them took.
func (m *Meter) End() {
	if m == nil {
		return
	}
	m.stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.endOfStage()
	for stage, took := range m.took {
		m.hooks.Took(stage, took)
	}
	clear(m.took)
}
