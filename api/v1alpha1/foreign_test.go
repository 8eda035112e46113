// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// wrote is an entry of managedFields for a write of the status, so long after noon.
func wrote(manager string, after time.Duration) metav1.ManagedFieldsEntry {
	at := metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Add(after))
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status", Time: &at, APIVersion: GroupVersion.String(),
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:status":{}}`),
	}
}

func TestForeignController(t *testing.T) {
	const waiting = "it waits, as was said before"
	spec := wrote("kubectl-apply", time.Hour)
	spec.Subresource = ""
	timeless := wrote("manager", 0)
	timeless.Time = nil
	for name, tt := range map[string]struct {
		writers []metav1.ManagedFieldsEntry
		ready   string
		now     time.Duration
		want    string
		kept    int
	}{
		"nobody wrote":                       {},
		"only the operator wrote":            {writers: []metav1.ManagedFieldsEntry{wrote(StatusManager, 0)}},
		"the spec is written by anybody":     {writers: []metav1.ManagedFieldsEntry{wrote(StatusManager, 0), spec}},
		"the operator never wrote":           {writers: []metav1.ManagedFieldsEntry{wrote("manager", 0)}, now: 24 * time.Hour, want: `k8s-cleaner (field manager "manager") wrote the status of this Cleaner at 2026-01-01T12:00:00Z`, kept: 1},
		"a write without a time":             {writers: []metav1.ManagedFieldsEntry{timeless}, want: "k8s-cleaner", kept: 1},
		"long before the operator":           {writers: []metav1.ManagedFieldsEntry{wrote("manager", 0), wrote(StatusManager, time.Second)}, now: time.Second, kept: 2},
		"in the same second":                 {writers: []metav1.ManagedFieldsEntry{wrote("manager", 0), wrote(StatusManager, 0)}, want: "k8s-cleaner", kept: 2},
		"after the operator":                 {writers: []metav1.ManagedFieldsEntry{wrote("manager", time.Hour), wrote(StatusManager, 0)}, now: time.Hour, want: "until 2026-01-01T13:02:00Z", kept: 2},
		"the latest of two is after":         {writers: []metav1.ManagedFieldsEntry{wrote("other", time.Hour), wrote("manager", 0), wrote(StatusManager, time.Minute)}, want: `another controller (field manager "other")`, kept: 2},
		"it waits":                           {writers: []metav1.ManagedFieldsEntry{wrote("manager", 0), wrote(StatusManager, time.Minute)}, ready: ReasonForeignController, now: 3*time.Minute - 1, want: waiting, kept: 2},
		"it waited long enough":              {writers: []metav1.ManagedFieldsEntry{wrote("manager", 0), wrote(StatusManager, time.Minute)}, ready: ReasonForeignController, now: 3 * time.Minute, kept: 2},
		"it waits, and all was overwritten":  {writers: []metav1.ManagedFieldsEntry{wrote(StatusManager, time.Minute)}, ready: ReasonForeignController, now: time.Minute, want: waiting, kept: 1},
		"written again while it waits":       {writers: []metav1.ManagedFieldsEntry{wrote("manager", 2*time.Minute), wrote(StatusManager, time.Minute)}, ready: ReasonForeignController, now: time.Hour, want: "k8s-cleaner", kept: 2},
		"it does not run for another reason": {writers: []metav1.ManagedFieldsEntry{wrote("manager", 0), wrote(StatusManager, time.Minute)}, ready: ReasonSuspended, now: time.Minute, kept: 2},
	} {
		t.Run(name, func(t *testing.T) {
			cleaner := &Cleaner{}
			cleaner.ManagedFields = tt.writers
			if tt.ready != "" {
				cleaner.Status.Conditions = []metav1.Condition{{Type: ConditionReady, Status: metav1.ConditionFalse, Reason: tt.ready, Message: waiting}}
			}
			now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Add(tt.now)
			why := cleaner.ForeignController(now)
			if (why == "") != (tt.want == "") || !strings.Contains(why, tt.want) {
				t.Errorf("ForeignController says %q, want %q", why, tt.want)
			}
			kept := cleaner.StatusWriters()
			if len(kept) != tt.kept {
				t.Errorf("%d entries are kept, want %d", len(kept), tt.kept)
			}
			for _, entry := range kept {
				if entry.FieldsV1 != nil {
					t.Errorf("the fields of %s are kept", entry.Manager)
				}
			}
			cleaner.ManagedFields = kept
			if again := cleaner.ForeignController(now); again != why {
				t.Errorf("with what a cache keeps, it says %q, want %q", again, why)
			}
		})
	}
}
