// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestScanRequests adds up what Pods request that cannot run, in words and for programs.
func TestScanRequests(t *testing.T) {
	pod := func(name, status string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: shop}\n" +
			"spec: {containers: [{name: a, image: i, resources: {requests: {cpu: 750m, memory: 1Gi}}}]}\n" +
			"status: {phase: Running, containerStatuses: [{name: a, state: {" + status + "}}]}\n---\n"
	}
	const waits = "waiting: {reason: CrashLoopBackOff}"
	for name, test := range map[string]struct{ manifest, words, json string }{
		"two that wait": {
			pod("a", waits) + pod("b", waits) + pod("c", "running: {}"), " Pods that cannot run hold 1500m of CPU and 2Gi of memory.",
			`"requested":{"cpuMillis":1500,"memoryBytes":2147483648}`,
		},
		"none that waits": {pod("c", "running: {}"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pods.yaml")
			if err := os.WriteFile(file, []byte(test.manifest), 0o600); err != nil {
				t.Fatal(err)
			}
			answer := call(t.Context(), t, "", nil, "scan", "--from", file, "--complete", "-o", "json")
			if has := strings.Contains(answer.errOut, "cannot run"); !strings.Contains(answer.errOut, test.words) || has != (test.words != "") {
				t.Errorf("it says %q, want %q in it", answer.errOut, test.words)
			}
			got := strings.Join(strings.Fields(answer.out), "")
			if has := strings.Contains(got, `"requested"`); !strings.Contains(got, test.json) || has != (test.json != "") {
				t.Errorf("it prints %s, want %s in it", got, test.json)
			}
		})
	}
}
