// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

func planVictim(edit ...func(*Victim)) Victim {
	v := Victim{Candidate: stage.Candidate{Object: object.Object{
		Kind:      object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}},
		Namespace: "shop", Name: "web", UID: "1",
	}}, Patch: object.JSON(`{"spec":{"replicas":0}}`)}
	for _, e := range edit {
		e(&v)
	}
	return v
}

// TestPlannedHash: whatever differs in what is done to which object makes another hash; what does not matter, does not.
func TestPlannedHash(t *testing.T) {
	base := planVictim()
	want := PlannedHash(v1alpha1.ActionTransform, &base)
	others := map[string]string{"another action": PlannedHash(v1alpha1.ActionDelete, &base)}
	for name, edit := range map[string]func(*Victim){
		"another group":     func(v *Victim) { v.Kind.Group = "extensions" },
		"another kind":      func(v *Victim) { v.Kind.Kind = "StatefulSet" },
		"another namespace": func(v *Victim) { v.Namespace = "shopw" },
		"moved text":        func(v *Victim) { v.Namespace, v.Name = "shopw", "eb" },
		"another name":      func(v *Victim) { v.Name = "web2" },
		"created again":     func(v *Victim) { v.UID = "2" },
		"another change":    func(v *Victim) { v.Patch = object.JSON(`{"spec":{"replicas":1}}`) },
		"no change":         func(v *Victim) { v.Patch = nil },
	} {
		v := planVictim(edit)
		others[name] = PlannedHash(v1alpha1.ActionTransform, &v)
	}
	seen := map[string]string{want: "the same"}
	for name, hash := range others {
		if before, is := seen[hash]; is {
			t.Errorf("%s has the hash of %s", name, before)
		}
		seen[hash] = name
	}
	for name, edit := range map[string]func(*Victim){
		"another version of the kind": func(v *Victim) { v.Kind.Version = "v2" },
		"another message":             func(v *Victim) { v.Message = "idle for 31 days" },
		"another resourceVersion":     func(v *Victim) { v.ResourceVersion = "7" },
	} {
		if v := planVictim(edit); PlannedHash(v1alpha1.ActionTransform, &v) != want {
			t.Errorf("%s makes another hash", name)
		}
	}
}

// TestPlanHash: the order of the objects does not matter, and each object does.
func TestPlanHash(t *testing.T) {
	entries := []v1alpha1.ObjectOutcome{{PlanHash: "a"}, {PlanHash: "b"}, {PlanHash: "c"}}
	want := PlanHash(entries)
	slices.Reverse(entries)
	if got := PlanHash(entries); got != want {
		t.Errorf("the order makes another hash: %s, %s", got, want)
	}
	if PlanHash(entries[1:]) == want || PlanHash(append(entries, v1alpha1.ObjectOutcome{PlanHash: "a"})) == want {
		t.Error("a plan with fewer or more objects has the same hash")
	}
}

// TestDraft: a plan lists all that it holds, within its budget, and says nothing of what Secrets hold.
func TestDraft(t *testing.T) {
	var victims []Victim
	for i := range 5_000 {
		victims = append(victims, planVictim(func(v *Victim) {
			v.UID, v.Name, v.Message = types.UID(fmt.Sprint(i)), fmt.Sprintf("web-%d", i), strings.Repeat("m", 4_000)
		}))
	}
	entries := Draft(v1alpha1.ActionTransform, victims, func(text string) string { return strings.ToUpper(text) })
	size := 0
	for i := range entries {
		size += entries[i].Size()
	}
	if size > maxPlanBytes || size < maxPlanBytes/2 || entries[0].Change != `{"SPEC":{"REPLICAS":0}}` || len(entries[0].Message) > maxPlanText {
		t.Fatalf("%d entries take %d bytes; the first is %+v", len(entries), size, entries[0])
	}
	secret := planVictim(func(v *Victim) { v.Kind.GroupVersionKind = schema.GroupVersionKind{Version: "v1", Kind: "Secret"} })
	if entry := Draft(v1alpha1.ActionTransform, []Victim{secret}, strings.TrimSpace)[0]; entry.Change != "" || entry.PlanHash == "" {
		t.Fatalf("of a Secret the plan says %+v", entry)
	}
}

// TestDescribePlan: the record of a run lists the whole plan, however many other objects there are.
func TestDescribePlan(t *testing.T) {
	var outcomes []stage.Outcome
	for i := range 5_000 {
		o := stage.Outcome{Result: v1alpha1.OutcomeProtected, Detail: "it is protected"}
		o.Candidate = planVictim(func(v *Victim) { v.UID = types.UID(fmt.Sprint("p", i)) }).Candidate
		outcomes = append(outcomes, o)
	}
	victims := []Victim{planVictim(), planVictim(func(v *Victim) { v.UID, v.Name = "2", "api" })}
	for _, v := range victims {
		v.VolumeBytes = 1 << 30
		outcomes = append(outcomes, stage.Outcome{Verdict: stage.Verdict{Candidate: v.Candidate}, Result: v1alpha1.OutcomePlanned})
	}
	run := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionTransform}}
	run.Status.Plan = &v1alpha1.RunPlan{}
	plan := Draft(v1alpha1.ActionTransform, victims, strings.TrimSpace)
	DescribePlan(run, 6_000, outcomes, plan)
	status := run.Status
	if status.Considered != 6_000 || status.Matched != 5_002 || status.Skipped != 5_000 || status.Acted != 0 {
		t.Fatalf("the counts are %+v", status.RunCounts)
	}
	if got := int64(len(status.Objects)) + status.ObjectsOmitted; got != 5_002 || status.ObjectsOmitted == 0 || len(status.Tallies) == 0 {
		t.Fatalf("%d objects are listed or omitted, %d omitted, with %d tallies", got, status.ObjectsOmitted, len(status.Tallies))
	}
	approved := PlanOf(run)
	if PlanHash(approved.entries) != PlanHash(plan) {
		t.Fatal("the record does not list the plan")
	}
	for _, v := range victims {
		if !approved.Allows(v1alpha1.ActionTransform, &v) || approved.Allows(v1alpha1.ActionDelete, &v) {
			t.Errorf("of %s the plan allows the wrong thing", v.Name)
		}
	}
	if other := planVictim(func(v *Victim) { v.UID = "3" }); approved.Has("3") || approved.Allows(v1alpha1.ActionTransform, &other) || (&Plan{}).Allows(v1alpha1.ActionTransform, &victims[0]) {
		t.Error("the plan allows what is not in it")
	}
	deleting := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete}}
	deleting.Status.Plan = &v1alpha1.RunPlan{}
	DescribePlan(deleting, 6_000, outcomes, plan)
	if changed, deleted := status.Plan.VolumeBytes, deleting.Status.Plan.VolumeBytes; changed != 0 || deleted != 2<<30 {
		t.Errorf("the plan to change frees %d bytes of volumes, and the plan to delete %d", changed, deleted)
	}
}
