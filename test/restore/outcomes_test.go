// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/journal/restore"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// A run that has ended, and could not save all that became of its victims: what its record lists counts. What is not there either is
// brought back only when it is asked for, because somebody else may have deleted it.
func TestRunThatEndedWithoutItsOutcomes(t *testing.T) {
	b := newBench(t)
	names := []string{"deleted", "left", "unlisted"}
	var victims []journal.Victim
	for _, name := range names {
		victims = append(victims, journal.Victim{Candidate: stage.Candidate{Object: b.configMap(name, nil)}})
	}
	record, _ := b.recorded(victims...)
	for i, outcome := range []v1alpha1.OutcomeResult{v1alpha1.OutcomeDeleted, v1alpha1.OutcomeProtected} {
		record.Status.Objects = append(record.Status.Objects, v1alpha1.ObjectOutcome{
			APIVersion: "v1", Kind: "ConfigMap", Namespace: b.namespace, Name: names[i], UID: victims[i].UID, Outcome: outcome,
		})
	}
	record.Status.Phase = v1alpha1.RunFailed
	for _, victim := range victims {
		must(t, b.raw.Delete().AbsPath(victim.Path()).Do(t.Context()).Error())
	}

	plan := b.restore(record, restore.Options{})
	if len(plan.Items) != 2 {
		t.Errorf("there are %d items, want 2", len(plan.Items))
	}
	wantItem(t, plan, "deleted", restore.Restored, "")
	wantItem(t, plan, "unlisted", restore.Left, "the outcome of the run is not known, so it may not have touched it; to restore it anyway, name it with --only")
	only := func(name string) restore.Options {
		return restore.Options{Only: func(o object.Object) bool { return o.Name == name }}
	}
	wantItem(t, b.restore(record, only("unlisted")), "unlisted", restore.Restored, "")
	wantItem(t, b.restore(record, only("left")), "left", restore.Left, "the run did not touch it: the outcome is Protected")
}

// Endpoints of a Service without a selector are made by hand: nothing makes them anew, so there is a copy.
func TestEndpointsComeBack(t *testing.T) {
	b := newBench(t)
	kind := object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Endpoints"}, Resource: "endpoints", Namespaced: true}
	database := b.create(kind, map[string]any{
		"metadata": map[string]any{"name": "database", "namespace": b.namespace},
		"subsets":  []any{map[string]any{"addresses": []any{map[string]any{"ip": "192.0.2.1"}}, "ports": []any{map[string]any{"port": 5432}}}},
	})
	record := b.deleted([]schema.GroupVersionKind{kind.GroupVersionKind}, database)
	b.gone(database)
	wantResults(t, b.restore(record, restore.Options{}), 1, restore.Restored)
	if subsets, _ := at(b.get(database), "subsets").([]any); len(subsets) != 1 {
		t.Errorf("restored %v", b.get(database))
	}
}
