// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// The states of Stage.
const (
	stageDone    = "Done"
	stageActive  = "Active"
	stageFailed  = "Failed"
	stagePending = "Pending"
	stageNone    = "None" // the run itself never gets there
)

// askedBy says what started a run.
var askedBy = map[v1alpha1.RunTrigger]string{
	v1alpha1.TriggerSchedule: "due by its schedule", v1alpha1.TriggerManual: "asked for by a person",
	v1alpha1.TriggerApproval: "its plan was approved",
}

// stagesOf is how far a run is, as its record says.
// said is what ended its plan, nil when nobody said anything or that is not known.
func stagesOf(run *v1alpha1.CleanerRun, said *v1alpha1.CleanerApproval) []Stage {
	status := &run.Status
	ended := status.Phase.Final()
	judged := ended || status.Intent != nil || status.Phase != ""
	spent := cluster.SpentOf(run)
	stages := []Stage{
		{
			Name: "Waited in the queue", State: stageDone, Time: &run.Spec.NominalTime.Time,
			TookSeconds: secondsOf(spent.Waited), Text: askedBy[run.Spec.Trigger],
		},
		{
			Name: "Read and judged", State: stateIf(judged, stageDone, stageActive), Time: timeOf(spent.Started),
			TookSeconds: secondsOf(spent.Judged),
			Text:        fmt.Sprintf("%d considered, %d matched", status.Considered, status.Matched),
		},
	}
	recorded := Stage{
		Name: "Recorded", State: stateIf(ended, stageDone, stagePending), Time: timeOf(status.CompletionTime),
		Text: status.Message,
	}
	if status.Plan != nil { // the message is of the decision, which comes later
		recorded.Text = "a plan for " + terminal.Grouped(status.Plan.Objects, "object")
		stages = append(stages, recorded, awaitedOf(status, said))
	}
	if run.Spec.Action != v1alpha1.ActionScan {
		acts := actedOf(status)
		if status.Intent != nil {
			acts.Time, acts.TookSeconds = timeOf(status.JudgedTime), secondsOf(spent.Acted)
		}
		stages = append(stages, acts)
	}
	if status.Plan == nil {
		stages = append(stages, recorded)
	}
	if delivery, ok := deliveryOf(status.Notifications); ok {
		stages = append(stages, delivery)
	}
	return stages
}

// actedOf is how far a run is that acts, or whose plan another run carries out.
func actedOf(status *v1alpha1.CleanerRunStatus) Stage {
	acts := Stage{
		Name: "Acted", State: stagePending,
		Text: fmt.Sprintf("%d acted, %d skipped, %d failed", status.Acted, status.Skipped, status.Failed),
	}
	switch {
	case status.Plan != nil && status.Phase != v1alpha1.RunAwaitingApproval:
		acts.State, acts.Text = stageNone, "this run touches nothing"
	case status.Plan != nil:
		acts.Text = "another run carries out the plan"
	case status.Phase == v1alpha1.RunExecuting:
		acts.State = stageActive
	case status.Phase == v1alpha1.RunFailed || status.Phase == v1alpha1.RunInterrupted:
		acts.State = stageFailed
	case status.Phase.Final():
		acts.State = stageDone
	}
	return acts
}

// awaitedOf is how far a plan is that a person must approve.
func awaitedOf(status *v1alpha1.CleanerRunStatus, said *v1alpha1.CleanerApproval) Stage {
	waits := Stage{Name: "Waited for a person", State: stageActive, Time: timeOf(status.CompletionTime)}
	if status.Phase == v1alpha1.RunAwaitingApproval {
		waits.Text = "a person must approve the plan"
		return waits
	}
	waits.State, waits.Text = stageDone, endOf(status)
	var ended *metav1.Time
	switch {
	case status.Reason == v1alpha1.ReasonExpired:
		ended = &status.Plan.ExpirationTime
	case said != nil:
		ended = &said.CreationTimestamp
	}
	if ended != nil && status.CompletionTime != nil {
		took := max(0, ended.Sub(status.CompletionTime.Time))
		waits.TookSeconds = secondsOf(&took)
	}
	return waits
}

// approvalOf is how long the plan that the run carries out waited for a person, as far as the plan's record says it.
func (p *person) approvalOf(ctx context.Context, run *v1alpha1.CleanerRun) []Stage {
	plan := run.Spec.Plan
	if plan == nil {
		return nil
	}
	made, err := readRun(ctx, p, plan.Run)
	if err != nil || made.Status.Plan == nil {
		return nil // it is no longer on record, or may not be read
	}
	waited := awaitedOf(&made.Status, p.said(ctx, made))
	waited.State, waited.Text = stageDone, plan.By+" approved the plan"
	return []Stage{waited}
}

// endOf says what became of a plan that does not wait any more.
func endOf(status *v1alpha1.CleanerRunStatus) string {
	switch status.Reason {
	case v1alpha1.ReasonApproved:
		return "the plan was approved, and another run carries it out"
	case v1alpha1.ReasonRejected:
		return "the plan was rejected"
	case v1alpha1.ReasonPlanNotApproved:
		return "what was said of the plan does not count"
	case v1alpha1.ReasonExpired:
		return "nobody approved the plan in time"
	case v1alpha1.ReasonSuperseded:
		return "the plan was superseded"
	}
	return "the plan does not wait any more"
}

func stateIf(is bool, then, otherwise string) string {
	if is {
		return then
	}
	return otherwise
}

func secondsOf(took *time.Duration) *int64 {
	if took == nil {
		return nil
	}
	return ptr.To(int64(took.Seconds()))
}

// deliveryOf is how the notifications are. It is false when there are none. A record does not say when they were
// delivered.
func deliveryOf(all []v1alpha1.NotificationStatus) (Stage, bool) {
	delivery := Stage{Name: "Notified", State: stageDone}
	delivered := 0
	for _, n := range all {
		switch n.State {
		case v1alpha1.NotificationDelivered:
			delivered++
		case v1alpha1.NotificationFailed:
			delivery.State = stageFailed
		default:
			if delivery.State == stageDone {
				delivery.State = stageActive
			}
		}
	}
	delivery.Text = fmt.Sprintf("%d of %d delivered", delivered, len(all))
	return delivery, len(all) > 0
}
