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
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// scanOf is a Scan that found so many ConfigMaps, every seventh of them protected.
func scanOf(n int) *scan {
	s := &scan{matches: new(object.Verdicts)}
	for i := range n {
		v := object.Verdict{Act: i%7 > 0}
		if !v.Act {
			v.Skip, v.Reason = v1alpha1.OutcomeProtected, "it is precious"
		}
		v.Kind = object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Resource: "configmaps", Namespaced: true}
		v.Namespace, v.Name, v.UID = "default", fmt.Sprintf("object-%d", i), types.UID(fmt.Sprintf("uid-%d", i))
		s.matches.Add(v)
	}
	return s
}

// TestScanOfMany: beyond what a record can list, the objects of a Scan are counted all the same, and told to whom it is told of all.
func TestScanOfMany(t *testing.T) {
	const n = maxWhole + 700
	s := scanOf(n)
	record := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionScan}}
	first := found(t.Context(), record, &plan{scan: s})
	if len(first) != maxWhole {
		t.Fatalf("there are %d outcomes, want %d", len(first), maxWhole)
	}
	journal.Describe(record, 2*n, first, s.rest(record))
	tally := tally(first, slices.Collect(s.rest(record)))
	protected := (n + 6) / 7
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
	for kind, want := range map[v1alpha1.NotificationType]int{v1alpha1.NotificationSlack: maxWhole, v1alpha1.NotificationCleanerReport: n, v1alpha1.NotificationEvent: n} {
		record.Status.Notifications = []v1alpha1.NotificationStatus{{Type: kind}}
		if got := len(s.toTell(record, first)); got != want {
			t.Errorf("%s is told of %d objects, want %d", kind, got, want)
		}
	}
}

// TestScanWaits: objects that have not matched often enough are no matches yet.
func TestScanWaits(t *testing.T) {
	p := &plan{scan: scanOf(20)}
	if keys := p.keys(); len(keys) != 20 || keys[3] != "ConfigMap__uid-3" {
		t.Errorf("the keys are %q", keys)
	}
	p.keep(func(o object.Object) bool { return o.Name == "object-7" || o.Name == "object-8" })
	outcomes := found(t.Context(), &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionScan, DryRun: true}}, p)
	if p.waiting != 18 || len(outcomes) != 2 {
		t.Fatalf("%d wait, and there are %d outcomes; want 18 and 2", p.waiting, len(outcomes))
	}
	for i, want := range []string{"Protected it is precious", "DryRun "} {
		if got := string(outcomes[i].Result) + " " + outcomes[i].Detail; got != want {
			t.Errorf("%s: got %q, want %q", outcomes[i].Name, got, want)
		}
	}
}
