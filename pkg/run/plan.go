// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/summary"
)

// Where a person must approve what a run does (spec.approval), there are two runs. The first judges, touches nothing,
// and leaves a plan in its record. The second begins when somebody approved the plan: it reads and judges as any run,
// and of what it would touch it leaves alone what is not in the plan. So nothing waits, and nothing old is acted on.

// approved reads the plan that the run carries out, if it carries out one.
func (s Record) approved(ctx context.Context, t *task) *refusal {
	plan := t.record.Spec.Plan
	switch {
	case plan == nil:
		return nil
	case !t.acts():
		return &refusal{
			phase: v1alpha1.RunInterrupted, reason: v1alpha1.ReasonActingStopped,
			message: v1alpha1.Truncate("Nothing was read or touched, and the plan was not carried out, because "+
				t.record.Spec.WhyDryRun()+".", maxMessage),
		}
	}
	var err error
	tried := func(ctx context.Context) (bool, error) {
		t.plan, err = s.Journal.Approved(ctx, t.cleaner, plan, t.record.Name)
		return err == nil || journal.IsNotApproved(err), nil
	}
	_ = wait.PollUntilContextTimeout(ctx, journal.SaveRetry, journal.SaveTimeout, true, tried)
	if err == nil && t.plan != nil {
		return nil
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	return &refusal{
		phase: v1alpha1.RunFailed, reason: v1alpha1.ReasonPlanNotApproved,
		message: v1alpha1.Truncate(fmt.Sprintf("Nothing was read or touched: %s.", summary.OneLine(err)), maxMessage),
	}
}

// keepToPlan leaves alone what is not in the approved plan, and finds what is in it and does not match any more, except
// what could not be judged. What was created again and matches is ruled on as that.
func (d *decision) keepToPlan(t *task) {
	if t.plan == nil {
		return
	}
	matched := map[types.UID]bool{}
	for i, verdict := range d.matched.All() {
		if r := d.rulings[i]; r == nil || !r.noMatch {
			matched[verdict.UID], matched[t.plan.Before(&verdict.Object)] = true, true
		}
	}
	d.missing = t.plan.Missing(func(uid types.UID) bool { return matched[uid] || d.view.unjudgedUIDs[uid] })
	d.rule(func(_ int, verdict stage.Verdict) *ruling {
		if t.plan.Has(verdict.UID) {
			return nil
		}
		if t.plan.Before(&verdict.Object) != "" {
			return changed("it was deleted and created again since the plan was made; the next plan has it, if it still matches")
		}
		return &ruling{result: v1alpha1.OutcomeNotActed, detail: "it is not in the approved plan; the next plan has it, if it still matches"}
	})
}

// keepToChanges leaves alone what would be changed otherwise than the approved plan says.
func (d *decision) keepToChanges(t *task) {
	if t.plan == nil {
		return
	}
	d.rule(func(i int, verdict stage.Verdict) *ruling {
		return t.unplanned(&journal.Victim{Candidate: verdict.Candidate, Patch: d.changes[i].patch})
	})
}

// unplanned is the ruling on what the approved plan does not say. Nil when it does, or when there is no plan.
func (t *task) unplanned(victim *journal.Victim) *ruling {
	if t.plan == nil || t.plan.Allows(t.action, victim) {
		return nil
	}
	return changed("what the run would do to it now is different from what was approved; the next plan has it, if it still matches")
}

// missingWords say how much is in the approved plan and does not match any more.
func (d *decision) missingWords() string {
	if len(d.missing) == 0 {
		return ""
	}
	return fmt.Sprintf(" %s of the plan did not exist or did not match any more.", summary.Objects(int64(len(d.missing))))
}

// draft makes the victims a plan, as many as a record can list.
func (in *intent) draft(t *task) {
	if len(in.victims) == 0 {
		return
	}
	in.plan = journal.Draft(t.action, in.victims, in.decision.view.mask)
	for _, n := range in.places[len(in.plan):] {
		in.outcomes[n].Result = v1alpha1.OutcomeNotActed
		in.outcomes[n].Detail = "the plan has no room for more objects; the next plan has it, if it still matches"
	}
}

// planned is the plan of a run, for its record. Nil when there is none.
func planned(t *task, plan []v1alpha1.ObjectOutcome, now time.Time) *v1alpha1.RunPlan {
	if len(plan) == 0 {
		return nil
	}
	return &v1alpha1.RunPlan{
		Hash: journal.PlanHash(plan), Objects: int64(len(plan)),
		ExpirationTime: metav1.NewTime(now.Add(t.cleaner.Spec.Approval.Lasts())),
	}
}

// planPhase is how a run ends that has a plan: it waits, unless the same plan waits already.
func (t *task) planPhase() (v1alpha1.RunPhase, string) {
	if t.sameWaits() {
		return v1alpha1.RunCompleted, v1alpha1.ReasonSuperseded
	}
	return v1alpha1.RunAwaitingApproval, v1alpha1.ReasonAwaitingApproval
}

// sameWaits reports whether the plan of an earlier run that waits is the same.
func (t *task) sameWaits() bool {
	before, now := t.cleaner.Status.Plan, t.record.Status.Plan
	return before != nil && before.Hash == now.Hash && before.Run != t.record.Name &&
		before.ExpirationTime.After(t.now)
}

// planWords say what a plan waits for. Of a run without a plan they are what it touched.
func (t *task) planWords(touched string, outcomes []stage.Outcome) string {
	counts, plan := t.record.Status.RunCounts, t.record.Status.Plan
	if plan == nil {
		return touched
	}
	deed := map[v1alpha1.Action]string{v1alpha1.ActionDelete: "delete", v1alpha1.ActionTransform: "change"}
	left := ""
	if counts.Skipped > 0 {
		left = fmt.Sprintf(", %d left alone", counts.Skipped)
	}
	if counts.Failed > 0 {
		left += fmt.Sprintf(", %d failed", counts.Failed)
	}
	text := fmt.Sprintf("%d of %s matched%s; nothing was touched. ", counts.Matched,
		summary.Objects(counts.Considered), left)
	if t.sameWaits() {
		text += t.cleaner.Status.Plan.Waits()
	} else {
		text += fmt.Sprintf("The plan to %s %s%s waits until %s for a person who approves it: kubectl cleaner approve %s.",
			deed[t.record.Spec.Action], summary.Objects(plan.Objects), summary.Volumes(plan.VolumeBytes),
			plan.ExpirationTime.UTC().Format(time.RFC3339), t.record.Name)
	}
	failed, _ := firstFailure(outcomes)
	return text + failed
}
