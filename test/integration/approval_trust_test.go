// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/controllers"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// TestApprovalThatDoesNotCount: an approval of another plan, and any as long as the API server does not guard approvals, starts
// nothing, and ends the plan: it does not count later either. One that the operator may not read only waits. Status says why.
func TestApprovalThatDoesNotCount(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit func(*v1alpha1.CleanerApproval)
		open bool // the API server takes approvals in any name
		gone bool // the operator may not read approvals
		old  bool // somebody made the approval before there was a plan
		away bool // the policy was changed after somebody made the approval
		text string
	}{
		"of another plan": {
			edit: func(a *v1alpha1.CleanerApproval) { a.Spec.PlanHash = strings.Repeat("0", 32) },
			text: "is not of this plan",
		},
		"that the operator may not read": {gone: true, text: "the operator cannot read CleanerApproval"},
		"without the policy":             {open: true, text: "is missing or not in force: anybody could approve"},
		"older than the run":             {old: true, text: "is older than the run that made the plan"},
		"older than the policy":          {away: true, text: "is not newer than the ValidatingAdmissionPolicy that guards CleanerApprovals, or its binding"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := planned(t, v1alpha1.ActionDelete)
			if test.open {
				l.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
					if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/cleanerapprovals") {
						return answer(r, http.StatusCreated, []byte(`{"apiVersion":"apps.projectsveltos.io/v1alpha1","kind":"CleanerApproval","metadata":{"name":"x"}}`)), nil
					}
					return nil, nil
				})
			}
			if test.gone {
				l.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
					if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/cleanerapprovals/") {
						return answer(r, http.StatusForbidden, []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"no"}`)), nil
					}
					return nil, nil
				})
			}
			edit := test.edit
			if edit == nil {
				edit = func(*v1alpha1.CleanerApproval) {}
			}
			l.decide("alice", v1alpha1.DecisionApprove, edit)
			if test.old {
				l.backdateApproval()
			}
			if test.away {
				l.changePolicyAfterApproval()
			}
			l.clock.Step(time.Minute)
			l.wantEvents("AwaitingApproval", "")
			l.step()
			l.wantActive(time.Time{})
			if test.gone {
				wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "Unknown", v1alpha1.ReasonAwaitingApproval, test.text)
				l.requests.setMeddle(nil)
				l.step()
				l.finish()
				l.wantNames()
				return
			}
			wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonPlanNotApproved,
				"Nothing was touched. The decision of alice is not valid: ", test.text)
			l.wantEvents(v1alpha1.ReasonPlanNotApproved, "The decision of alice is not valid")
			if why := l.now.Status.FailureMessage; l.now.Status.Plan != nil || why == nil || !strings.Contains(*why, "The next run makes a new plan") {
				t.Errorf("the plan waits still, or it is not said what failed: %+v", l.now.Status)
			}
			l.requests.setMeddle(nil)
			l.step()
			l.wantActive(time.Time{})
			l.wantNames("a", "b", "c")
		})
	}
}

// TestLeaderSaysWhetherApprovalsAreGuarded: it proves it at its start, before anybody approves anything.
func TestLeaderSaysWhetherApprovalsAreGuarded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ open, want string }{
		"guarded": {"", "it refused a forged one"},
		"open":    {`{"apiVersion":"apps.projectsveltos.io/v1alpha1","kind":"CleanerApproval","metadata":{"name":"x"}}`, "is missing or not in force: anybody could approve"},
	} {
		t.Run(name, func(t *testing.T) {
			deployed(t)
			l := newBench(t)
			l.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
				if test.open != "" && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/cleanerapprovals") {
					return answer(r, http.StatusCreated, []byte(test.open)), nil
				}
				return nil, nil
			})
			ctx, cancel := context.WithCancel(t.Context())
			log := ""
			sink := funcr.New(func(_, line string) { log += line; cancel() }, funcr.Options{})
			watcher := &controllers.ApprovalWatcher{Journal: l.reconciler.Journal, Clock: l.clock}
			must(t, watcher.Start(logr.NewContext(ctx, sink)))
			if !strings.Contains(log, test.want) {
				t.Errorf("the log is %s", log)
			}
		})
	}
}

// TestApprovalWaitsWhileActingIsOff: what was approved is carried out when runs act again, and not used up by a run that may not.
func TestApprovalWaitsWhileActingIsOff(t *testing.T) {
	t.Parallel()
	l := planned(t, v1alpha1.ActionDelete)
	on := l.reconciler.WhyOff
	l.reconciler.WhyOff = func() string { return "all acting is stopped" }
	l.decide("alice", v1alpha1.DecisionApprove)
	l.clock.Step(time.Minute)
	l.step()
	l.wantActive(time.Time{})
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "Unknown", v1alpha1.ReasonAwaitingApproval, "alice approved the plan", "all acting is stopped")
	l.reconciler.WhyOff = on
	l.step()
	l.finish()
	l.wantNames()
}

// TestRunOfAPlanThatNobodyApproved: a run reads the approval itself. What status says is not enough, and a plan is carried out once.
func TestRunOfAPlanThatNobodyApproved(t *testing.T) {
	t.Parallel()
	l := planned(t, v1alpha1.ActionDelete)
	plan := l.now.Status.Plan.PlanRef
	forged := func() *v1alpha1.CleanerRun {
		l.clock.Step(time.Minute)
		nominal := metav1.NewTime(l.clock.Now().Truncate(time.Second))
		c := l.get(l.now.Name)
		c.Status.ActiveRun = &v1alpha1.ActiveRun{
			Name: v1alpha1.RunName(c.Name, nominal.Time), NominalTime: nominal, Trigger: v1alpha1.TriggerApproval,
			Plan: &v1alpha1.ApprovedPlan{PlanRef: plan, By: "mallory"},
		}
		must(t, l.user.Status().Update(t.Context(), c, client.FieldOwner(v1alpha1.StatusManager)))
		return l.carryOut(t.Context(), run.Request{Cleaner: c.Name, Nominal: nominal.Time, Trigger: v1alpha1.TriggerSchedule})
	}
	wantRun(t, forged(), v1alpha1.ReasonPlanNotApproved, "Nothing was read or touched: nobody has approved the plan of CleanerRun "+plan.Run)
	l.wantNames("a", "b", "c")

	l.now.Status.Plan = &v1alpha1.WaitingPlan{PlanRef: plan}
	l.decide("alice", v1alpha1.DecisionApprove)
	carried := forged()
	wantRun(t, carried, v1alpha1.ReasonCompleted, "3 deleted")
	l.configMap("a")
	wantRun(t, forged(), v1alpha1.ReasonPlanNotApproved, "CleanerRun "+carried.Name+" has carried out the plan")
	l.wantNames("a")
}

// TestApprovedChanges: a plan to change objects shows the changes. An object that would be changed otherwise by then is left alone.
func TestApprovedChanges(t *testing.T) {
	t.Parallel()
	l := planned(t, v1alpha1.ActionTransform, transform(`function transform()
  obj.metadata.annotations = {copied = obj.metadata.labels.test}
  return {resource = obj}
end`))
	first := l.record(l.now.Status.Plan.Run)
	wantRun(t, first, v1alpha1.ReasonAwaitingApproval, "The plan to change 3 objects waits")
	if patch := first.Status.Objects[0].Change; patch != `{"metadata":{"annotations":{"copied":"x"}}}` {
		t.Fatalf("the plan shows the change %s", patch)
	}
	b := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "b"}}
	must(t, l.user.Get(t.Context(), client.ObjectKeyFromObject(b), b))
	edit(l.bench, b, func(cm *corev1.ConfigMap) { cm.Labels["test"] = "other" })
	l.decide("alice", v1alpha1.DecisionApprove)
	l.clock.Step(time.Minute)
	l.step()
	l.finish()
	second := l.record(l.now.Status.LastRun.Name)
	wantRun(t, second, v1alpha1.ReasonCompleted, "3 of 3 objects matched; 2 changed, 1 left alone.")
	wantOutcome(t, second, "b", v1alpha1.OutcomeChanged, "what the run would do to it now is different from what was approved")
	wantOutcome(t, second, "a", v1alpha1.OutcomeTransformed)
}

// TestWhoMayApprove: the API server lets only those approve who have the verb approve on the Cleaner, and each in his own name.
// Nobody changes what he said.
func TestWhoMayApprove(t *testing.T) {
	t.Parallel()
	l := planned(t, v1alpha1.ActionDelete)
	creates := may("cleanerapprovals.apps.projectsveltos.io", "create")
	approves := may("cleaners.apps.projectsveltos.io", "approve")
	notApprover := "may not approve or reject plans of Cleaner"
	for name, test := range map[string]struct {
		rules   []rbacv1.PolicyRule
		edit    func(*v1alpha1.CleanerApproval)
		refused string
	}{
		"who creates only":           {rules: []rbacv1.PolicyRule{creates}, refused: notApprover},
		"who approves":               {rules: []rbacv1.PolicyRule{approves, creates}},
		"who approves this Cleaner":  {rules: []rbacv1.PolicyRule{named(approves, l.now.Name), creates}},
		"who approves other ones":    {rules: []rbacv1.PolicyRule{named(approves, "other"), creates}, refused: notApprover},
		"who edits Cleaners":         {rules: []rbacv1.PolicyRule{mayWriteCleaners, creates}, refused: notApprover},
		"who has all rights on runs": {rules: []rbacv1.PolicyRule{may("cleanerruns.apps.projectsveltos.io", "*"), creates}, refused: notApprover},
		"in another name": {
			rules: []rbacv1.PolicyRule{approves, creates}, refused: "is not the user of this request",
			edit: func(a *v1alpha1.CleanerApproval) { a.Spec.By = "system:admin" },
		},
		"for another Cleaner than the run's": {
			rules: []rbacv1.PolicyRule{approves, creates}, refused: "spec.run is no CleanerRun of spec.cleaner",
			edit: func(a *v1alpha1.CleanerApproval) { a.Spec.Cleaner = "other" },
		},
		"with another name than its run's": {
			rules: []rbacv1.PolicyRule{approves, creates}, refused: "metadata.name and spec.run differ",
			edit: func(a *v1alpha1.CleanerApproval) { a.Name = "another" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			user := l.namespace + "-" + strings.ReplaceAll(name, " ", "-")
			person := l.as(user, test.rules...)
			approval := l.approval(user, v1alpha1.DecisionApprove)
			if test.edit != nil {
				test.edit(approval)
			}
			err := person.Create(t.Context(), approval, client.DryRunAll)
			switch {
			case test.refused == "":
				must(t, err)
			case err == nil || !strings.Contains(err.Error(), test.refused):
				t.Fatalf("the answer is %v, want %q", err, test.refused)
			}
		})
	}
	l.decide("alice", v1alpha1.DecisionReject)
	said := &v1alpha1.CleanerApproval{ObjectMeta: metav1.ObjectMeta{Name: l.now.Status.Plan.Run}}
	must(t, l.user.Get(t.Context(), client.ObjectKeyFromObject(said), said))
	said.Spec.Decision = v1alpha1.DecisionApprove
	if err := l.user.Update(t.Context(), said); err == nil || !strings.Contains(err.Error(), "a CleanerApproval cannot be changed") {
		t.Fatalf("the answer is %v", err)
	}
}
