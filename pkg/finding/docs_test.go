// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

const (
	docs      = "../../docs/findings.md"
	tableHead = "<!-- The table of rows: UPDATE_DOCS=1 go test -run TestDocs ./pkg/finding -->\n"
	tableEnd  = "<!-- The end of the table of rows -->\n"
)

// docs/findings.md has a line for each row. UPDATE_DOCS=1 writes it.
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
	if os.Getenv("UPDATE_DOCS") == "" {
		t.Fatalf("%s does not say what the rows are: run UPDATE_DOCS=1 go test -run TestDocs ./pkg/finding", docs)
	}
	if err := os.WriteFile(docs, []byte(before+tableHead+want.String()+tableEnd+after), 0o644); err != nil { //nolint:gosec // docs are for everyone
		t.Fatal(err)
	}
}
