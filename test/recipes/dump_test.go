// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package recipes

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFilesAsADump: kubectl cleaner test has a loop of its own, because its files may hold one object twice. On objects of which
// there is one each, it must find what preview finds in them.
func TestFilesAsADump(t *testing.T) {
	t.Parallel()
	for _, r := range all(t) {
		if exists(r.path("events.yaml")) || exists(r.path("metrics.yaml")) || exists(r.path("logs.yaml")) {
			continue // a dump has none of these, and preview says so
		}
		t.Run(r.Name, func(t *testing.T) {
			args := []string{"preview", "-f", r.path("cleaner.yaml"), "-o", "json", "--progress", "none", "--complete"}
			var want []string
			for _, file := range []string{"matching.yaml", "non-matching.yaml", "resources.yaml"} {
				if !exists(r.path(file)) {
					continue
				}
				args = append(args, "--from", r.path(file))
				for _, o := range objects(t, r.path(file)) {
					if file == "matching.yaml" {
						metadata, _ := o["metadata"].(map[string]any)
						want = append(want, join(o["kind"], metadata["namespace"], metadata["name"]))
					}
				}
			}
			code, out, errOut := call(t, args...)
			var report struct {
				Cleaners []struct {
					Incomplete string
					Objects    []struct{ Kind, Namespace, Name, Outcome string }
				}
			}
			if err := json.Unmarshal([]byte(out), &report); err != nil {
				t.Fatalf("exit %d, %v\n%s%s", code, err, out, errOut)
			}
			var got []string
			for _, o := range report.Cleaners[0].Objects {
				if o.Outcome != "Unknown" {
					got = append(got, join(o.Kind, o.Namespace, o.Name))
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("exit %d, %s (-test +preview):\n%s%s", code, report.Cleaners[0].Incomplete, diff, errOut)
			}
		})
	}
}

func join(kind, namespace, name any) string {
	text := func(v any) string { s, _ := v.(string); return s }
	return text(kind) + " " + text(namespace) + "/" + text(name)
}
