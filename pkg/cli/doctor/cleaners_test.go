// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// A Cleaner need not be wrong when it does not run: the way out says where to look.
func TestWaysOutOfNotReady(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		v1alpha1.ReasonInvalidExpression:       "kubectl edit cleaner a",
		v1alpha1.ReasonServiceAccountForbidden: "see the check rights",
		v1alpha1.ReasonCRDOutdated:             "do not edit the Cleaner",
	} {
		c := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
		c.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason}}
		if line, wrong := notReady(c, time.Now()); !wrong || !strings.Contains(line.WayOut, want) {
			t.Errorf("%s: the way out is %q, want %q", reason, line.WayOut, want)
		}
	}
}

// A suspended Cleaner is not among those whose schedules fire.
func TestSuspendedSchedulesDoNotFire(t *testing.T) {
	t.Parallel()
	p := &patient{there: time.Now(), cleaners: make([]v1alpha1.Cleaner, 3)}
	for i := range p.cleaners {
		p.cleaners[i].Spec.Schedule = "@daily"
	}
	p.cleaners[0].Spec.Suspend = ptr.To(true)
	lines, well := p.schedules(t.Context())
	if want := "2 schedules can be read and fire; suspended, and so not run: 1 Cleaner"; len(lines) > 0 || well != want {
		t.Errorf("it says %v %q, want %q", lines, well, want)
	}
}

// A schedule that the operator refuses is one cause, and the check cleaners tells it.
func TestRefusedScheduleIsToldOnce(t *testing.T) {
	c := v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{Schedule: "0 0 30 2 *"}}
	p := &patient{cleaners: []v1alpha1.Cleaner{c, c}}
	p.cleaners[1].Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonInvalidSchedule},
	}
	lines, well := p.schedules(t.Context())
	if want := "1 schedule can be read and fire; refused, see the check cleaners: 1 Cleaner"; len(lines) != 1 || well != want {
		t.Errorf("%d lines, %s", len(lines), well)
	}
}

// Another controller that writes the status is one cause, and the check k8s-cleaner tells it.
func TestForeignControllerIsToldOnce(t *testing.T) {
	t.Parallel()
	now := time.Now()
	wrote := []metav1.ManagedFieldsEntry{{Manager: "manager", Subresource: "status", Time: ptr.To(metav1.NewTime(now))}}
	is := func(kind, reason string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason}
	}
	foreign := is(v1alpha1.ConditionReady, v1alpha1.ReasonForeignController)
	stopped := is(v1alpha1.ConditionRunSucceeded, v1alpha1.ReasonForeignController)
	for name, test := range map[string]struct {
		writers        []metav1.ManagedFieldsEntry
		conditions     []metav1.Condition
		cleaners, runs string
	}{
		"it waits":               {wrote, []metav1.Condition{foreign, stopped}, "", ""},
		"all was overwritten":    {wrote, nil, "", ""},
		"the expression, too":    {wrote, []metav1.Condition{is(v1alpha1.ConditionReady, v1alpha1.ReasonInvalidExpression)}, "kubectl edit cleaner a", "overdue"},
		"a run that failed, too": {wrote, []metav1.Condition{foreign, is(v1alpha1.ConditionRunSucceeded, v1alpha1.ReasonLimitExceeded)}, "", "LimitExceeded"},
		"it was, and is over":    {nil, []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}, stopped}, "", "overdue"},
		"the reason stays":       {nil, []metav1.Condition{is(v1alpha1.ConditionReady, v1alpha1.ReasonUnknownKind), is(v1alpha1.ConditionRunSucceeded, v1alpha1.ReasonUnknownKind)}, "kubectl edit cleaner a", "overdue"},
		"nobody looked again":    {nil, []metav1.Condition{foreign}, "see the checks operator and leader", "overdue"},
	} {
		c := v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: "a", ManagedFields: test.writers}}
		c.Spec.Action = ptr.To(v1alpha1.ActionScan)
		c.Status.Conditions, c.Status.NextScheduleTime = test.conditions, ptr.To(metav1.NewTime(now.Add(-time.Hour)))
		p := &patient{there: now, all: []v1alpha1.Cleaner{c}, cleaners: []v1alpha1.Cleaner{c}}
		if lines, _ := p.legacy(t.Context()); (len(lines) == 1) != (test.writers != nil) {
			t.Errorf("%s: the check k8s-cleaner says %v", name, lines)
		}
		lines, well := p.ready(t.Context())
		if !saysOnly(lines, test.cleaners) || test.writers != nil && test.cleaners == "" && well != "0 Cleaners without a problem; stopped because another controller writes their status (see the check k8s-cleaner): 1 Cleaner" {
			t.Errorf("%s: the check cleaners says %v %q, want %q", name, lines, well, test.cleaners)
		}
		if lines, _ := p.runsOf(t.Context()); !saysOnly(lines, test.runs) {
			t.Errorf("%s: the check runs says %v, want %q", name, lines, test.runs)
		}
	}
}

// saysOnly reports whether there is one line, and it has the words; or none, for no words.
func saysOnly(lines []Line, words string) bool {
	if words == "" {
		return len(lines) == 0
	}
	return len(lines) == 1 && strings.Contains(lines[0].words(), words)
}
