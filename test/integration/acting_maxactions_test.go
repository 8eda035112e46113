// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// F33: a run of any Cleaner that would touch more objects than --max-actions-per-run touches none.
func TestMaxActionsPerRun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		action       v1alpha1.Action
		edit         func(*v1alpha1.Cleaner)
		limit        int
		acts, wanted int64
	}{
		"off":                  {v1alpha1.ActionDelete, evaluate(below(4)), 0, 4, 4},
		"as many as it allows": {v1alpha1.ActionDelete, evaluate(below(4)), 4, 4, 4},
		"one more":             {v1alpha1.ActionDelete, evaluate(below(4)), 3, 0, 4},
		"a Transform":          {v1alpha1.ActionTransform, transform(touch), 3, 0, 4},
		"what a Transform leaves as it is is not touched": {v1alpha1.ActionTransform, mergePatch(`{"data": {"n": "0"}}`), 3, 3, 4},
		"a Scan": {v1alpha1.ActionScan, evaluate(below(4)), 1, 0, 4},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.configMaps(b.namespace, "cm", 4)
			b.runner.Judge.MaxActions = test.limit
			run := b.run(b.cleaner(test.action, test.edit))
			if run.Status.Matched != test.wanted || run.Status.Acted != test.acts {
				t.Fatalf("counts are %+v: %s", run.Status.RunCounts, run.Status.Message)
			}
			if test.acts > 0 || test.action == v1alpha1.ActionScan {
				wantRun(t, run, v1alpha1.ReasonCompleted)
				return
			}
			wantRun(t, run, v1alpha1.ReasonLimitExceeded)
			want := fmt.Sprintf("Nothing was touched: the run would act on 4 objects, and the operator allows %d in one run (--max-actions-per-run): let the Cleaner select less, or, if you want all of them to be touched, raise the flag", test.limit)
			if run.Status.Message != want {
				t.Fatalf("the message is %q, want %q", run.Status.Message, want)
			}
			wantOutcome(t, run, "cm-0", v1alpha1.OutcomeNotActed, "nothing was touched in this run; its message says why")
			b.wantUntouched()
		})
	}
}

// Who looks at the Cleaner sees it too.
func TestMaxActionsInTheStatus(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "cm", 2)
	b.runner.Judge.MaxActions = 1
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.step()
	l.startExecutor()
	l.at(l.first())
	l.finish()
	condition := meta.FindStatusCondition(b.get(l.now.Name).Status.Conditions, v1alpha1.ConditionRunSucceeded)
	if condition == nil || condition.Status != metav1.ConditionFalse || condition.Reason != v1alpha1.ReasonLimitExceeded {
		t.Fatalf("the condition is %+v", condition)
	}
	wantTexts(t, "the condition", condition.Message, "--max-actions-per-run")
}
