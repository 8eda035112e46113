// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package faults tries runs while the API server, the network and other people misbehave, and proves after each that
// nothing was touched that should not have been, and that the record is true.
package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// Object is an object as it was before the operator did anything to it.
type Object struct {
	// Last is the object as somebody else than the operator wrote it last.
	Last *unstructured.Unstructured
	// Removed is true when somebody else deleted it.
	Removed bool
	// Spared says why the operator may not touch it. Empty when it may.
	Spared string
}

// Record is what a run wrote down.
type Record struct {
	Run      v1alpha1.CleanerRun
	Intents  []journal.Intent
	Outcomes map[int]journal.SavedOutcome
	Copies   []journal.Copy
}

// World is what there was before and after the runs of one Cleaner, and what they wrote down.
type World struct {
	Action v1alpha1.Action
	// Storage is where the copies should be.
	Storage v1alpha1.CopyStorage
	// Touched reports whether an object is as the Transform makes it.
	Touched func(*unstructured.Unstructured) bool
	Before  map[types.UID]*Object
	After   map[types.UID]*unstructured.Unstructured
	Records []Record
	// Unclear reports whether the operator may not know that it touched an object: something kept the answer from it, or
	// it died. Only of such an object an outcome may say that it is not known what became of it, or that it failed. Nil is
	// of none.
	Unclear func(*unstructured.Unstructured) bool
}

// ReadRecords reads what the runs of a Cleaner wrote down.
func ReadRecords(ctx context.Context, reader client.Reader, cleaner types.UID) ([]Record, error) {
	var runs v1alpha1.CleanerRunList
	if err := reader.List(ctx, &runs, client.MatchingLabels{v1alpha1.CleanerLabel: string(cleaner)}); err != nil {
		return nil, err
	}
	parts := journal.NewParts(reader)
	records := make([]Record, len(runs.Items))
	for i := range runs.Items {
		record := &records[i]
		record.Run = runs.Items[i]
		if copies := record.Run.Status.Copies; copies != nil && copies.Dropped != "" {
			continue // it touched nothing: no object that was touched may have its only intent there
		}
		var err error
		if record.Intents, err = journal.ReadIntent(ctx, parts, &record.Run); err != nil {
			return nil, err
		}
		if record.Outcomes, err = journal.ReadOutcomes(ctx, parts, &record.Run); err != nil {
			return nil, err
		}
		err = journal.ReadCopies(ctx, parts, &record.Run, func(c journal.Copy) error {
			record.Copies = append(record.Copies, c)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return records, nil
}

// Check says how the world breaks the invariants I1 to I5 of the run protocol: nothing when it does not.
func Check(w *World) []error {
	var wrong []error
	for uid, object := range w.Before {
		wrong = append(wrong, w.checkObject(uid, object)...)
	}
	times := map[int64]string{}
	for i := range w.Records {
		record := &w.Records[i]
		nominal := record.Run.Spec.NominalTime.Unix()
		if other := times[nominal]; other != "" {
			wrong = append(wrong, fmt.Errorf("I5: the nominal time %d ran twice: %s and %s", nominal, other, record.Run.Name))
		}
		times[nominal] = record.Run.Name
		wrong = append(wrong, w.checkRecord(record)...)
	}
	return wrong
}

// effect is what the operator did to an object: nothing, or deleted or changed it.
type effect string

func (w *World) effect(uid types.UID, object *Object) effect {
	live := w.After[uid]
	switch {
	case object.Removed:
		return ""
	case live == nil:
		return "gone"
	case live.GetDeletionTimestamp() != nil && object.Last.GetDeletionTimestamp() == nil:
		return "being deleted"
	case live.GetResourceVersion() != object.Last.GetResourceVersion():
		return "changed"
	}
	return ""
}

// checkObject is I1, I2 and I3 for one object.
func (w *World) checkObject(uid types.UID, object *Object) []error {
	done := w.effect(uid, object)
	if done == "" {
		return nil
	}
	name := name(object.Last) + ": it is " + string(done)
	var wrong []error
	if object.Spared != "" {
		wrong = append(wrong, fmt.Errorf("I3: %s, although %s", name, object.Spared))
	}
	if (done == "changed") != (w.Action == v1alpha1.ActionTransform) {
		wrong = append(wrong, fmt.Errorf("I3: %s by a %s", name, w.Action))
	}
	intents := 0
	for i := range w.Records {
		record := &w.Records[i]
		place := slices.IndexFunc(record.Intents, func(intent journal.Intent) bool { return intent.UID == uid })
		if place < 0 {
			continue
		}
		intents++
		outcome, known := record.Outcomes[place]
		if record.Run.Status.Phase.Final() && (!known || !record.admits(outcome, w.isUnclear(object.Last))) {
			wrong = append(
				wrong,
				fmt.Errorf("I1: %s, and the outcome in %s is %q (%s)", name, record.Run.Name, outcome.Outcome, outcome.Reason),
			)
		}
		if w.Storage != v1alpha1.StorageNone {
			wrong = append(wrong, record.checkCopy(name, object.Last)...)
		}
	}
	if intents != 1 {
		wrong = append(wrong, fmt.Errorf("I1: %s, and %d intents name it", name, intents))
	}
	return wrong
}

// isUnclear reports whether it may be unclear what became of an object.
func (w *World) isUnclear(last *unstructured.Unstructured) bool {
	return w.Unclear != nil && w.Unclear(last)
}

func name(o *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s/%s (%s)", o.GetKind(), o.GetNamespace(), o.GetName(), o.GetUID())
}

// admits reports whether an outcome says that the object was touched or, where that may be unclear, that it may have
// been. Where the operator that touched it may be gone, another one may have found it gone.
func (r *Record) admits(outcome journal.SavedOutcome, unclear bool) bool {
	switch outcome.Outcome {
	case v1alpha1.OutcomeAbandoned:
		return unclear && strings.Contains(outcome.Reason, "the operator could not find out what happened to this object")
	case v1alpha1.OutcomeKindGone:
		return unclear && strings.Contains(outcome.Reason, "it is not known what became of the object")
	case v1alpha1.OutcomeFailed:
		return unclear
	case v1alpha1.OutcomeGone, v1alpha1.OutcomeFoundGone:
		return unclear || r.Run.Status.Recoveries > 0
	case v1alpha1.OutcomeDeleted, v1alpha1.OutcomeTerminating, v1alpha1.OutcomeTransformed:
		return true
	}
	return false
}

// checkCopy is I2: the last copy is the object as it was when it was touched.
func (r *Record) checkCopy(name string, last *unstructured.Unstructured) []error {
	var found *journal.Copy
	for i := range r.Copies {
		if r.Copies[i].UID == last.GetUID() {
			found = &r.Copies[i]
		}
	}
	switch {
	case found == nil:
		return []error{fmt.Errorf("I2: %s, and there is no copy of it in %s", name, r.Run.Name)}
	case found.ResourceVersion != last.GetResourceVersion():
		return []error{
			fmt.Errorf(
				"I2: %s, and its copy is of resource version %s, not %s",
				name,
				found.ResourceVersion,
				last.GetResourceVersion(),
			),
		}
	}
	var copied map[string]any
	want := plain(last.Object)
	if err := json.Unmarshal(found.Object, &copied); err != nil {
		return []error{fmt.Errorf("I2: %s, and its copy cannot be read: %w", name, err)}
	}
	if got := plain(copied); !reflect.DeepEqual(got, want) {
		return []error{fmt.Errorf("I2: %s, and its copy is %v, not %v", name, got, want)}
	}
	return nil
}

// plain is an object as JSON has it, without what a copy leaves out.
func plain(object map[string]any) map[string]any {
	raw, err := json.Marshal(object)
	var clean map[string]any
	if err == nil {
		err = json.Unmarshal(raw, &clean)
	}
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	unstructured.RemoveNestedField(clean, "metadata", "managedFields")
	delete(clean, "apiVersion")
	delete(clean, "kind")
	return clean
}

// checkRecord is I4, and that no outcome claims what did not happen.
func (w *World) checkRecord(record *Record) []error {
	status := &record.Run.Status
	if !status.Phase.Final() {
		return nil
	}
	var wrong []error
	complain := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("I4: "+record.Run.Name+": "+format, args...))
	}
	if len(record.Outcomes) != len(record.Intents) {
		complain("it has %d outcomes of %d intents", len(record.Outcomes), len(record.Intents))
	}
	listed := record.listed()
	for i, intent := range record.Intents {
		outcome := record.Outcomes[i] // empty when there is none
		if outcome.Outcome == "" || outcome.Outcome == v1alpha1.OutcomePlanned {
			complain("%s has the outcome %q", intent.Name, outcome.Outcome)
		}
		if claim := w.claim(intent.UID, outcome.Outcome); claim != "" {
			complain("%s", claim)
		}
		if said := listed[intent.UID]; said != outcome.Outcome {
			complain("its list says %q of %s, and the outcome is %q", said, intent.Name, outcome.Outcome)
		}
	}
	if n := status.Acted + status.Skipped + status.Failed; record.Run.Spec.Action != v1alpha1.ActionScan &&
		n != status.Matched {
		complain(
			"%d acted, %d skipped and %d failed, which is not %d matched",
			status.Acted,
			status.Skipped,
			status.Failed,
			status.Matched,
		)
	}
	return wrong
}

// listed are the outcomes that the list in the record's status has.
func (r *Record) listed() map[types.UID]v1alpha1.OutcomeResult {
	listed := map[types.UID]v1alpha1.OutcomeResult{}
	for _, object := range r.Run.Status.Objects {
		listed[object.UID] = object.Outcome
	}
	return listed
}

// claim says what an outcome claims that is not so.
func (w *World) claim(uid types.UID, outcome v1alpha1.OutcomeResult) string {
	live := w.After[uid]
	switch outcome {
	case v1alpha1.OutcomeDeleted, v1alpha1.OutcomeFoundGone, v1alpha1.OutcomeGone, v1alpha1.OutcomeReplaced:
		if live != nil {
			return fmt.Sprintf("%s is there, and the outcome is %s", name(live), outcome)
		}
	case v1alpha1.OutcomeTerminating:
		if live != nil && live.GetDeletionTimestamp() == nil {
			return name(live) + " is not being deleted, and the outcome is Terminating"
		}
	case v1alpha1.OutcomeTransformed:
		if live != nil && !w.Touched(live) {
			return name(live) + " is as it was, and the outcome is Transformed"
		}
	}
	return ""
}
