// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReasons checks that docs/how-to/troubleshoot.md has a row on each reason of a Cleaner's conditions.
func TestReasons(t *testing.T) {
	source, err := os.ReadFile(root + "/api/v1alpha1/reasons.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(root + "/docs/how-to/troubleshoot.md")
	if err != nil {
		t.Fatal(err)
	}
	reasons := regexp.MustCompile(`(?m)^\tReason\w+ += "(\w+)"$`).FindAllStringSubmatch(string(source), -1)
	if len(reasons) == 0 {
		t.Fatal("api/v1alpha1/reasons.go has no reasons")
	}
	for _, reason := range reasons {
		if !strings.Contains(string(page), "\n| `"+reason[1]+"` |") {
			t.Errorf("docs/how-to/troubleshoot.md has no row on the reason %s", reason[1])
		}
	}
}
