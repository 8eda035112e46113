// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"regexp"
	"slices"
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
	for _, match := range regexp.MustCompile(`(?m)^[ │├└─]*pkg/([a-z]+)(?: |$)`).FindAllStringSubmatch(string(text), -1) {
		drawn = append(drawn, match[1])
	}
	entries, err := os.ReadDir("../../pkg")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		there = append(there, entry.Name())
	}
	slices.Sort(drawn)
	if diff := cmp.Diff(there, drawn); diff != "" {
		t.Errorf("the packages in the picture (-tree +picture):\n%s", diff)
	}
}
