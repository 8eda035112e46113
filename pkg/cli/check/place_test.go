// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
)

// A fault of a script has a place, also one of the whole script: what it returned has no line of its own.
func TestPlaceOfScripts(t *testing.T) {
	t.Parallel()
	const text = "kind: Cleaner\nspec:\n  resourcePolicySet:\n    resourceSelectors:\n    - kind: Pod\n    - kind: ConfigMap\n" +
		"      evaluate: |\n        function evaluate()\n          return true\n        end\n"
	documents, problems := (&manifest.Source{Name: "a.yaml", Text: []byte(text)}).Documents()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for fault, want := range map[string]string{
		"evaluate: line 2: attempt to index a nil":                                  "a.yaml:9",
		"evaluate: evaluate returned a boolean":                                     "a.yaml:7",
		"resourceSelectors[1]: evaluate: evaluate returned a boolean":               "a.yaml:7",
		"evaluated by nobody":                                                       "",
		"transform: transform returned a resource that is no object, and is absent": "",
	} {
		if got := PlaceOf(documents[0], &v1alpha1.Cleaner{}, 1, fault); got != want {
			t.Errorf("%s: it is at %q, want %q", fault, got, want)
		}
	}
}
