// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// conditions sets the matchConditions of the first selector.
func conditions(all ...v1alpha1.MatchCondition) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) { c.Spec.ResourcePolicySet.ResourceSelectors[0].MatchConditions = all }
}

func expression(text, message string) v1alpha1.MatchCondition {
	return v1alpha1.MatchCondition{Name: "condition", Expression: text, Message: message}
}

func numbered(n string) func(*corev1.ConfigMap) {
	return func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"n": n} }
}

func TestConditionsSelect(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("one", numbered("1"))
	b.configMap("two", numbered("2"))
	b.configMap("none")
	run := b.run(b.cleaner(v1alpha1.ActionDelete, conditions(
		v1alpha1.MatchCondition{Name: "has-number", Expression: "has(object.data)", Message: "it has a number"},
		v1alpha1.MatchCondition{Name: "is-two", Expression: "object.data.n == '2'", Message: "which is two"},
	)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 3 objects matched; 1 deleted.")
	if o := run.Status.Objects[0]; o.Name != "two" || o.Message != "it has a number; which is two" {
		t.Fatalf("the object is %+v", o)
	}
	if b.exists("two") || !b.exists("one") || !b.exists("none") {
		t.Fatal("the wrong ConfigMaps are there")
	}
}

// The conditions come first: the script sees only the objects for which they hold.
func TestConditionsBeforeTheScript(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "cm", 212)
	run := b.run(b.cleaner(v1alpha1.ActionScan, conditions(expression("int(object.data.n) > 200", "large")), evaluate(`function evaluate()
  local n = tonumber(obj.data.n)
  if n <= 200 then error("the script was asked about " .. n) end
  return {matching = n % 2 == 0, message = "even"}
end`)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "5 of 212 objects matched.")
	if o := run.Status.Objects[0]; o.Message != "large; even" {
		t.Fatalf("the message is %q", o.Message)
	}
}

// What a condition cannot judge is not evaluated, the others are, and nothing is touched.
func TestConditionThatFailsOnOneObject(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("one", numbered("1"))
	b.configMap("bad")
	run := b.run(b.cleaner(v1alpha1.ActionDelete, conditions(expression("object.data.n == '1'", ""))))
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, "no such key: data", "ConfigMap "+b.namespace+"/bad (1 of 2 objects could not be judged): matchConditions")
	wantOutcome(t, run, "bad", v1alpha1.OutcomeNotEvaluated, "has(")
	wantOutcome(t, run, "one", v1alpha1.OutcomeNotActed)
	b.wantUntouched()
}

// A mistake is said at apply: also a field that the kind does not have, where the cluster knows the kind's schema.
func TestConditionMistakesAreSaidAtApply(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, test := range map[string]struct {
		expression string
		want       []string
	}{
		"syntax":          {"object.data.n ==", []string{"resourceSelectors[0].matchConditions[0] (condition): line 1, column "}},
		"unknown name":    {"objct.data.n == '1'", []string{"undeclared reference to 'objct'"}},
		"no bool":         {"'yes'", []string{"the expression is of type string, but a condition must be true or false"}},
		"mistyped field":  {"object.dat.n == '1'", []string{"undefined field 'dat'", "data"}},
		"mistyped deeper": {"object.metadata.lables.app == 'x'", []string{"undefined field 'lables'", "labels"}},
		"wrong type":      {"object.metadata.generation == 'x'", []string{"no matching overload"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := b.reconcile(b.cleaner(v1alpha1.ActionScan, conditions(expression(test.expression, ""))))
			wantCondition(t, c, v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidExpression, test.want...)
		})
	}
}

// A changed object is judged again by the conditions, too.
func TestConditionsJudgeAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("one", numbered("1"))
	b.beforeFirst("DELETE", "/configmaps/one", func() { edit(b, b.named("one"), numbered("7")) })
	run := b.run(b.cleaner(v1alpha1.ActionDelete, conditions(expression("object.data.n == '1'", ""))))
	wantOutcome(t, run, "one", v1alpha1.OutcomeChanged)
	if !b.exists("one") {
		t.Fatal("it was deleted")
	}
}
