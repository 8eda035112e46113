// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package recipes

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A mark that is no number of replicas cannot be judged, and a run says so. To treat it as 0 would leave a workload down for ever, and nobody
// would know.
func TestWrongMarks(t *testing.T) {
	t.Parallel()
	for name, object := range map[string]string{
		"scale-up-workloads":   "{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: shop, name: %s, annotations: {previous-replicas: %q}}}",
		"scale-up-autoscalers": "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {namespace: shop, name: %s, annotations: {previous-min-replicas: %q}}}",
	} {
		var text strings.Builder
		for name, value := range map[string]string{"negative": "-1", "word": "two", "empty": "", "part": "1.5", "zero": "0", "right": "2"} {
			fmt.Fprintf(&text, "---\n"+object+"\n", name, value)
		}
		file := filepath.Join(t.TempDir(), "objects.yaml")
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		_, out, errOut := call(t, "preview", "-f", filepath.Join(root, name, "cleaner.yaml"), "--from", file, "--complete", "-o", "json")
		var report struct {
			Cleaners []struct {
				Objects []struct{ Name, Outcome string }
			}
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatal(err, errOut)
		}
		got := map[string]string{}
		for _, o := range report.Cleaners[0].Objects {
			got[o.Name] = o.Outcome
		}
		for _, mark := range []string{"negative", "word", "empty", "part"} {
			if got[mark] != "NotEvaluated" {
				t.Errorf("%s: the mark %s is %q", name, mark, got[mark])
			}
		}
		if got["zero"] != "" || got["right"] != "Matched" {
			t.Errorf("%s: %v", name, got)
		}
	}
}
