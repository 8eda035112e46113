// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

const (
	// progressEvery is how often the progress of a run is written into its record, and so after how long for the first time.
	progressEvery = 5 * time.Second
	// progressTimeout bounds one such writing.
	progressTimeout = 4 * time.Second
)

// progress counts how far a run has come, and how long each of its stages takes.
type progress struct {
	clock   clock.PassiveClock
	metrics *metrics.Metrics
	// stop ends the writing. What was being written when it returns may not arrive any more.
	stop func()
	// span begins the span of a stage.
	span func(metrics.Stage) trace.Span

	mu     sync.Mutex
	stage  metrics.Stage
	traced trace.Span
	since  time.Time
	took   map[metrics.Stage]time.Duration
	kind   string
	// done, matched and total are of the stage. A total of 0 is not known.
	done, matched, total int64
}

// startProgress begins to count, and to write from time to time how far the run has come. That is done beside the run, which does
// not wait for it and does not care whether it succeeds.
func (s Record) startProgress(ctx context.Context, record *v1alpha1.CleanerRun, stage metrics.Stage, total int) *progress {
	span := func(stage metrics.Stage) trace.Span {
		_, span := tracer.Start(ctx, string(stage))
		return span
	}
	p := &progress{
		clock: s.Clock, metrics: s.Metrics, took: map[metrics.Stage]time.Duration{}, span: span,
		stage: stage, traced: span(stage), total: int64(total), since: s.Clock.Now(),
	}
	writing, cancel := context.WithCancel(ctx)
	ticker := s.Clock.NewTicker(progressEvery)
	ended := make(chan struct{})
	holder := journal.HolderOf(record)
	go func() {
		defer close(ended)
		for {
			select {
			case <-writing.Done():
				return
			case <-ticker.C():
				if err := s.writeProgress(writing, holder, p); errors.Is(err, journal.ErrTaken) {
					return
				}
			}
		}
	}()
	p.stop = sync.OnceFunc(func() {
		ticker.Stop()
		cancel()
		<-ended
	})
	return p
}

func (s Record) writeProgress(ctx context.Context, holder journal.Holder, p *progress) error {
	ctx, cancel := context.WithTimeout(ctx, progressTimeout)
	defer cancel()
	err := fault.Logged(ctx, func() error { return s.Journal.ShowProgress(ctx, holder, p.snapshot()) })
	if err != nil {
		klog.FromContext(ctx).V(1).Info("Did not write the progress of the run", "cause", err.Error())
	}
	return err
}

// phaseOf is what a stage is called in a record.
func phaseOf(stage metrics.Stage) v1alpha1.ProgressPhase {
	return map[metrics.Stage]v1alpha1.ProgressPhase{
		metrics.StageList: v1alpha1.ProgressListing, metrics.StageJudge: v1alpha1.ProgressJudging,
		metrics.StageRecord: v1alpha1.ProgressCopying, metrics.StageAct: v1alpha1.ProgressActing,
	}[stage]
}

func (p *progress) snapshot() v1alpha1.RunProgress {
	now := p.clock.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	shown := v1alpha1.RunProgress{Phase: phaseOf(p.stage), Done: p.done, UpdateTime: metav1.NewTime(now)}
	shown.Rate = rate(p.done, now.Sub(p.since))
	if p.stage == metrics.StageList {
		shown.Kind, shown.Matched = p.kind, ptr.To(p.matched)
	}
	if p.total > 0 {
		shown.Total = ptr.To(p.total)
	}
	return shown
}

func rate(n int64, took time.Duration) int64 {
	if took <= 0 {
		return 0
	}
	return int64(float64(n) / took.Seconds())
}

// enter begins a stage, of which total objects are to come, as far as that is known. Nil, as of a preview, counts nothing.
func (p *progress) enter(stage metrics.Stage, total int) {
	if p == nil {
		return
	}
	now := p.clock.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.took[p.stage] += now.Sub(p.since)
	p.traced.End()
	p.traced = p.span(stage)
	p.stage, p.since, p.kind, p.done, p.matched, p.total = stage, now, "", 0, 0, int64(total)
}

// did counts one more object.
func (p *progress) did() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
}

// stopWriting stops the writing into the record. Nil, as of a preview, writes nothing.
func (p *progress) stopWriting() {
	if p != nil {
		p.stop()
	}
}

// end ends the last stage, and tells how long each of them took.
func (p *progress) end() {
	if p == nil {
		return
	}
	p.stop()
	now := p.clock.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.took[p.stage] += now.Sub(p.since)
	p.traced.End()
	p.since = now
	for stage, took := range p.took {
		p.metrics.StageEnded(stage, took)
	}
	clear(p.took)
}

// observer counts what is listed.
func (p *progress) observer() selector.Observer {
	return selector.Observer{
		Lists: func(kind object.Kind) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.kind = kind.Kind
		},
		Judged: p.did,
		Candidate: func(object.Candidate) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.matched++
		},
	}
}
