// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import "testing"

func TestVolumeBytes(t *testing.T) {
	for name, test := range map[string]struct {
		group, kind, raw string
		want             int64
	}{
		"bound claim":    {"", "PersistentVolumeClaim", `{"spec":{"resources":{"requests":{"storage":"1Gi"}}},"status":{"capacity":{"storage":"2Gi"}}}`, 2 << 30},
		"pending claim":  {"", "PersistentVolumeClaim", `{"spec":{"resources":{"requests":{"storage":"1Gi"}}},"status":{"phase":"Pending"}}`, 0},
		"kept volume":    {"", "PersistentVolume", `{"spec":{"capacity":{"storage":"1G"},"persistentVolumeReclaimPolicy":"Retain"}}`, 0},
		"volume":         {"", "PersistentVolume", `{"spec":{"capacity":{"storage":"1G"}}}`, 1_000_000_000},
		"not a quantity": {"", "PersistentVolume", `{"spec":{"capacity":{"storage":"much"}}}`, 0},
		"without bytes":  {"", "PersistentVolume", ``, 0},
		"another kind":   {"example.com", "PersistentVolume", `{"spec":{"capacity":{"storage":"1G"}}}`, 0},
	} {
		var o Object
		o.Kind.Group, o.Kind.Kind = test.group, test.kind
		if test.raw != "" {
			o.Raw = JSON(test.raw)
		}
		if got := o.VolumeBytes(); got != test.want {
			t.Errorf("%s: %d bytes, want %d", name, got, test.want)
		}
	}
}
