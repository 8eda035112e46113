// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package recipes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// noneMatches moves the objects that match to those that do not. It returns what kubectl cleaner test then says of the directory, with the metrics
// in place of its own: a failure for each of them that still matches.
func noneMatches(t *testing.T, name, metrics string) (failures []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, name))); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "matching.yaml"), filepath.Join(dir, "non-matching.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "updated.yaml")); err != nil {
		t.Fatal(err)
	}
	if metrics != "" {
		if err := os.WriteFile(filepath.Join(dir, "metrics.yaml"), []byte(metrics), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, out, errOut := call(t, "test", "-o", "json", dir)
	var report struct {
		Directories []struct {
			Failures []struct {
				Message string
				Details []string
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || len(report.Directories) != 1 {
		t.Fatal(err, out, errOut)
	}
	for _, f := range report.Directories[0].Failures {
		failures = append(failures, f.Message+" "+strings.Join(f.Details, " "))
	}
	return failures
}

// A namespace that somebody may have used is not idle. Of a series that began within the week, increase() leaves out the first value.
func TestIdleByMetrics(t *testing.T) {
	t.Parallel()
	for metrics, isIdle := range map[string]bool{
		"{requests: 0, measured: 4}":              true,
		"{requests: 0, measured: 4, appeared: 0}": true,
		"{requests: 0, measured: 4, appeared: 1}": false,
		"{requests: 1, measured: 4}":              false,
		"{requests: 0, appeared: 0}":              false,
		"{measured: 4}":                           false,
	} {
		if got := noneMatches(t, "idle-by-metrics", metrics); (len(got) > 0) != isIdle {
			t.Errorf("%s: %q", metrics, got)
		}
	}
}

// The event names the volume, so people get its text.
func TestMountFailuresQuoteTheEvent(t *testing.T) {
	t.Parallel()
	got := noneMatches(t, "mount-failures", "")
	if len(got) != 1 || !strings.Contains(got[0], `MountVolume.SetUp failed for volume "data"`) {
		t.Errorf("%q", got)
	}
}
