// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

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
		var o object.Object
		o.Kind.Group, o.Kind.Kind = test.group, test.kind
		if test.raw != "" {
			o.Raw = object.JSON(test.raw)
		}
		if got := VolumeBytes(o); got != test.want {
			t.Errorf("%s: %d bytes, want %d", name, got, test.want)
		}
	}
}
