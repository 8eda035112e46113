// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// A leader that was paused and comes back does not write over the record that its successor has ended.
func TestEndedRecordIsNotOverwritten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ours := b.run(b.cleaner(v1alpha1.ActionScan))
	var theirs v1alpha1.CleanerRun
	must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(ours), &theirs))
	theirs.Status.Message = "theirs"
	must(t, b.user.Status().Update(t.Context(), &theirs))
	ours.Status.Message = "ours"
	must(t, journal.New(b.live, operatorNamespace, b.clock).Save(t.Context(), ours, ""))
	must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(ours), &theirs))
	if theirs.Status.Message != "theirs" {
		t.Fatalf("the record says %q", theirs.Status.Message)
	}
}

// A label that somebody puts on a record while the run goes on does not keep the run from being recorded.
func TestRecordIsWrittenAlthoughItWasLabelled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionScan)
	book := journal.New(b.live, operatorNamespace, b.clock)
	record, err := book.Begin(t.Context(), c, v1alpha1.CleanerRunSpec{Cleaner: c.Name, CleanerUID: c.UID, CleanerGeneration: 1, NominalTime: c.CreationTimestamp, Trigger: v1alpha1.TriggerManual, Action: v1alpha1.ActionScan})
	must(t, err)
	labelled := record.DeepCopy()
	labelled.Labels["team"] = "a"
	must(t, b.user.Update(t.Context(), labelled))
	book.End(record, v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "done")
	must(t, book.Save(t.Context(), record, ""))
	must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(record), record))
	if record.Status.Message != "done" || record.Labels["team"] != "a" {
		t.Fatalf("the record is %+v", record)
	}
}
