// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import "testing"

func TestRepeating(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"hint: kubectl cleaner run x":                                       "hint: kubectl cleaner run --context b x",
		"... and 5 more: kubectl cleaner runs x --limit 0":                  "... and 5 more: kubectl cleaner runs --context b x --limit 0",
		"kubectl cleaner rbac x | kubectl apply -f -":                       "kubectl cleaner rbac --context b x | kubectl apply --context b -f -",
		"see: kubectl -n ops get deployments":                               "see: kubectl --context b -n ops get deployments",
		"list them with: kubectl get cleaners; or kubectl cleaner stop":     "list them with: kubectl get --context b cleaners; or kubectl cleaner stop --context b",
		"kubectl cleaner preview x --only y --context b":                    "kubectl cleaner preview x --only y --context b",
		"kubectl cleaner lint -f x needs no cluster, kubectl finds that":    "kubectl cleaner lint -f x needs no cluster, kubectl finds that",
		"error: kubectl cleaner scan: -x; run: kubectl cleaner scan --help": "error: kubectl cleaner scan: -x; run: kubectl cleaner scan --help",
		"first: kubectl edit cleaner x, or kubectl auth can-i --list":       "first: kubectl edit --context b cleaner x, or kubectl auth --context b can-i --list",
		"kubectl config view --minify shows it":                             "kubectl config view --minify --context b shows it",
		"the kubectl plugin":                                                "the kubectl plugin",
	} {
		if got := repeating(text, " --context b"); got != want {
			t.Errorf("%s becomes %s", text, got)
		}
		if got := repeating(text, ""); got != text {
			t.Errorf("without flags, %s becomes %s", text, got)
		}
	}
}
