// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// failing fails on the objects whose number is in data.n of the given ones, and matches the others' even numbers.
const failing = `function evaluate()
  local n = tonumber(obj.data.n)
  if n == 137 then return {matching = obj.data.missing.field} end
  return {matching = n % 2 == 0, message = "number " .. n}
end`

// Upstream: one script error on one object aborts the run. Required: the object is NotEvaluated; the others are still judged
// and reported; acting follows the complete-view rule. Test: 1 bad object of 212.
func TestScriptErrorOnOneOf212Objects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "cm", 212)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, evaluate(failing), notifying(v1alpha1.NotificationCleanerReport)))
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, "Nothing was touched, because the run could not read or judge everything: resourceSelectors[0]: ConfigMap "+b.namespace+"/cm-137 (1 of 212 objects could not be judged): evaluate: line 3: ")
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 212, Matched: 106, Skipped: 106, Failed: 1})
	wantOutcome(t, run, "cm-137", v1alpha1.OutcomeNotEvaluated, "evaluate: line 3: ")
	wantOutcome(t, run, "cm-210", v1alpha1.OutcomeNotActed, "the run could not read or judge everything")
	for _, o := range b.stored(run).Status.Objects {
		if o.Outcome == v1alpha1.OutcomeNotActed && o.Message != "number "+strings.TrimPrefix(o.Name, "cm-") {
			t.Fatalf("the message of %s is %q", o.Name, o.Message)
		}
	}
	report := b.reported(b.get(run.Spec.Cleaner))
	if n := len(report.Spec.ResourceInfo); n != 106 || !strings.HasPrefix(report.Spec.ResourceInfo[0].Message, "not acted on: number ") {
		t.Fatalf("the Report lists %d objects, the first as %+v", n, report.Spec.ResourceInfo[0])
	}
	b.wantUntouched()
	// A Scan reports what could be judged, and says that it is not all.
	run = b.run(b.cleaner(v1alpha1.ActionScan, evaluate(failing)))
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, "1 of 212 objects")
	wantOutcome(t, run, "cm-210", v1alpha1.OutcomeMatched)
}

// A script that fails on everything is not tried on everything.
func TestScriptThatFailsOnEveryObjectIsGivenUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "cm", 150)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, evaluate(`function evaluate() return {matching = obj.nothing.there} end`)))
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, "100 objects in a row could not be judged, the last one was ConfigMap "+b.namespace)
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 100, Failed: 100})
	b.wantUntouched()
}

// The aggregated script is not called when a selector failed: it would take the missing objects for none.
func TestAggregatedScriptIsNotCalledWhenASelectorFailed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.configMap("unused")
	b.configMap("used")
	b.pod("user", "used")
	failingSelector := kind("", "v1", "Pod", b.namespace)
	failingSelector.Evaluate = `function evaluate() error("no Pod today") end`
	for name, selector := range map[string]v1alpha1.ResourceSelector{
		"unknown kind": kind("", "v1", "Pood", b.namespace), "script error": failingSelector,
	} {
		t.Run(name, func(t *testing.T) {
			c := b.cleaner(v1alpha1.ActionDelete, selecting(kind("", "v1", "ConfigMap", b.namespace), selector),
				aggregated(`function evaluate() error("the aggregated script was called") end`))
			run := b.run(c)
			wantRun(t, run, v1alpha1.ReasonViewIncomplete, "resourceSelectors[1]: ")
			if strings.Contains(run.Status.Message, "aggregated") || run.Status.Matched != 0 {
				t.Fatalf("the aggregated script was called: %s", run.Status.Message)
			}
			b.wantUntouched()
		})
	}
}

// Upstream: duplicates are processed twice. Required: one action per UID; first message kept. Test: overlapping selectors.
func TestOverlappingSelectorsActOncePerUID(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("mine", stale)
	var selectors []v1alpha1.ResourceSelector
	for i := range 3 {
		s := kind("", "v1", "ConfigMap", b.namespace)
		s.Evaluate = fmt.Sprintf(`function evaluate() return {matching = true, message = "selector %d"} end`, i)
		selectors = append(selectors, s)
	}
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(selectors...)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 deleted")
	if n := b.requests.count("DELETE", "/mine"); n != 1 || len(run.Status.Objects) != 1 || run.Status.Objects[0].Message != "selector 0" {
		t.Fatalf("%d deletes, the record says %+v", n, run.Status.Objects)
	}
}

// A CRD-backed kind works: the server lists it with its keys in an order of its own.
func TestCustomKindIsSelected(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.widget("old", `{"stale": true}`)
	b.widget("used", `{"stale": false}`)
	selector := kind(widgetGroup, "v1", "Widget", b.namespace)
	selector.Evaluate = `function evaluate() return {matching = obj.spec.stale, message = obj.kind .. " of " .. obj.apiVersion} end`
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(selector)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 2 objects matched; 1 deleted")
	wantOutcome(t, run, "old", v1alpha1.OutcomeDeleted)
	if got := run.Status.Objects[0].Message; got != "Widget of "+widgetGroup+"/v1" {
		t.Fatalf("the message is %q", got)
	}
}

// Objects of a built-in kind have no kind and apiVersion in a list; scripts see them all the same.
func TestScriptSeesKindAndVersion(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("mine", func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"a": "1"} })
	run := b.run(b.cleaner(v1alpha1.ActionScan, evaluate(`function evaluate() return {matching = true, message = obj.kind .. " of " .. obj.apiVersion} end`)))
	if got := run.Status.Objects[0].Message; got != "ConfigMap of v1" {
		t.Fatalf("the message is %q", got)
	}
}
