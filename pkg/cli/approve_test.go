// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// planned is a run of the Cleaner whose plan to delete the ConfigMaps a and b waits until the hour after nominal.
func (s *site) planned(c *v1alpha1.Cleaner) *v1alpha1.CleanerRun {
	s.Helper()
	planned := func(name, message string) v1alpha1.ObjectOutcome {
		o := outcomeOf(v1alpha1.OutcomePlanned, s.namespace, name, "")
		o.Message, o.PlanHash = message, "hash-of-"+name
		return o
	}
	until := metav1.NewTime(nominal.Add(time.Hour))
	run := s.recordOf(c, 0, v1alpha1.CleanerRunStatus{
		Phase: v1alpha1.RunAwaitingApproval, Reason: v1alpha1.ReasonAwaitingApproval, Message: "It waits.",
		RunCounts: v1alpha1.RunCounts{Considered: 3, Matched: 3, Skipped: 1},
		Plan:      &v1alpha1.RunPlan{Hash: "1234", Objects: 2, VolumeBytes: 5 << 30, ExpirationTime: until},
		Objects: []v1alpha1.ObjectOutcome{
			planned("a", "unused for 30 days"), planned("b", ""), outcomeOf(v1alpha1.OutcomeProtected, s.namespace, "c", "it is protected"),
		},
	})
	c.Status.Plan = &v1alpha1.WaitingPlan{PlanRef: v1alpha1.PlanRef{Run: run.Name, Hash: "1234"}, Objects: 2, ExpirationTime: until}
	must(s.T, s.Status().Update(s.Context(), c))
	return run
}

// end is what the operator writes into the record when somebody has decided.
func (s *site) end(run *v1alpha1.CleanerRun, reason, message, carriedOutBy string) {
	run.Status.Phase, run.Status.Reason, run.Status.Message = v1alpha1.RunCompleted, reason, message
	run.Status.Plan.CarriedOutBy = carriedOutBy
	must(s.T, s.Status().Update(s.Context(), run))
}

const planShown = "plan of run unused-NS-SECONDS of cleaner unused-NS: delete 2 objects (5Gi of volumes). It can be approved until 2026-11-22T04:00:00Z\n\n" +
	"NAMESPACE   KIND   NAME   WHY\nNS   ConfigMap   a   unused for 30 days\nNS   ConfigMap   b   -\n"

const leftAlone = "note: 1 more object would be left alone: kubectl cleaner runs unused-NS-SECONDS\n"

func TestApprove(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	run := s.planned(c)
	shown := strings.Replace(planShown, "2026-11-22T04:00:00Z", nominal.Add(time.Hour).UTC().Format(time.RFC3339), 1)
	asked := leftAlone + "\nApprove this plan, in the name of admin. A run then deletes those of the 2 objects that still match.\nGo on? [y/N] "
	approval := &v1alpha1.CleanerApproval{ObjectMeta: metav1.ObjectMeta{Name: run.Name}}
	there := func() bool {
		err := s.Get(t.Context(), client.ObjectKeyFromObject(approval), approval)
		must(t, client.IgnoreNotFound(err))
		return err == nil
	}

	s.wants(s.answering("n\n", "approve", run.Name), codes.ExitError, shown, asked+"error: the plan was neither approved nor rejected: you did not confirm it   [E-APR-002]\n")
	if there() {
		t.Fatal("the plan was approved without a yes")
	}

	accepts := meanwhile(func(waited int) {
		if waited == 2 {
			s.end(run, v1alpha1.ReasonApproved, "admin approved the plan; CleanerRun next carries it out.", "next")
		}
	})
	s.wants(s.call(t.Context(), accepts, "approve", c.Name, "--yes", "--reason", "checked"), codes.ExitDone, shown, leftAlone+
		"you approved the plan of run unused-NS-SECONDS\nadmin approved the plan; CleanerRun next carries it out.\n"+
		"hint: what it does: kubectl cleaner runs next; to end it before its next object: kubectl cleaner cancel next\n")
	want := v1alpha1.CleanerApprovalSpec{
		Cleaner: c.Name, Run: run.Name, PlanHash: "1234", By: "admin", Decision: v1alpha1.DecisionApprove, Reason: "checked",
	}
	if !there() || approval.Spec != want || len(approval.OwnerReferences) != 1 || approval.OwnerReferences[0].UID != run.UID {
		t.Fatalf("the approval is %+v", approval)
	}
	s.wants(s.call(t.Context(), nil, "reject", run.Name), codes.ExitError, "",
		"error: the plan of run unused-NS-SECONDS does not wait any more: admin approved the plan; CleanerRun next carries it out.\n"+
			"hint: the plans that wait: kubectl cleaner runs --waiting   [E-APR-001]\n")
}

// A script must see that a decision has no effect.
func TestDecisionThatDoesNotCount(t *testing.T) {
	s := newSite(t)
	run := s.planned(s.cleaner())
	shown := strings.Replace(planShown, "2026-11-22T04:00:00Z", nominal.Add(time.Hour).UTC().Format(time.RFC3339), 1)
	refuses := meanwhile(func(waited int) {
		if waited == 2 {
			s.end(run, v1alpha1.ReasonPlanNotApproved, "The decision of admin is not valid.", "")
		}
	})
	s.wants(s.call(t.Context(), refuses, "reject", run.Name, "--yes"), codes.ExitError, shown, leftAlone+
		"you rejected the plan of run unused-NS-SECONDS\nerror: The decision of admin is not valid.\n"+
		"hint: kubectl cleaner doctor looks whether approvals are guarded   [E-APR-003]\n")
}

func TestReject(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	s.wants(s.call(t.Context(), nil, "reject", c.Name), codes.ExitError, "", "error: no plan of cleaner \"unused-NS\" waits for approval\n"+
		"hint: its runs: kubectl cleaner runs unused-NS   [E-APR-001]\n")
	run := s.planned(c)
	shown := strings.Replace(planShown, "2026-11-22T04:00:00Z", nominal.Add(time.Hour).UTC().Format(time.RFC3339), 1)

	// Nobody takes it up: that is no error, and the status may say why.
	s.wants(s.call(t.Context(), meanwhile(nothing), "reject", run.Name, "--yes"), codes.ExitDone, shown, leftAlone+
		"you rejected the plan of run unused-NS-SECONDS\nnote: the operator has not seen it yet; is it running?\n")
	s.wants(s.call(t.Context(), nil, "approve", run.Name, "--yes"), codes.ExitError, shown, leftAlone+
		"error: admin has rejected the plan of run unused-NS-SECONDS already\nhint: what became of it: kubectl cleaner runs unused-NS   [E-APR-001]\n")
	s.wants(s.call(t.Context(), nil, "approve"), codes.ExitUsage, "", "error: kubectl cleaner approve: needs the name of one run or of its Cleaner, and was given 0; kubectl cleaner runs --waiting lists the runs\n"+
		"hint: run: kubectl cleaner approve --help   [E-USE-001]\n")
}

func TestRunsThatWait(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	s.recordOf(c, time.Hour, v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted, Reason: v1alpha1.ReasonCompleted})
	s.wants(s.call(t.Context(), aDayLater, "runs", c.Name, "--waiting"), codes.ExitDone, "", "note: there are no runs whose plan waits for approval\n")
	s.planned(c)
	got := s.call(t.Context(), aDayLater, "runs", c.Name, "--waiting", "-o", "name")
	if lines := strings.Fields(got.out); len(lines) != 1 || got.code != codes.ExitDone {
		t.Fatalf("it printed %q, %q", got.out, got.errOut)
	}
	got = s.call(t.Context(), aDayLater, "runs", c.Name, "--waiting")
	if !strings.Contains(got.out, "AwaitingApproval") {
		t.Fatalf("it printed %q", got.out)
	}
}
