// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// runPoll is how often the record of a run that is followed is read. The operator writes its progress every five
// seconds.
const runPoll = 2 * time.Second

// progress is how far a run has come, as its record says.
type progress struct {
	run    string
	action v1alpha1.Action
	v1alpha1.RunProgress
}

// look is what was seen of a run's record.
type look struct {
	// absent is whether there is none yet, because the run waits for its turn.
	absent bool
	// progress is nil when the record says nothing of it.
	progress terminal.Measure
}

// lookAtRun reads now and then how far a run has come, until the context ends. A record that cannot be read says
// nothing, and one that is not there the first time may be so a moment later.
func (o *options) lookAtRun(ctx context.Context, api *cluster.Client, run string, seen chan<- look) {
	for again := false; ; again = true {
		var record v1alpha1.CleanerRun
		err := api.Read(ctx, cluster.RunPath(run), &record)
		now := look{absent: apierrors.IsNotFound(err)}
		if so := record.Status.Progress; err == nil && so != nil {
			now.progress = &progress{run: run, action: record.Spec.Action, RunProgress: *so}
		}
		if err == nil || now.absent && again {
			select {
			case seen <- now:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-o.Clock.After(runPoll):
		case <-ctx.Done():
			return
		}
	}
}

// Line is "listing ConfigMap · 41,500 objects (38 match) · 4.1k/s · 12s" or "deleting · 120 of 300 objects · 16/s · 11s
// left".
func (r *progress) Line(took time.Duration) string {
	parts := []string{strings.TrimSpace(r.doing() + " " + r.Kind)}
	switch {
	case r.Total != nil && r.Phase == v1alpha1.ProgressCopying: // they are not counted
		parts = append(parts, terminal.Grouped(*r.Total, "object"))
	case r.Total != nil:
		parts = append(parts, fmt.Sprintf("%s of %s", terminal.Thousands(r.Done), terminal.Grouped(*r.Total, "object")))
	case r.Matched != nil:
		parts = append(parts, fmt.Sprintf("%s (%s)", terminal.Grouped(r.Done, "object"), terminal.MatchWords(*r.Matched)))
	}
	if r.Rate > 0 {
		parts = append(parts, terminal.Short1000(r.Rate)+"/s")
	}
	if r.Rate > 0 && r.Total != nil {
		left := time.Duration((*r.Total-r.Done)/r.Rate) * time.Second
		return strings.Join(append(parts, left.String()+" left"), " · ")
	}
	return strings.Join(append(parts, took.Truncate(time.Second).String()), " · ")
}

// doing is what the run is doing.
func (r *progress) doing() string {
	switch {
	case r.Phase == v1alpha1.ProgressWaiting:
		return "waiting for more memory for its scripts"
	case r.Phase != v1alpha1.ProgressActing:
		return strings.ToLower(string(r.Phase))
	case r.action == v1alpha1.ActionTransform:
		return "changing"
	}
	return "deleting"
}

// facts are what --progress=json prints of a run.
type facts struct {
	Run            string                 `json:"run"`
	Phase          v1alpha1.ProgressPhase `json:"phase"`
	Kind           string                 `json:"kind,omitempty"`
	Done           int64                  `json:"done"`
	Total          *int64                 `json:"total,omitempty"`
	Matched        *int64                 `json:"matched,omitempty"`
	PerSecond      int64                  `json:"perSecond"`
	ElapsedSeconds float64                `json:"elapsedSeconds"`
}

// Facts are what --progress=json prints of a run.
func (r *progress) Facts(took time.Duration) any {
	return facts{r.run, r.Phase, r.Kind, r.Done, r.Total, r.Matched, r.Rate, took.Round(100 * time.Millisecond).Seconds()}
}

// howToStop says what ends a run that goes on without the user.
func (f *follower) howToStop() string {
	what := "stop it before its next object"
	if f.queued {
		what = "keep it from beginning"
	}
	return fmt.Sprintf("to %s: %s cancel %s", what, terminal.Program, f.run)
}
