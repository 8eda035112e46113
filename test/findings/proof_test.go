// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

var update = flag.Bool("update", false, "write docs/reference/findings-proof.md anew")

const proofFile = "../../docs/reference/findings-proof.md"

// testProof compares what the docs publish with what was measured.
func testProof(t *testing.T, expected map[string]expectation, scores map[string]*score) {
	if scores == nil {
		t.Skip("nothing was measured")
	}
	testEachRow(t, expected, scores)
	text := proof(expected, scores)
	if *update {
		if err := os.WriteFile(proofFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	published, err := os.ReadFile(proofFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(published) != text {
		t.Errorf("%s is not what was measured: go test ./test/findings -update writes it anew. Measured:\n%s", proofFile, text)
	}
}

// fewest is how few scenarios would be too few.
const fewest = 120

// testEachRow wants something found for each kind and type of which the docs say that it is found.
func testEachRow(t *testing.T, expected map[string]expectation, scores map[string]*score) {
	t.Helper()
	if n := len(scenariosOf(expected)); n < fewest {
		t.Errorf("there are %d scenarios, want at least %d", n, fewest)
	}
	for _, row := range finding.Rows() {
		isOfRow := func(key string) bool {
			kind, typ, _ := strings.Cut(key, " ")
			return typ == string(row.Type) && (kind == row.Kind.Kind || row.Kind.Kind == "*") && scores[key].right > 0
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(scores)), isOfRow) {
			t.Errorf("no scenario has a %s that is %s", row.Kind.Kind, row.Type)
		}
	}
}

func scenariosOf(expected map[string]expectation) map[*scenario]bool {
	scenarios := map[*scenario]bool{}
	for _, e := range expected {
		scenarios[e.scenario] = true
	}
	return scenarios
}

// proof is the page that publishes the scores.
func proof(expected map[string]expectation, scores map[string]*score) string {
	scenarios, used := scenariosOf(expected), 0
	for _, e := range expected {
		if len(e.types) == 0 {
			used++
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, `# How accurate findings are

`+"`go test ./test/findings`"+` builds %d small clusters on a real API server with kube-controller-manager. They have %d objects in all. The test compares
the findings of each object with those that its scenario expects. %d of the objects are in use, most of them in a way that other tools overlook. The
test writes this page, and fails if the page is out of date.

Precision is the share of all findings that are right. Recall is the share of all expected findings that were found. A type with a question mark is
*unknown*: KubeCleaner cannot decide whether the object has the finding ([why](findings.md#used-unused-or-unknown)). Unknown objects are reported, and
never acted on.

| Kind | Type | Right | False | Missed | Precision | Recall |
|---|---|---|---|---|---|---|
`, len(scenarios), len(expected), used)
	all := score{}
	row := func(kind, typ string, s score) {
		percent := func(of int) string {
			if s.right+of == 0 {
				return "-"
			}
			return fmt.Sprintf("%d %%", 100*s.right/(s.right+of)) // rounded down: 100 is all
		}
		fmt.Fprintf(&out, "| %s | %s | %d | %d | %d | %s | %s |\n", kind, typ, s.right, s.wrong, s.missed, percent(s.wrong), percent(s.missed))
	}
	for _, key := range slices.Sorted(maps.Keys(scores)) {
		kind, typ, _ := strings.Cut(key, " ")
		s := *scores[key]
		row(kind, typ, s)
		all = score{all.right + s.right, all.wrong + s.wrong, all.missed + s.missed}
	}
	row("all", "", all)
	return out.String()
}
