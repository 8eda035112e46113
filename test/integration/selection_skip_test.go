// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// skips lets a Cleaner leave alone what cannot be judged.
func skips(c *v1alpha1.Cleaner) { c.Spec.OnPartialView = v1alpha1.PartialViewSkip }

// failsOn is a script that fails on the numbers below n, and matches the others.
func failsOn(n int) func(*v1alpha1.Cleaner) {
	return evaluate(fmt.Sprintf(`function evaluate()
  local n = tonumber(obj.data.n)
  if n < %d then return {matching = obj.data.missing.field} end
  return {matching = true, message = "number " .. n}
end`, n))
}

// TestSkipLeavesAloneWhatCannotBeJudged and deals with the others. Everybody can read that.
func TestSkipLeavesAloneWhatCannotBeJudged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "cm", 5)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, failsOn(1), skips, notifying(v1alpha1.NotificationCleanerReport)))
	preview, err := b.runner.Preview(t.Context(), l.now, selector.Observer{})
	must(t, err)
	said := map[string]v1alpha1.OutcomeResult{}
	for _, item := range preview.Items {
		said[item.Name] = item.Result
	}
	if preview.Incomplete != nil || said["cm-0"] != v1alpha1.OutcomeNotEvaluated || said["cm-1"] != v1alpha1.OutcomePlanned {
		t.Fatalf("the preview says %v, and %v", said, preview.Incomplete)
	}
	l.startExecutor()
	l.at(l.first())
	l.finish()
	run := &l.records()[0]
	const skipped = "4 of 5 objects matched; 4 deleted, 1 not judged. Objects that could not be judged were left alone (onPartialView: Skip): resourceSelectors[0]: ConfigMap "
	wantRun(t, run, v1alpha1.ReasonPartiallyFailed, skipped+b.namespace+"/cm-0 (1 of 5 objects could not be judged): evaluate: line 3: ")
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 5, Matched: 4, Acted: 4, Failed: 1})
	wantOutcome(t, run, "cm-0", v1alpha1.OutcomeNotEvaluated, "evaluate: line 3: ")
	wantOutcome(t, run, "cm-1", v1alpha1.OutcomeDeleted)
	b.wantNames("cm-0")
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonPartiallyFailed, skipped)
	if l.now.Status.LastRun.Failed != 1 {
		t.Errorf("status counts %+v", l.now.Status.LastRun.RunCounts)
	}
	if report := b.reported(l.now); len(report.Spec.ResourceInfo) != 4 || !strings.Contains(report.Spec.Message, skipped) {
		t.Errorf("the Report is %+v", report.Spec)
	}
}

// TestSkipIsForFewObjects: one of many that cannot be judged may be odd; when many cannot, the script is wrong.
func TestSkipIsForFewObjects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "cm", 20)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, failsOn(11), skips))
	wantRun(t, run, v1alpha1.ReasonViewIncomplete,
		"Nothing was touched, because the run could not read or judge everything: 11 of 20 objects could not be judged, which is more than onPartialView: Skip leaves alone (10 objects, or 1 % of those that one selector considered); resourceSelectors[0]: ConfigMap ")
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 20, Matched: 9, Skipped: 9, Failed: 11})
	b.wantUntouched()
	run = b.run(b.cleaner(v1alpha1.ActionDelete, failsOn(10), skips))
	wantRun(t, run, v1alpha1.ReasonPartiallyFailed, "10 of 20 objects matched; 10 deleted, 10 not judged.")
}

// TestSkipIsForObjectsOnly: a list that did not come stops the run, and so does a right that is missing.
func TestSkipIsForObjectsOnly(t *testing.T) {
	t.Parallel()
	t.Run("an unknown kind", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.configMaps(b.namespace, "cm", 2)
		run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(kind("", "v1", "ConfigMap", b.namespace), kind("", "v1", "Pood", b.namespace)), failsOn(1), skips))
		wantRun(t, run, v1alpha1.ReasonViewIncomplete, "kind Pood of v1 is not served")
		b.wantUntouched()
	})
	t.Run("events that are lost in the middle", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.configMaps(b.namespace, "cm", 2)
		asked := 0
		b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
			if !strings.HasSuffix(r.URL.Path, "/events") {
				return nil, nil
			}
			if asked++; asked == 1 {
				return nil, nil
			}
			return answer(r, http.StatusInternalServerError, []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":500}`)), nil
		})
		run := b.run(b.cleaner(v1alpha1.ActionDelete, withEvents, evaluate(`function evaluate() return {matching = #events == 0} end`), skips))
		wantRun(t, run, v1alpha1.ReasonViewIncomplete, "resourceSelectors[0]: listing ConfigMap", "includeEvents: listing Event")
		b.wantUntouched()
	})
	t.Run("logs that may not be read", func(t *testing.T) {
		t.Parallel()
		k := newKubelet(t)
		k.pod("one", "app")
		k.logs["one/app"] = lines("x")
		run := k.run(k.cleaner(v1alpha1.ActionDelete, logsOf(v1alpha1.LogSource{}), k.account(may("pods", "list", "get", "delete")), skips))
		wantRun(t, run, v1alpha1.ReasonForbidden, `cannot get resource "pods/log"`)
		k.wantUntouched()
	})
}

// TestSkipOfLogsThatCannotBeRead: a node that does not serve a log holds nobody up.
func TestSkipOfLogsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	k := newKubelet(t)
	k.pod("bad", "app")
	k.pod("good", "app")
	k.logs["bad/app"], k.logs["good/app"] = replies(http.StatusInternalServerError, "broken"), lines()
	run := k.run(k.cleaner(v1alpha1.ActionDelete, logsOf(v1alpha1.LogSource{}), evaluate(`function evaluate() return {matching = #logs < 2} end`), skips))
	wantRun(t, run, v1alpha1.ReasonPartiallyFailed, "1 of 2 objects matched; 0 deleted, 1 being deleted, 1 not judged. ")
	wantOutcome(t, run, "bad", v1alpha1.OutcomeNotEvaluated, "logSource: reading the log of container app: ")
	wantOutcome(t, run, "good", v1alpha1.OutcomeTerminating)
	k.podNamed("bad")
}

// TestSkipOfConditions, in a Transform and in a Scan. What one selector cannot judge is left alone also if another one matches it.
func TestSkipOfConditions(t *testing.T) {
	t.Parallel()
	for _, action := range []v1alpha1.Action{v1alpha1.ActionTransform, v1alpha1.ActionScan} {
		t.Run(string(action), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMap("bad")
			b.configMap("good", numbered("1"))
			all := kind("", "v1", "ConfigMap", b.namespace)
			c := b.cleaner(action, transform(touch), selecting(kind("", "v1", "ConfigMap", b.namespace), all), conditions(expression("object.data.n == '1'", "")), skips)
			run := b.run(c)
			done := map[v1alpha1.Action]string{v1alpha1.ActionTransform: "1 of 4 objects matched; 1 changed, 1 not judged. ", v1alpha1.ActionScan: "1 of 4 objects matched, 1 not judged. "}
			wantRun(t, run, v1alpha1.ReasonPartiallyFailed, done[action], "ConfigMap "+b.namespace+"/bad (1 of 2 objects could not be judged): matchConditions")
			wantOutcome(t, run, "bad", v1alpha1.OutcomeNotEvaluated, "has(")
			if b.named("bad").Data["touched"] != "" {
				t.Fatal("the object was changed that could not be judged")
			}
		})
	}
}

// TestSkipThatWasCutOff: who goes on with the run still knows what could not be judged.
func TestSkipThatWasCutOff(t *testing.T) {
	t.Parallel()
	t.Run("every object", func(t *testing.T) { skipThatWasCutOff(t) })
	t.Run("findings", func(t *testing.T) { skipThatWasCutOff(t, finds(v1alpha1.FindingUnused), maxCount(10)) })
}

func skipThatWasCutOff(t *testing.T, edit ...func(*v1alpha1.Cleaner)) {
	t.Helper()
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", 4)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, append(edit, failsOn(1), skips)...))
	l.startExecutor()
	at := newBarrier(t) // never opened: this operator is no more
	b.holdRequests(at, http.MethodDelete, "/configmaps/old-")
	l.at(l.first())
	at.await(3)
	next := l.successor()
	next.startExecutor()
	run := next.goOn(l.first().Add(time.Minute))
	wantRun(t, run, v1alpha1.ReasonPartiallyFailed, "and the run was resumed. 3 of 4 objects matched; 3 deleted, 1 not judged.")
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 4, Matched: 3, Acted: 3, Failed: 1})
	wantOutcome(t, run, "old-0", v1alpha1.OutcomeNotEvaluated, "evaluate: line 3: ")
	b.wantNames("old-0")
}

// TestSkipDoesNotGoWithAnAggregatedScript, also where the API server does not know that.
func TestSkipDoesNotGoWithAnAggregatedScript(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := unsaved(func(c *v1alpha1.Cleaner) {
		c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{kind("", "v1", "ConfigMap", b.namespace)}
	}, aggregated(`function evaluate() return {resources = {}} end`), skips)
	reason, message, err := b.runner.Check.Validate(t.Context(), c)
	must(t, err)
	if reason != v1alpha1.ReasonInvalidExpression || !strings.Contains(message, "onPartialView: Skip cannot be used with aggregatedSelection") {
		t.Fatalf("%s: %s", reason, message)
	}
}
