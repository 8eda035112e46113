// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func TestInvalidSchedules(t *testing.T) {
	t.Parallel()
	for schedule, want := range map[string]string{
		"TZ=0":                      `schedule "TZ=0" is in time zone "0", which cannot be loaded`,
		"TZ=Europe/Rome":            `has no fields; write five`,
		"0 0 30 2 *":                `schedule "0 0 30 2 *" never fires: no month that it names has such a day; change day-of-month or month`,
		"at three":                  `has 2 fields; write five (minute hour day-of-month month day-of-week), or six with seconds first`,
		"61 * * * *":                `has the minute "61", which is not valid`,
		"@fortnightly":              `is not a known word`,
		"@every 10ms":               `has an interval of 10ms, which is too short`,
		"TZ=Europe/Nice 0 3 * * *":  `is in time zone "Europe/Nice", which cannot be loaded`,
		"CRON_TZ=Local 0 3 * * *":   `which depends on the machine`,
		"0 3 * * * * * * * * * * *": `has 13 fields`,
	} {
		t.Run(schedule, func(t *testing.T) {
			b := newBench(t)
			l := b.follow(b.cleaner(v1alpha1.ActionScan, scheduled(schedule)))
			l.step()
			wantStalled(t, l.now, v1alpha1.ReasonInvalidSchedule, want)
			l.wantNext(time.Time{})
			l.wantActive(time.Time{})
			if l.now.Status.Schedule != "" || l.now.Status.ObservedGeneration != l.now.Generation {
				t.Fatalf("the status is %+v", l.now.Status)
			}
			l.clock.SetTime(l.first().Add(time.Hour))
			l.change(scheduled("0 3 * * *"))
			l.step()
			wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled, "every day at 03:00 UTC")
			wantNotStalled(t, l.now)
			l.wantActive(time.Time{}) // what passed while it was not valid is not made up for
			l.wantNext(l.first().Add(day))
		})
	}
}

// TestScheduleThatBecomesInvalid stops running, and says nothing of the past.
func TestScheduleThatBecomesInvalid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	l.step()
	l.change(scheduled("0 0 30 2 *"))
	l.at(l.first().Add(time.Minute))
	l.wantNext(time.Time{})
	l.wantActive(time.Time{})
	wantCondition(t, l.now, v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidSchedule)
	if l.now.Status.Schedule != "" {
		t.Fatalf("status.schedule is %q", l.now.Status.Schedule)
	}
}

// TestInvalidExpressions are reported all at once: each with its field, line, column and the text of the line.
func TestInvalidExpressions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionTransform,
		evaluate("function evaluate()\n  if obj.data.a = 1 then\n  end\nend"),
		aggregated("function evaluate()\n  return {resources = {}\nend"),
		transform("function transform(\n"),
		func(c *v1alpha1.Cleaner) {
			good := c.Spec.ResourcePolicySet.ResourceSelectors[0]
			good.Evaluate = matchStale
			bad := good
			bad.Evaluate = "function evaluate() retrun true end"
			c.Spec.ResourcePolicySet.ResourceSelectors = append(c.Spec.ResourcePolicySet.ResourceSelectors, good, bad)
		}))
	l.step()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidExpression,
		"resourceSelectors[0].evaluate: line 2", "if obj.data.a = 1 then",
		"resourceSelectors[2].evaluate: line 1", "retrun true",
		"aggregatedSelection: line 3", "transform: line ")
	wantCondition(t, l.now, v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidExpression, ", column ")
	l.wantNext(time.Time{})
	l.at(l.first().Add(time.Minute))
	l.wantActive(time.Time{})

	l.change(func(c *v1alpha1.Cleaner) {
		c.Spec.ResourcePolicySet.ResourceSelectors = c.Spec.ResourcePolicySet.ResourceSelectors[1:2]
		c.Spec.ResourcePolicySet.AggregatedSelection = ""
		c.Spec.Transform = "function transform() return {resource = obj} end"
	})
	l.step()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	l.wantActive(time.Time{})
	l.wantNext(l.first().Add(day))
}

// TestScriptThatBecomesInvalidDuringARun ends the run as it began; then nothing runs.
func TestScriptThatBecomesInvalidDuringARun(t *testing.T) {
	t.Parallel()
	at := newBarrier(t)
	b := newBench(t, at.atBeginning)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.startExecutor()
	l.at(l.first())
	at.await(1)
	l.change(evaluate("function evaluate("))
	l.step()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidExpression)
	at.open()
	l.finish()
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed, "resourceSelectors[0].evaluate: line 1")
	l.wantActive(time.Time{})
	if !b.exists("old") {
		t.Fatal("a script that does not compile deleted something")
	}
}

// TestUnknownKindIsLookedForAgain: the kind may come later, and then the Cleaner is ready by itself.
func TestUnknownKindIsLookedForAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan, edited(func(s *v1alpha1.ResourceSelector) { s.Kind = "ConfigMops" })))
	l.step()
	wantStalled(t, l.now, v1alpha1.ReasonUnknownKind, "ConfigMap")
	l.wantRequeue(15 * time.Second)
	l.wantNext(time.Time{})
}

// TestKindThatMayComeDoesNotStall: a CustomResourceDefinition may bring a kind of a group with a dot, and no other.
func TestKindThatMayComeDoesNotStall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan, selecting(kind("", "v1", "ConfigMap", ""), kind("cert-manager.io", "v1", "Certificate", ""))))
	l.step()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "False", v1alpha1.ReasonUnknownKind, "is its CustomResourceDefinition installed?")
	wantNotStalled(t, l.now)
}
