// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

func thing(uid, version string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": "b"},
		"metadata": map[string]any{"namespace": "ns", "name": uid, "uid": uid, "resourceVersion": version},
	}}
}

// sound is a world in which a run deleted "gone", found "ending" held and "changed" changed, and left "kept" alone.
func sound() *World {
	held := thing("ending", "9")
	now := metav1.Now()
	held.SetDeletionTimestamp(&now)
	w := &World{
		Action: v1alpha1.ActionDelete, Storage: v1alpha1.StorageSecret, Touched: isTouched,
		Before: map[types.UID]*Object{
			"gone": {Last: thing("gone", "1")}, "ending": {Last: thing("ending", "2")},
			"changed": {Last: thing("changed", "5"), Spared: "it stopped matching"}, "kept": {Last: thing("kept", "4"), Spared: "it never matched"},
		},
		After:   map[types.UID]*unstructured.Unstructured{"ending": held, "changed": thing("changed", "5"), "kept": thing("kept", "4")},
		Records: make([]Record, 1),
	}
	r := &w.Records[0]
	r.Run.Name, r.Run.Spec.Action, r.Run.Spec.NominalTime = "run-1", v1alpha1.ActionDelete, metav1.Unix(1, 0)
	r.Run.Status.Phase = v1alpha1.RunCompleted
	r.Run.Status.RunCounts = v1alpha1.RunCounts{Matched: 3, Acted: 2, Skipped: 1}
	r.Outcomes = map[int]journal.SavedOutcome{}
	for i, outcome := range []v1alpha1.OutcomeResult{v1alpha1.OutcomeDeleted, v1alpha1.OutcomeTerminating, v1alpha1.OutcomeChanged} {
		uid := []types.UID{"gone", "ending", "changed"}[i]
		last := w.Before[uid].Last
		raw, err := json.Marshal(last.Object)
		if err != nil {
			panic(err) //nolint:forbidigo // a mistake of the test
		}
		r.Intents = append(r.Intents, journal.Intent{Name: string(uid), UID: uid, ResourceVersion: last.GetResourceVersion()})
		r.Outcomes[i] = journal.SavedOutcome{Index: i, Outcome: outcome}
		r.Copies = append(r.Copies, journal.Copy{UID: uid, ResourceVersion: last.GetResourceVersion(), Object: raw})
		r.Run.Status.Objects = append(r.Run.Status.Objects, v1alpha1.ObjectOutcome{UID: uid, Outcome: outcome})
	}
	return w
}

// failed makes the run say that the first object failed.
func (r *Record) failed(reason string) {
	r.Outcomes[0] = journal.SavedOutcome{Outcome: v1alpha1.OutcomeFailed, Reason: reason}
	r.Run.Status.Objects[0].Outcome = v1alpha1.OutcomeFailed
	r.Run.Status.RunCounts = v1alpha1.RunCounts{Matched: 3, Acted: 1, Skipped: 1, Failed: 1}
}

// said makes the run say something else of the first object, which it left alone.
func (r *Record) said(outcome v1alpha1.OutcomeResult) {
	r.Outcomes[0] = journal.SavedOutcome{Outcome: outcome}
	r.Run.Status.Objects[0].Outcome = outcome
	r.Run.Status.RunCounts = v1alpha1.RunCounts{Matched: 3, Acted: 1, Skipped: 2}
}

// The checker sees each way in which a world can be broken.
func TestCheckerSeesBrokenWorlds(t *testing.T) {
	for _, test := range []struct {
		name, want string
		spoil      func(w *World, r *Record)
	}{
		{"sound", "", func(*World, *Record) {}},
		{"gone without an intent", "I1: ConfigMap ns/gone (gone): it is gone, and 0 intents name it", func(_ *World, r *Record) {
			r.Intents[0].UID = "other"
		}},
		{"gone and told otherwise", `the outcome in run-1 is "Protected"`, func(_ *World, r *Record) {
			r.Outcomes[0] = journal.SavedOutcome{Outcome: v1alpha1.OutcomeProtected}
		}},
		{"gone and told as forbidden", `I1: ConfigMap ns/gone (gone): it is gone, and the outcome in run-1 is "Failed" (forbidden)`, func(_ *World, r *Record) {
			r.failed("forbidden")
		}},
		{"gone and nobody knows, without a reason", `the outcome in run-1 is "Abandoned" (the operator could not find out what happened to this object)`, func(_ *World, r *Record) {
			r.Outcomes[0] = journal.SavedOutcome{Outcome: v1alpha1.OutcomeAbandoned, Reason: "the operator could not find out what happened to this object"}
		}},
		{"gone, and the answer was kept from the operator", "", func(w *World, r *Record) {
			r.failed("it is not known whether it was deleted")
			w.Unclear = func(o *unstructured.Unstructured) bool { return o.GetName() == "gone" }
		}},
		{"gone by a delete with an answer, and called gone before", `the outcome in run-1 is "Gone"`, func(_ *World, r *Record) { r.said(v1alpha1.OutcomeGone) }},
		{"gone by a delete with an answer, and called found gone", `the outcome in run-1 is "FoundGone"`, func(_ *World, r *Record) { r.said(v1alpha1.OutcomeFoundGone) }},
		{"found gone by the next operator", "", func(_ *World, r *Record) {
			r.said(v1alpha1.OutcomeFoundGone)
			r.Run.Status.Recoveries = 1
		}},
		{"in two intents", "I1: ConfigMap ns/gone (gone): it is gone, and 2 intents name it", func(w *World, r *Record) {
			again := *r
			again.Run.Name, again.Run.Spec.NominalTime = "run-2", metav1.Unix(2, 0)
			w.Records = append(w.Records, again)
		}},
		{"no copy", "I2: ConfigMap ns/gone (gone): it is gone, and there is no copy of it in run-1", func(_ *World, r *Record) { r.Copies = r.Copies[1:] }},
		{"an old copy", "I2: ConfigMap ns/gone (gone): it is gone, and its copy is of resource version 0, not 1", func(_ *World, r *Record) {
			r.Copies[0].ResourceVersion = "0"
		}},
		{"a wrong copy", "I2: ConfigMap ns/gone (gone): it is gone, and its copy is map", func(_ *World, r *Record) {
			r.Copies[0].Object = json.RawMessage(strings.Replace(string(r.Copies[0].Object), `"a":"b"`, `"a":"c"`, 1))
		}},
		{"a copy too many in time", "", func(_ *World, r *Record) {
			r.Copies = append([]journal.Copy{{UID: "gone", ResourceVersion: "0"}}, r.Copies...)
		}},
		{"managedFields are not copied", "", func(w *World, _ *Record) {
			w.Before["gone"].Last.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl"}})
		}},
		{"never matched and gone", "I3: ConfigMap ns/kept (kept): it is gone, although it never matched", func(w *World, _ *Record) { delete(w.After, "kept") }},
		{"stopped matching and gone", "I3: ConfigMap ns/changed (changed): it is gone, although it stopped matching", func(w *World, _ *Record) {
			delete(w.After, "changed")
		}},
		{"changed by a Delete", "I3: ConfigMap ns/kept (kept): it is changed by a Delete", func(w *World, _ *Record) { w.After["kept"].SetResourceVersion("7") }},
		{"removed by somebody else", "", func(w *World, _ *Record) {
			delete(w.After, "kept")
			w.Before["kept"].Removed = true
		}},
		{"an outcome is missing", "I4: run-1: it has 2 outcomes of 3 intents", func(_ *World, r *Record) { delete(r.Outcomes, 2) }},
		{"still planned", `I4: run-1: changed has the outcome "Planned"`, func(_ *World, r *Record) {
			r.Outcomes[2] = journal.SavedOutcome{Outcome: v1alpha1.OutcomePlanned}
		}},
		{"not at its end yet", "", func(_ *World, r *Record) {
			r.Run.Status.Phase = v1alpha1.RunExecuting
			r.Outcomes = nil
		}},
		{"the list says otherwise", `its list says "Planned" of gone`, func(_ *World, r *Record) { r.Run.Status.Objects[0].Outcome = v1alpha1.OutcomePlanned }},
		{"the counts do not add up", "I4: run-1: 1 acted, 1 skipped and 0 failed, which is not 3 matched", func(_ *World, r *Record) { r.Run.Status.Acted = 1 }},
		{"there and called deleted", "I4: run-1: ConfigMap ns/gone (gone) is there, and the outcome is Deleted", func(w *World, _ *Record) {
			w.After["gone"] = thing("gone", "1")
		}},
		{"not ending and called so", "I4: run-1: ConfigMap ns/ending (ending) is not being deleted", func(w *World, _ *Record) {
			w.After["ending"] = thing("ending", "2")
		}},
		{"ran twice", "I5: the nominal time 1 ran twice: run-1 and run-2", func(w *World, _ *Record) {
			again := Record{}
			again.Run.Name, again.Run.Spec.NominalTime = "run-2", metav1.Unix(1, 0)
			w.Records = append(w.Records, again)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sound()
			test.spoil(w, &w.Records[0])
			err := errors.Join(Check(w)...)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("it complains of a sound world: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("it says %v, want %q", err, test.want)
			}
		})
	}
}
