// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// importScreens are what users see, by the golden file's name: the arguments after "import".
var importScreens = map[string]string{
	"k8s-cleaner":        "k8s-cleaner testdata/import/k8s-cleaner.yaml",
	"k8s-cleaner-delete": "k8s-cleaner testdata/import/k8s-cleaner.yaml --keep-action",
	"kyverno":            "kyverno testdata/import/kyverno.yaml",
	"kyverno-lost":       "kyverno testdata/import/kyverno-lost.yaml",
	"janitor-rules":      "kube-janitor testdata/import/janitor-rules.yaml",
	"janitor":            "kube-janitor testdata/import/janitor.yaml --keep-action",
	"mistyped":           "kivverno testdata/import/kyverno.yaml",
	"nothing-near":       "terraform testdata/import/kyverno.yaml",
	"no-tool":            "",
	"no-file":            "kyverno",
	"both":               "kyverno testdata/import/kyverno.yaml --from-cluster",
	"nothing":            "kyverno testdata/import/janitor-rules.yaml",
	"nothing-janitor":    "kube-janitor testdata/import/kyverno.yaml",
	"broken":             "kyverno testdata/import/broken.yaml",
}

func TestImportScreens(t *testing.T) {
	t.Parallel()
	for file, line := range importScreens {
		args := append([]string{"import"}, strings.Fields(line)...)
		golden(t, "import-"+file+".txt", args, call(t.Context(), t, "", nil, args...))
	}
}

// TestImportPassesLint: what import writes has no errors, whatever was lost.
func TestImportPassesLint(t *testing.T) {
	t.Parallel()
	for file, line := range importScreens {
		got := call(t.Context(), t, "", nil, append([]string{"import"}, strings.Fields(line)...)...)
		if got.out == "" {
			continue
		}
		if linted := call(t.Context(), t, got.out, nil, "lint", "-f", "-"); linted.code != codes.ExitDone {
			t.Errorf("%s: lint exits with %d:\n%s%s", file, linted.code, linted.out, linted.errOut)
		}
	}
}

// TestImportExits: 4 when something was not carried over.
func TestImportExits(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]int{
		"k8s-cleaner": codes.ExitPartial, "kyverno": codes.ExitPartial, "mistyped": codes.ExitUsage, "nothing": codes.ExitError, "broken": codes.ExitPartial,
		"janitor": codes.ExitPartial,
	} {
		if got := call(t.Context(), t, "", nil, append([]string{"import"}, strings.Fields(importScreens[file])...)...); got.code != want {
			t.Errorf("%s exits with %d, want %d:\n%s", file, got.code, want, got.errOut)
		}
	}
	const whole = "apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: a}\nspec: {schedule: '@daily', match: {any: [{resources: {kinds: [Pod]}}]}}\n"
	if got := call(t.Context(), t, whole, nil, "import", "kyverno", "-"); got.code != codes.ExitDone || !strings.Contains(got.errOut, "1 Cleaner written") {
		t.Errorf("what is carried over wholly exits with %d:\n%s", got.code, got.errOut)
	}
}
