// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// The cache drops what nobody reads, and keeps what shows that k8s-cleaner still runs.
func TestSlimCleaner(t *testing.T) {
	now := time.Now()
	wrote := func(manager, subresource string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, Time: &metav1.Time{Time: now}}
	}
	for name, tt := range map[string]struct {
		writers []metav1.ManagedFieldsEntry
		kept    int
		waits   bool
	}{
		"only the operator writes the status": {writers: []metav1.ManagedFieldsEntry{wrote("kubectl", ""), wrote(v1alpha1.StatusManager, "status")}},
		"k8s-cleaner does too":                {writers: []metav1.ManagedFieldsEntry{wrote("manager", "status"), wrote(v1alpha1.StatusManager, "status")}, kept: 2, waits: true},
	} {
		t.Run(name, func(t *testing.T) {
			cleaner := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{ManagedFields: tt.writers}}
			cleaner.Status.LastRun = &v1alpha1.LastRun{Matches: []v1alpha1.ObjectOutcome{{}}}
			if _, err := slimCleaner(cleaner); err != nil {
				t.Fatal(err)
			}
			if len(cleaner.ManagedFields) != tt.kept || cleaner.Status.LastRun.Matches != nil {
				t.Errorf("it keeps %d writers and %d matches, want %d and none", len(cleaner.ManagedFields), len(cleaner.Status.LastRun.Matches), tt.kept)
			}
			if why := cleaner.ForeignController(now); (why != "") != tt.waits {
				t.Errorf("ForeignController says %q", why)
			}
		})
	}
}
