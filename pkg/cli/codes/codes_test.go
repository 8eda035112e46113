// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package codes

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var codePattern = regexp.MustCompile(`"[EWN]-[A-Z]{3}-\d{3}"`)

// TestEveryCodeIsExplained compares the codes in this package's source with the table that help prints.
func TestEveryCodeIsExplained(t *testing.T) {
	explained := map[string]bool{}
	for _, row := range Table() {
		if explained[row[0]] || row[1] == "" {
			t.Errorf("%s stands twice in the table, or has no words", row[0])
		}
		explained[row[0]] = true
	}
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var used []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") {
			used = append(used, codePattern.FindAllString(string(text), -1)...)
		}
	}
	slices.Sort(used)
	if len(used) == 0 {
		t.Error("no code was found")
	}
	if len(used) != len(slices.Compact(slices.Clone(used))) {
		t.Errorf("a code is defined twice: %v", used)
	}
	for _, code := range used {
		if !explained[strings.Trim(code, `"`)] {
			t.Errorf("%s is not in the table", code)
		}
	}
}
