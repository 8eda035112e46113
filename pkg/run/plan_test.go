// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// approvedPlan is a plan for some of the ConfigMaps of a situation.
func approvedPlan(action v1alpha1.Action, patch string, names ...string) *journal.Plan {
	record := &v1alpha1.CleanerRun{}
	for _, name := range names {
		victim := journal.Victim{Patch: object.JSON(patch)}
		victim.Kind = object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap")}
		victim.Namespace, victim.Name, victim.UID = "shop", name, types.UID(name)
		record.Status.Objects = append(record.Status.Objects,
			journal.Draft(action, []journal.Victim{victim}, nil)...)
	}
	return journal.PlanOf(record)
}

// planBefore is a plan for ConfigMaps, of which the last is another object now.
func planBefore(names ...string) *journal.Plan {
	record := &v1alpha1.CleanerRun{}
	for i, name := range names {
		victim := journal.Victim{}
		victim.Kind = object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap")}
		victim.Namespace, victim.Name, victim.UID = "shop", name, types.UID(name)
		if i == len(names)-1 {
			victim.UID = "before"
		}
		record.Status.Objects = append(record.Status.Objects,
			journal.Draft(v1alpha1.ActionDelete, []journal.Victim{victim}, nil)...)
	}
	return journal.PlanOf(record)
}

// TestJudgeByAPlan: of what a run would touch, only what is in the approved plan, and changed as it says, is touched. Limits count
// what the run would touch.
func TestJudgeByAPlan(t *testing.T) {
	const notIn = "NotActed: it is not in the approved plan; the next plan has it, if it still matches"
	const again = "Changed: it was deleted and created again since the plan was made; the next plan has it, if it still matches"
	const otherwise = "Changed: what the run would do to it now is different from what was approved; the next plan has it, if it still matches"
	change := func(s *situation) {
		s.action = v1alpha1.ActionTransform
		s.spec.MergePatch = &runtime.RawExtension{Raw: []byte(`{"data":{"k":"new"}}`)}
	}
	for name, c := range map[string]struct {
		edit func(*situation)
		want string
	}{
		"some are in the plan":  {func(s *situation) { s.plan = approvedPlan(s.action, "", "a", "c") }, "a Planned\nb " + notIn + "\nc Planned"},
		"one was created again": {func(s *situation) { s.plan = planBefore("a", "c") }, "a Planned\nb " + notIn + "\nc " + again},
		"an empty plan":         {func(s *situation) { s.plan = approvedPlan(s.action, "") }, "a " + notIn + "\nb " + notIn + "\nc " + notIn},
		"a limit that the plan keeps": {func(s *situation) {
			s.plan = approvedPlan(s.action, "", "a", "c")
			s.spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To[int32](2)}
		}, "a Planned\nb " + notIn + "\nc Planned"},
		"what is protected by now": {func(s *situation) {
			s.plan = approvedPlan(s.action, "", "a", "c")
			s.own = map[string]string{"c": "it is precious"}
		}, "a Planned\nb " + notIn + "\nc Protected: it is precious"},
		"a plan for another action": {func(s *situation) {
			s.plan = approvedPlan(v1alpha1.ActionTransform, "", "a")
		}, "a " + otherwise + "\nb " + notIn + "\nc " + notIn},
		"the same change": {func(s *situation) {
			change(s)
			s.plan = approvedPlan(s.action, `{"data":{"k":"new"}}`, "a", "b", "c")
		}, "a Planned\nb Planned\nc Planned"},
		"another change": {func(s *situation) {
			change(s)
			s.plan = approvedPlan(s.action, `{"data":{"k":"old"}}`, "a", "b", "c")
		}, "a " + otherwise + "\nb " + otherwise + "\nc " + otherwise},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSituation(t)
			c.edit(s)
			d := s.decide()
			if d.incomplete != nil {
				t.Fatal(d.incomplete)
			}
			if got := d.words(); got != c.want {
				t.Errorf("decided:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// TestPlanWordsSayWhatItFrees: who decides about volumes reads how large they are.
func TestPlanWordsSayWhatItFrees(t *testing.T) {
	record := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete}}
	record.Status.Plan = &v1alpha1.RunPlan{Objects: 2, VolumeBytes: 5 << 30}
	of := &task{cleaner: &v1alpha1.Cleaner{}, record: record}
	if got := of.planWords("", nil); !strings.Contains(got, "The plan to delete 2 objects (5Gi of volumes) waits until ") {
		t.Error(got)
	}
}
