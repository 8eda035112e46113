// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHouse compares the packages in CONTRIBUTING's picture of the house with the tree.
func TestHouse(t *testing.T) {
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	var drawn, there []string
	for _, match := range regexp.MustCompile(`(?m)^[ │├└─]*((?:pkg|test|hack)/[a-z0-9]+)(?: |$)`).FindAllStringSubmatch(string(text), -1) {
		drawn = append(drawn, match[1])
	}
	_, cli, _ := strings.Cut(string(text), "\npkg/cli ")
	cli, _, _ = strings.Cut(cli, "\napi/")
	for _, match := range regexp.MustCompile(`[├└]─ ((?:[a-z]+ )+)  `).FindAllStringSubmatch(cli, -1) {
		for _, name := range strings.Fields(match[1]) {
			drawn = append(drawn, "pkg/cli/"+name)
		}
	}
	for _, room := range []string{"hack", "pkg", "pkg/cli", "test"} {
		entries, err := os.ReadDir("../../" + room)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if entry.IsDir() && entry.Name() != "testdata" {
				there = append(there, room+"/"+entry.Name())
			}
		}
	}
	slices.Sort(drawn)
	slices.Sort(there)
	if diff := cmp.Diff(there, drawn); diff != "" {
		t.Errorf("the packages in the picture (-tree +picture):\n%s", diff)
	}
}
