// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/controllers"
)

// TestApprovedPlan: a run of a Cleaner that needs approval touches nothing. The run that carries out its plan touches what is in
// the plan and still matches, and nothing else.
func TestApprovedPlan(t *testing.T) {
	t.Parallel()
	l := planned(t, v1alpha1.ActionDelete, notifying(v1alpha1.NotificationCleanerReport))
	plan := *l.now.Status.Plan
	first := l.record(plan.Run)
	until := plan.ExpirationTime.UTC().Format(time.RFC3339)
	wantRun(t, first, v1alpha1.ReasonAwaitingApproval, "3 of 3 objects matched; nothing was touched. The plan to delete 3 objects waits until "+until+
		" for a person who approves it: kubectl cleaner approve "+plan.Run+".")
	if first.Status.Plan.Hash != plan.Hash || plan.Objects != 3 || first.Status.Acted != 0 || first.Status.Copies != nil || first.Status.Intent != nil {
		t.Fatalf("the plan is %+v, and the record says %+v", plan, first.Status)
	}
	wantOutcome(t, first, "a", v1alpha1.OutcomePlanned)
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "Unknown", v1alpha1.ReasonAwaitingApproval, first.Status.Message)
	if l.now.Status.FailureMessage != nil || l.now.Status.ActiveRun != nil || len(reportedNames(l.reported(l.now))) != 3 {
		t.Fatalf("the status is %+v", l.now.Status)
	}
	l.wantNames("a", "b", "c")
	l.step()
	l.wantActive(time.Time{})

	l.configMap("d") // came after the plan
	b := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "b"}}
	must(t, l.user.Get(t.Context(), client.ObjectKeyFromObject(b), b))
	edit(l.bench, b, func(cm *corev1.ConfigMap) { delete(cm.Labels, "test") })
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "c"}}
	must(t, l.user.Delete(t.Context(), c))
	l.configMap("c")
	l.decide("alice", v1alpha1.DecisionApprove, func(a *v1alpha1.CleanerApproval) { a.Spec.Reason = "Checked with shop." })
	l.wantWoken()
	l.clock.Step(time.Minute)
	l.events.take()
	l.step()
	l.wantEvents(v1alpha1.ReasonApproved, "alice approved the plan of CleanerRun "+first.Name+". Checked with shop.")
	l.finish()
	second := l.record(l.now.Status.LastRun.Name)
	wantRun(t, second, v1alpha1.ReasonCompleted, "3 of 3 objects matched; 1 deleted, 2 left alone. 1 object of the plan did not exist or did not match any more.")
	wantOutcome(t, second, "b", v1alpha1.OutcomeChanged, "it is in the approved plan, and is gone or does not match any more")
	wantOutcome(t, second, "c", v1alpha1.OutcomeChanged, "it was deleted and created again since the plan was made")
	wantOutcome(t, second, "d", v1alpha1.OutcomeNotActed, "it is not in the approved plan")
	if n := len(second.Status.Objects); n != 4 {
		t.Errorf("%d objects are listed: %+v", n, second.Status.Objects)
	}
	l.wantNames("b", "c", "d")
	if second.Spec.Trigger != v1alpha1.TriggerApproval || second.Spec.Plan == nil || second.Spec.Plan.By != "alice" || second.Spec.Plan.Run != first.Name {
		t.Fatalf("the second run is %+v", second.Spec)
	}
	l.wantEnded(first.Name, v1alpha1.ReasonApproved, "alice approved the plan (Checked with shop.); CleanerRun "+second.Name+" carries it out.")
	if by := l.record(first.Name).Status.Plan.CarriedOutBy; by != second.Name {
		t.Fatalf("the plan was carried out by %q", by)
	}
	l.step()
	l.wantActive(time.Time{})
}

// allCleaners lists the Cleaners as the manager's cache does, and those that the watcher is not about besides.
func allCleaners(c client.Reader) controllers.Cleaners {
	return func(ctx context.Context) ([]v1alpha1.Cleaner, error) {
		var list v1alpha1.CleanerList
		err := c.List(ctx, &list)
		return list.Items, err
	}
}

// wantWoken fails the test unless whoever looks for approvals has the Cleaner looked at, once.
func (l *life) wantWoken() {
	l.t.Helper()
	woken := 0
	watcher := &controllers.ApprovalWatcher{
		WithPlan: allCleaners(l.user), Live: l.user, Journal: l.reconciler.Journal, Clock: l.clock,
		Wake: func(name string) {
			if name == l.now.Name {
				woken++
			}
		},
	}
	watcher.Look(l.t.Context())
	watcher.Look(l.t.Context())
	if woken != 1 {
		l.t.Fatalf("the Cleaner was woken %d times", woken)
	}
}

// TestPlanThatIsNotCarriedOut: a plan ends when it is rejected, when its time is over, and when the Cleaner is edited. Nothing is
// touched then, and the schedule goes on.
func TestPlanThatIsNotCarriedOut(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do     func(l *life)
		reason string
		texts  []string
	}{
		"rejected": {func(l *life) {
			l.decide("bob", v1alpha1.DecisionReject, func(a *v1alpha1.CleanerApproval) { a.Spec.Reason = "We still need them." })
		}, v1alpha1.ReasonRejected, []string{"bob rejected the plan of CleanerRun RUN. Nothing was touched. We still need them."}},
		"rejected without a reason": {func(l *life) { l.decide("bob", v1alpha1.DecisionReject) }, v1alpha1.ReasonRejected, []string{"No reason was given."}},
		"edited":                    {func(l *life) { l.change(func(c *v1alpha1.Cleaner) { c.Spec.Schedule = "0 4 * * *" }) }, v1alpha1.ReasonSuperseded, []string{"Nothing was touched, because the Cleaner was edited after the plan was made."}},
		"not needed any more":       {func(l *life) { l.change(func(c *v1alpha1.Cleaner) { c.Spec.Approval = nil }) }, v1alpha1.ReasonSuperseded, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := planned(t, v1alpha1.ActionDelete)
			run := l.now.Status.Plan.Run
			l.events.take()
			test.do(l)
			l.step()
			for i, text := range test.texts {
				test.texts[i] = strings.ReplaceAll(text, "RUN", run)
			}
			l.wantEnded(run, test.reason, test.texts...)
			if test.reason == v1alpha1.ReasonRejected {
				l.wantEvents(test.reason, test.texts[0])
			}
			wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", test.reason, l.record(run).Status.Message)
			l.wantActive(time.Time{})
			l.wantNames("a", "b", "c")
		})
	}
}

// TestPlanExpires: a plan that nobody approved in time is over, and an approval after that does not count.
func TestPlanExpires(t *testing.T) {
	t.Parallel()
	l := planned(t, v1alpha1.ActionDelete)
	plan := *l.now.Status.Plan
	left := plan.ExpirationTime.Sub(l.clock.Now())
	l.step()
	if l.again > left {
		t.Fatalf("the Cleaner is looked at again after %s, and the plan expires after %s", l.again, left)
	}
	l.clock.SetTime(plan.ExpirationTime.Time)
	l.step()
	text := "Nothing was touched, because nobody approved the plan before " + plan.ExpirationTime.UTC().Format(time.RFC3339)
	l.wantEnded(plan.Run, v1alpha1.ReasonExpired, text)
	l.wantEvents(v1alpha1.ReasonAwaitingApproval, "", v1alpha1.ReasonExpired, text)
	l.wantNames("a", "b", "c")
}

// TestNewerPlan: the plan of a newer run takes the place of an older one, unless it is the same; then the older one goes on
// waiting, so that who is about to approve it need not begin again.
func TestNewerPlan(t *testing.T) {
	t.Parallel()
	l := planned(t, v1alpha1.ActionDelete)
	plan := *l.now.Status.Plan
	next := func(value string) string {
		l.clock.Step(time.Minute)
		l.ask(value)
		l.step()
		l.finish()
		return l.now.Status.LastRun.Name
	}
	same := next("once")
	if l.now.Status.Plan == nil || l.now.Status.Plan.Run != plan.Run {
		t.Fatalf("the same plan replaced the older one: %+v", l.now.Status.Plan)
	}
	l.wantEnded(same, v1alpha1.ReasonSuperseded, "The same plan waits already", "kubectl cleaner approve "+plan.Run)

	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "Unknown", v1alpha1.ReasonAwaitingApproval, "kubectl cleaner approve "+plan.Run)

	l.configMap("d")
	newer := next("twice")
	l.wantEnded(plan.Run, v1alpha1.ReasonSuperseded, "CleanerRun "+newer+" judged everything again")
	if l.now.Status.Plan == nil || l.now.Status.Plan.Run != newer || l.now.Status.Plan.Objects != 4 {
		t.Fatalf("the plan is %+v", l.now.Status.Plan)
	}
	l.decide("alice", v1alpha1.DecisionApprove)
	l.clock.Step(time.Minute)
	l.step()
	l.finish()
	l.wantNames()
}

// TestApprovedMeanwhile: a plan that is approved while another run judges is carried out, although that run makes another plan.
func TestApprovedMeanwhile(t *testing.T) {
	t.Parallel()
	l := planned(t, v1alpha1.ActionDelete)
	plan := *l.now.Status.Plan
	l.configMap("d")
	l.clock.Step(time.Minute)
	l.ask("now")
	l.step()
	l.waitFinished(l.now)
	l.decide("alice", v1alpha1.DecisionApprove)
	l.clock.Step(time.Minute)
	l.step()
	newer := l.records()[1]
	if newer.Status.Reason != v1alpha1.ReasonSuperseded {
		t.Fatalf("the newer run is %s: %s", newer.Status.Reason, newer.Status.Message)
	}
	wantTexts(t, "its message", newer.Status.Message, "alice approved the plan of CleanerRun "+plan.Run+" meanwhile.")
	l.finish()
	l.wantEnded(plan.Run, v1alpha1.ReasonApproved)
	l.wantNames("d")
}

// TestApprovedRunThatDoesNotBegin: a plan that its run did not carry out does not wait for ever, and is not approved again by itself.
func TestApprovedRunThatDoesNotBegin(t *testing.T) {
	t.Parallel()
	l := planned(t, v1alpha1.ActionDelete)
	run := l.now.Status.Plan.Run
	l.decide("alice", v1alpha1.DecisionApprove)
	l.clock.Step(time.Minute)
	l.change(func(c *v1alpha1.Cleaner) {
		c.Annotations = map[string]string{v1alpha1.CancelRunAnnotation: v1alpha1.RunName(c.Name, l.clock.Now().Truncate(time.Second))}
	})
	l.step()
	l.finish()
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonCancelled)
	l.wantEnded(run, v1alpha1.ReasonSuperseded, "alice approved the plan, but CleanerRun", "did not carry it out")
	l.clock.Step(time.Minute)
	l.step()
	l.wantActive(time.Time{})
	l.wantNames("a", "b", "c")
}

// TestPlanOfAnEditedCleaner: a plan by a spec that was edited while the run judged is not offered to anybody.
func TestPlanOfAnEditedCleaner(t *testing.T) {
	t.Parallel()
	l := planned(t, v1alpha1.ActionDelete)
	l.configMap("d") // so that the plan is another one
	l.clock.Step(time.Minute)
	l.ask("now")
	l.step()
	l.waitFinished(l.now)
	l.change(func(c *v1alpha1.Cleaner) { c.Spec.Schedule = "0 4 * * *" })
	l.step()
	l.wantEnded(l.now.Status.LastRun.Name, v1alpha1.ReasonSuperseded, "the Cleaner was edited after the plan was made")
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonSuperseded, "the Cleaner was edited after the plan was made")
	if l.now.Status.Plan != nil {
		t.Fatalf("the plan %+v waits", l.now.Status.Plan)
	}
}
