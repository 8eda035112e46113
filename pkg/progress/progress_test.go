// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
)

var start = time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)

// run is a Meter on a fake clock, and what it called.
type run struct {
	*Meter
	clock *clocktesting.FakeClock
	shown chan v1alpha1.RunProgress
	// again is what Show answers.
	again  chan bool
	stages []string
	took   map[metrics.Stage]time.Duration
}

func begin(t *testing.T) *run {
	r := &run{
		clock: clocktesting.NewFakeClock(start), shown: make(chan v1alpha1.RunProgress), again: make(chan bool), took: map[metrics.Stage]time.Duration{},
	}
	r.Meter = Start(t.Context(), r.clock, Hooks{
		Show: func(_ context.Context, shown v1alpha1.RunProgress) bool { r.shown <- shown; return <-r.again },
		Begun: func(stage metrics.Stage) func() {
			r.stages = append(r.stages, "begin "+string(stage))
			return func() { r.stages = append(r.stages, "end "+string(stage)) }
		},
		Took: func(stage metrics.Stage, took time.Duration) { r.took[stage] += took },
	}, metrics.StageList, 0)
	t.Cleanup(r.StopShowing)
	return r
}

// next is what is shown five seconds later.
func (r *run) next(again bool) v1alpha1.RunProgress {
	r.clock.Step(every)
	shown := <-r.shown
	r.again <- again
	return shown
}

// TestShown: what is shown is of the stage, and nothing is shown after a Show that wants no more.
func TestShown(t *testing.T) {
	t.Parallel()
	r := begin(t)
	r.List("ConfigMap")
	for range 10 {
		r.Did()
	}
	r.Matched()
	at := func(after time.Duration) metav1.Time { return metav1.NewTime(start.Add(after)) }
	want := v1alpha1.RunProgress{Phase: v1alpha1.ProgressListing, Kind: "ConfigMap", Done: 10, Matched: ptr.To[int64](1), Rate: 2, UpdateTime: at(every)}
	if diff := cmp.Diff(want, r.next(true)); diff != "" {
		t.Errorf("while it lists (-want +got):\n%s", diff)
	}
	r.Enter(metrics.StageAct, 7)
	r.Did()
	want = v1alpha1.RunProgress{Phase: v1alpha1.ProgressActing, Done: 1, Total: ptr.To[int64](7), UpdateTime: at(2 * every)}
	if diff := cmp.Diff(want, r.next(false)); diff != "" {
		t.Errorf("while it acts (-want +got):\n%s", diff)
	}
	r.clock.Step(every)
	select {
	case <-r.ended:
	case shown := <-r.shown:
		r.again <- false
		t.Errorf("shown once more: %+v", shown)
	}
}

// TestStages: each stage begins and ends once, and a stage that comes twice took both times.
func TestStages(t *testing.T) {
	t.Parallel()
	r := begin(t)
	r.clock.Step(time.Second)
	r.Enter(metrics.StageJudge, 0)
	r.clock.Step(2 * time.Second)
	r.Enter(metrics.StageList, 0)
	r.StopShowing()
	r.clock.Step(4 * time.Second)
	r.End()
	want := []string{"begin list", "end list", "begin judge", "end judge", "begin list", "end list"}
	if diff := cmp.Diff(want, r.stages); diff != "" {
		t.Errorf("the stages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[metrics.Stage]time.Duration{metrics.StageList: 5 * time.Second, metrics.StageJudge: 2 * time.Second}, r.took); diff != "" {
		t.Errorf("how long they took (-want +got):\n%s", diff)
	}
}

// TestPreview: a preview has no Meter.
func TestPreview(*testing.T) {
	var m *Meter
	m.Enter(metrics.StageJudge, 0)
	m.StopShowing()
	m.End()
}
