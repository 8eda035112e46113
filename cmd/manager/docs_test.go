// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/reference/flags.md again")

// The page on the flags has two tables and a list, each before a line of its own.
const (
	flagsPage  = "../../docs/reference/flags.md"
	tableHead  = "| Flag | Default | Meaning |\n|---|---|---|\n"
	ignoredEnd = "\n\n<!-- end of the flags that do nothing -->"
	flagsEnd   = "\n\n<!-- end of the flags -->"
	pageHead   = "`/manager dashboard --help` prints them.\n\n" + tableHead
	pageEnd    = "\n\n<!-- end of the flags of the page -->"
)

// TestFlagsAreDocumented: go test ./cmd/manager -run TestFlagsAreDocumented -update writes the tables.
func TestFlagsAreDocumented(t *testing.T) {
	_, fs, err := parseOptions(nil, "", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	_, ofPage, err := parseDashboard([]string{"--insecure-behind-proxy", "--hosts=*"}, "", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	rows, ignored := rowsOf(fs)
	pageRows, _ := rowsOf(ofPage)
	raw, err := os.ReadFile(flagsPage)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	want := between(t, text, tableHead, flagsEnd, strings.Join(rows, "\n"))
	want = between(t, want, pageHead, pageEnd, strings.Join(pageRows, "\n"))
	want = between(t, want, "that it does so: ", ignoredEnd, strings.Join(ignored, ", ")+".")
	if *update {
		if err := os.WriteFile(flagsPage, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text != want {
		t.Errorf("%s differs from the flags; to write it: go test ./cmd/manager -run TestFlagsAreDocumented -update", flagsPage)
	}
}

// rowsOf are the rows of the table, and the flags that do nothing.
func rowsOf(fs *flag.FlagSet) (rows, ignored []string) {
	fs.VisitAll(func(f *flag.Flag) {
		standard := "`" + f.DefValue + "`"
		if f.DefValue == "" {
			standard = "none"
		}
		if _, ok := unused[f.Name]; ok {
			ignored = append(ignored, "`--"+f.Name+"`")
			return
		}
		rows = append(rows, fmt.Sprintf("| `--%s` | %s | %s |", f.Name, standard, strings.ReplaceAll(f.Usage, "|", `\|`)))
	})
	return rows, ignored
}

// between replaces what stands between two marks.
func between(t *testing.T, text, before, after, with string) string {
	t.Helper()
	head, rest, found := strings.Cut(text, before)
	_, tail, ended := strings.Cut(rest, after)
	if !found || !ended {
		t.Fatalf("%s lacks %q, or %q after it", flagsPage, before, after)
	}
	return head + before + with + after + tail
}
