// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// endless is a pattern that the interpreter cannot be interrupted in: only the end of the process stops it.
const endless = `function evaluate()
  local text = string.rep("a", 30)
  return {matching = string.find(text, string.rep("a?", 30) .. string.rep("a", 30)) ~= nil}
end`

// A Cleaner whose script used up its time three runs in a row is stopped by a condition that says so. A run that was asked for
// and goes well, or a new spec, starts it again.
func TestScheduleStopsWhenScriptsUseUpTheirTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("one", numbered("1"))
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, evaluate(endless)))
	l.startExecutor()
	first := l.first()
	for i := range 3 {
		l.at(first.Add(time.Duration(i) * day))
		l.finish()
		wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonViewIncomplete, "ConfigMap "+b.namespace+"/one (1 of 1 object could not be judged): evaluate: ")
	}
	wantStalled(t, l.now, v1alpha1.ReasonBudgetExhausted, "in the last 3 runs the scripts used up their time or memory")
	l.at(first.Add(10 * day)) // ticks pass
	l.wantActive(time.Time{})
	l.wantNext(time.Time{})
	b.wantUntouched()

	l.ask("now") // a run that was asked for goes all the same
	l.step()
	l.finish()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "False", v1alpha1.ReasonBudgetExhausted, "in the last 4 runs")

	l.change(func(c *v1alpha1.Cleaner) { // a new spec
		c.Spec.ResourcePolicySet.ResourceSelectors[0].Evaluate = `function evaluate() return {matching = false} end`
	})
	l.step()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
}
