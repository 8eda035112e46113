// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestObserving(t *testing.T) {
	until := time.Date(2026, time.December, 1, 0, 0, 0, 0, time.UTC)
	const why = "it only reports until 2026-12-01T00:00:00Z, and acts from then on (spec.scanUntil)"
	for name, c := range map[string]struct {
		until  *metav1.Time
		action Action
		at     time.Time
		want   string
	}{
		"unset":               {nil, ActionDelete, until, ""},
		"before":              {&metav1.Time{Time: until}, ActionDelete, until.Add(-time.Second), why},
		"transform":           {&metav1.Time{Time: until}, ActionTransform, until.Add(-time.Second), why},
		"at that time":        {&metav1.Time{Time: until}, ActionDelete, until, ""},
		"only reports anyway": {&metav1.Time{Time: until}, ActionScan, until.Add(-time.Second), ""},
		"another zone":        {&metav1.Time{Time: until.In(time.FixedZone("a", 3600))}, ActionDelete, until.Add(-time.Hour), why},
	} {
		cleaner := &Cleaner{Spec: CleanerSpec{ScanUntil: c.until, Action: &c.action}}
		if got := cleaner.Observing(c.at); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
