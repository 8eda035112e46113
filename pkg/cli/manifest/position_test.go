// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSteps(t *testing.T) {
	for path, want := range map[string][]string{
		"":                       nil,
		"spec":                   {"spec"},
		"spec.a[0].b":            {"spec", "a", "0", "b"},
		"metadata.labels[a.b/c]": {"metadata", "labels", "a.b/c"},
		"spec.a[1][2]":           {"spec", "a", "1", "2"},
		"metadata.labels[a.b].x": {"metadata", "labels", "a.b", "x"},
		"spec.open[never.closed": {"spec", "open", "never.closed"},
	} {
		if diff := cmp.Diff(want, Steps(path)); diff != "" {
			t.Errorf("steps(%q) (-want +got):\n%s", path, diff)
		}
	}
}
