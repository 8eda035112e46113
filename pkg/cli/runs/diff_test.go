// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestBefore: a run that carries out a plan is compared with what ran before the plan was made.
func TestBefore(t *testing.T) {
	at := func(hour int) v1alpha1.CleanerRun {
		due := metav1.Date(2026, 11, 26, hour, 0, 0, 0, time.UTC)
		return v1alpha1.CleanerRun{
			ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.RunName("tidy", due.Time)},
			Spec:       v1alpha1.CleanerRunSpec{Cleaner: "tidy", NominalTime: due},
			Status:     v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted},
		}
	}
	last, plan, same, carries := at(1), at(2), at(3), at(4)
	carries.Spec.Plan = &v1alpha1.ApprovedPlan{PlanRef: v1alpha1.PlanRef{Run: plan.Name}}
	all := []v1alpha1.CleanerRun{carries, same, plan, last}
	for _, test := range []struct{ run, want v1alpha1.CleanerRun }{{carries, last}, {same, plan}, {plan, last}} {
		if got, err := before(&test.run, all); err != nil || got.Name != test.want.Name {
			t.Errorf("before %s is %v, %v; want %s", test.run.Name, got, err, test.want.Name)
		}
	}
	if got, err := before(&carries, all[:3]); err == nil {
		t.Errorf("with no run before the plan it is %s", got.Name)
	}
}
