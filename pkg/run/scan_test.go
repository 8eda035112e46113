// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/engine"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// scanOf is what a Scan decides that found so many ConfigMaps, every seventh of them protected.
func scanOf(n int) *decision {
	matched := new(stage.Verdicts)
	for i := range n {
		v := stage.Verdict{Act: i%7 > 0}
		if !v.Act {
			v.Skip, v.Reason = v1alpha1.OutcomeProtected, "it is precious"
		}
		v.Kind = object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Resource: "configmaps", Namespaced: true}
		v.Namespace, v.Name, v.UID = "default", fmt.Sprintf("object-%d", i), types.UID(fmt.Sprintf("uid-%d", i))
		matched.Add(v)
	}
	return &decision{choice: choice{view: &view{matched: matched}, matched: matched}, rulings: make([]*ruling, n)}
}

// TestScanOfMany: beyond what a record can list, the objects of a Scan are counted all the same, and listed in notifications that list all.
func TestScanOfMany(t *testing.T) {
	const n = maxListed + 700
	record := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionScan}}
	memory := selector.NewBudget(5000 * n).Share() // bytes: enough to notify all objects
	scan := &task{record: record, action: v1alpha1.ActionScan, engine: &engine.Engine{Memory: memory}}
	in := (Record{}).intend(t.Context(), scan, scanOf(n))
	out := (Act{}).act(t.Context(), scan, in)
	const protected = (n + 6) / 7
	const listed = maxListed + protected
	if len(out.list) != listed {
		t.Fatalf("there are %d outcomes, want %d", len(out.list), listed)
	}
	journal.Describe(record, 2*n, out.list, out.rest)
	tally := tally(out.list, slices.Collect(out.rest))
	if want := (v1alpha1.RunCounts{Considered: 2 * n, Matched: n, Skipped: int64(protected)}); record.Status.RunCounts != want {
		t.Errorf("the counts are %+v, want %+v", record.Status.RunCounts, want)
	}
	if got := len(record.Status.Objects) + int(record.Status.ObjectsOmitted); got != n {
		t.Errorf("%d objects are listed or said to be left out, want %d", got, n)
	}
	results := tally[corev1.SchemeGroupVersion.WithKind("ConfigMap")]
	if results[v1alpha1.OutcomeMatched] != n-protected || results[v1alpha1.OutcomeProtected] != protected {
		t.Errorf("the metrics count %v, want %d matched and %d protected", results, n-protected, protected)
	}
	for kind, want := range map[v1alpha1.NotificationType]int{v1alpha1.NotificationSlack: 0, v1alpha1.NotificationCleanerReport: n, v1alpha1.NotificationEvent: n} {
		record.Status.Notifications = []v1alpha1.NotificationStatus{{Type: kind}}
		if got := len(out.toNotify(scan)); got != want {
			t.Errorf("%s lists %d objects, want %d", kind, got, want)
		}
	}
	if memory.Taken() < 2*500*(n-maxListed) {
		t.Errorf("%d bytes are charged for two notifications that list %d objects", memory.Taken(), n)
	}
	for memory.Take(100_000) == nil {
		continue // until it is used up
	}
	if got := out.toNotify(scan); got != nil {
		t.Errorf("%d objects are notified without memory for them", len(got))
	}
}
