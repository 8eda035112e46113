// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

var update = flag.Bool("update", false, "write the table of docs/reference/findings.md anew")

const (
	docs      = "../../docs/reference/findings.md"
	tableHead = "<!-- The table of rows: go test -run TestDocs ./pkg/finding -update -->\n"
	tableEnd  = "<!-- The end of the table of rows -->\n"
)

// docs/reference/findings.md has a line for each row.
func TestDocs(t *testing.T) {
	var want strings.Builder
	want.WriteString("\n| Kind | Type | May be acted on | Found when |\n|---|---|---|---|\n")
	for _, row := range finding.Rows() {
		kind, may := "`"+row.Kind.String()+"`", "yes"
		if row.Kind.Kind == "*" {
			kind = "every kind"
		}
		if !row.Actionable {
			may = "no"
		}
		fmt.Fprintf(&want, "| %s | `%s` | %s | %s |\n", kind, row.Type, may, row.Means)
	}
	want.WriteString("\n")
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), tableHead)
	got, after, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		t.Fatalf("%s has no place for the table of rows", docs)
	}
	if got == want.String() {
		return
	}
	if !*update {
		t.Fatalf("%s does not say what the rows are: run go test -run TestDocs ./pkg/finding -update", docs)
	}
	if err := os.WriteFile(docs, []byte(before+tableHead+want.String()+tableEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
