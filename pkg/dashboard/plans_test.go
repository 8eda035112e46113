// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// planned is a run of the Cleaner whose plan of one ConfigMap waits.
func planned(t *testing.T, c client.Client, of *v1alpha1.Cleaner, before time.Duration) *v1alpha1.CleanerRun {
	t.Helper()
	until := metav1.NewTime(nominal.Add(time.Hour))
	run := record(t, c, of, before, v1alpha1.CleanerRunStatus{
		Phase: v1alpha1.RunAwaitingApproval, Reason: v1alpha1.ReasonAwaitingApproval, Message: "It waits.",
		RunCounts: v1alpha1.RunCounts{Considered: 3, Matched: 2, Skipped: 1},
		Plan:      &v1alpha1.RunPlan{Hash: "1234", Objects: 1, VolumeBytes: 5, ExpirationTime: until},
		Objects:   []v1alpha1.ObjectOutcome{outcome("shop", "old", v1alpha1.OutcomePlanned)},
	})
	of.Status.Plan = &v1alpha1.WaitingPlan{PlanRef: v1alpha1.PlanRef{Run: run.Name, Hash: "1234"}, Objects: 1, ExpirationTime: until}
	must(t, c.Status().Update(t.Context(), of))
	return run
}

// TestPlans approves one plan and rejects another.
func TestPlans(t *testing.T) {
	c := admin(t)
	of := cleaner(t, c, namespace(t, c), nil)
	run, second := planned(t, c, of, 0), planned(t, c, of, time.Hour)
	v := visit(t, env.Config)
	var listed Page[Plan]
	v.wants(http.StatusOK, http.MethodGet, "plans?cleaner="+of.Name, nil, &listed)
	if listed.Total != 2 || listed.Items[0].Run != second.Name || listed.Items[0].VolumeBytes != 5 || !listed.Items[1].Decide.Allowed {
		t.Errorf("the plans are %+v", listed)
	}
	var summary Summary
	v.wants(http.StatusOK, http.MethodGet, "summary", nil, &summary)
	if len(summary.Attention) == 0 || summary.Attention[0].Level != levelWaiting ||
		!strings.HasPrefix(summary.Attention[0].Message, "a plan of 1 object waits for approval until ") {
		t.Errorf("what needs a person is %+v", summary.Attention)
	}
	path := "plans/" + run.Name
	for status, given := range map[int]PlanDecision{
		http.StatusBadRequest: {Reason: "of no plan"}, http.StatusConflict: {Hash: "another", Reason: "of another plan"},
	} {
		v.wants(status, http.MethodPost, path+"/approve", given, nil)
	}
	v.wants(http.StatusBadRequest, http.MethodPost, path+"/reject", PlanDecision{Hash: "1234", Reason: " "}, nil)
	var decided Decided
	v.wants(http.StatusOK, http.MethodPost, path+"/approve", PlanDecision{Hash: "1234", Reason: "old enough"}, &decided)
	v.wants(http.StatusOK, http.MethodPost, "plans/"+second.Name+"/reject", PlanDecision{Hash: "1234", Reason: "in use"}, nil)
	if want := (Decided{run.Name, of.Name, v1alpha1.DecisionApprove, "admin"}); decided != want {
		t.Errorf("it answered %+v", decided)
	}
	var said v1alpha1.CleanerApproval
	must(t, c.Get(t.Context(), client.ObjectKey{Name: second.Name}, &said))
	want := v1alpha1.CleanerApprovalSpec{
		Cleaner: of.Name, Run: second.Name, PlanHash: "1234", By: "admin", Decision: v1alpha1.DecisionReject, Reason: "in use",
	}
	if said.Spec != want {
		t.Errorf("the rejection is %+v", said.Spec)
	}
	if status, answer := v.ask(http.MethodPost, path+"/approve", PlanDecision{Hash: "1234"}); status != http.StatusConflict ||
		!strings.Contains(answer, "admin has approved the plan of run "+run.Name+" already") {
		t.Errorf("again: %d %s", status, answer)
	}
	if notes := eventsOf(t, c, of); len(notes) > 0 {
		t.Errorf("there are Events: %q", notes)
	}

	run.Status.Phase, run.Status.Message, run.Status.Plan.CarriedOutBy = v1alpha1.RunCompleted, "admin approved it.", "next"
	run.Status.Reason, run.Status.CompletionTime = v1alpha1.ReasonApproved, &nominal
	must(t, c.Status().Update(t.Context(), run))
	var plan Plan
	v.wants(http.StatusOK, http.MethodGet, path, nil, &plan)
	if plan.Waits || plan.CarriedOutBy != "next" || plan.Message != "admin approved it." {
		t.Errorf("the plan is %+v", plan)
	}
	if plan.DecidedWhy != "old enough" {
		t.Errorf("the reason is %q", plan.DecidedWhy)
	}
	if plan.Ended != v1alpha1.ReasonApproved || plan.DecidedBy != "admin" || plan.DecidedAt == nil {
		t.Errorf("who decided, and when, is not said: %+v", plan)
	}
	var detail RunDetail
	v.wants(http.StatusOK, http.MethodGet, "runs/"+run.Name, nil, &detail)
	if waited := detail.Stages[3]; detail.CarriedOutBy != "next" || detail.Stages[4].State != stageNone ||
		waited.Text != "the plan was approved, and another run carries it out" {
		t.Errorf("the run is %+v", detail)
	}
	v.wants(http.StatusConflict, http.MethodPost, path+"/reject", PlanDecision{Hash: "1234", Reason: "too late"}, nil)
	carries := create(t, c, &v1alpha1.CleanerRun{
		ObjectMeta: metav1.ObjectMeta{Name: of.Name + "-carries"},
		Spec: v1alpha1.CleanerRunSpec{
			Cleaner: of.Name, CleanerUID: of.UID, NominalTime: nominal, Trigger: v1alpha1.TriggerApproval, Action: v1alpha1.ActionDelete,
			Plan: &v1alpha1.ApprovedPlan{PlanRef: v1alpha1.PlanRef{Run: run.Name, Hash: "1234"}, By: "admin"},
		},
	})
	v.wants(http.StatusOK, http.MethodGet, "runs/"+carries.Name, nil, &detail)
	if waited := detail.Stages[0]; waited.Name != "Waited for a person" || waited.TookSeconds == nil ||
		waited.Text != "admin approved the plan" || detail.Stages[1].Name != "Waited in the queue" {
		t.Errorf("the run that carries it out is %+v", detail.Stages)
	}

	second.Status.Phase, second.Status.Reason, second.Status.CompletionTime = v1alpha1.RunCompleted, v1alpha1.ReasonPlanNotApproved, &nominal
	second.Status.Plan.Hash = "another"
	must(t, c.Status().Update(t.Context(), second))
	v.wants(http.StatusOK, http.MethodGet, "runs/"+second.Name, nil, &detail)
	if waited := detail.Stages[3]; waited.TookSeconds == nil || waited.Text != "what was said of the plan does not count" {
		t.Errorf("of a decision that does not count: %+v", waited)
	}
	v.wants(http.StatusNotFound, http.MethodGet, "plans/none-1", nil, nil)
}

// TestPlanCountsOnce is of a plan that was carried out: what it matched, the other run matched again.
func TestPlanCountsOnce(t *testing.T) {
	run := func(phase v1alpha1.RunPhase, plan *v1alpha1.RunPlan) RunRow {
		return runRow(&v1alpha1.CleanerRun{
			Spec:   v1alpha1.CleanerRunSpec{NominalTime: nominal},
			Status: v1alpha1.CleanerRunStatus{Phase: phase, Plan: plan, RunCounts: v1alpha1.RunCounts{Matched: 2}},
		})
	}
	for name, test := range map[string]struct {
		runs []RunRow
		want int64
	}{
		"carried out": {[]RunRow{run(v1alpha1.RunCompleted, nil), run(v1alpha1.RunCompleted, &v1alpha1.RunPlan{CarriedOutBy: "next"})}, 2},
		"rejected":    {[]RunRow{run(v1alpha1.RunCompleted, &v1alpha1.RunPlan{})}, 2},
		"waits":       {[]RunRow{run(v1alpha1.RunAwaitingApproval, &v1alpha1.RunPlan{})}, 2},
	} {
		if days := daysOf(test.runs, nominal.Time); len(days) != 1 || days[0].Matched != test.want {
			t.Errorf("%s: %+v", name, days)
		}
	}
}

// TestRunOfAPlanIsComparedWithTheRunBeforeThePlan: the plan itself, and what planned the same meanwhile, are of the same objects.
func TestRunOfAPlanIsComparedWithTheRunBeforeThePlan(t *testing.T) {
	c := admin(t)
	of := cleaner(t, c, namespace(t, c), nil)
	v := visit(t, env.Config)
	ended := func(before time.Duration, name string, result v1alpha1.OutcomeResult) *v1alpha1.CleanerRun {
		return record(t, c, of, before, v1alpha1.CleanerRunStatus{
			Phase: v1alpha1.RunCompleted, Objects: []v1alpha1.ObjectOutcome{outcome("shop", name, result)},
		})
	}
	plan := ended(3*time.Hour, "old", v1alpha1.OutcomePlanned)
	ended(2*time.Hour, "old", v1alpha1.OutcomePlanned)
	carries := create(t, c, &v1alpha1.CleanerRun{
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.RunName(of.Name, nominal.Time)},
		Spec: v1alpha1.CleanerRunSpec{
			Cleaner: of.Name, CleanerUID: of.UID, NominalTime: nominal, Trigger: v1alpha1.TriggerApproval, Action: v1alpha1.ActionDelete,
			Plan: &v1alpha1.ApprovedPlan{PlanRef: v1alpha1.PlanRef{Run: plan.Name, Hash: "1234"}, By: "ann"},
		},
	})
	carries.Status = v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted, Objects: []v1alpha1.ObjectOutcome{outcome("shop", "old", v1alpha1.OutcomeDeleted)}}
	must(t, c.Status().Update(t.Context(), carries))
	var detail RunDetail
	v.wants(http.StatusOK, http.MethodGet, "runs/"+carries.Name, nil, &detail)
	if detail.Before != "" || detail.Plan != plan.Name {
		t.Errorf("the run before is %q, and the plan %q", detail.Before, detail.Plan)
	}
	v.wants(http.StatusNotFound, http.MethodGet, "runs/"+carries.Name+"/diff", nil, nil)
	last := ended(24*time.Hour, "older", v1alpha1.OutcomeDeleted)
	v.wants(http.StatusOK, http.MethodGet, "runs/"+carries.Name, nil, &detail)
	var diff Diff
	v.wants(http.StatusOK, http.MethodGet, "runs/"+carries.Name+"/diff", nil, &diff)
	if detail.Before != last.Name || diff.Before != last.Name || diff.New != 1 || diff.Gone != 1 || diff.Changed != 0 {
		t.Errorf("the run before is %q, and the difference %+v", detail.Before, diff)
	}
}
