// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// TestScanDoesNotFlood: findings that are alike share a row. Where each has its own, a table shows as many rows of each
// type, kind and namespace as --limit says, and how many objects there are besides. All else counts and prints everything.
func TestScanDoesNotFlood(t *testing.T) {
	var manifests strings.Builder
	object := func(kind, namespace, name string) {
		fmt.Fprintf(&manifests, "apiVersion: v1\nkind: %s\nmetadata: {name: %s, namespace: %s, uid: %[1]s-%[3]s-%[2]s}\n---\n", kind, name, namespace)
	}
	for i := range 3001 {
		object("ConfigMap", "shop", fmt.Sprintf("c%04d", i))
	}
	for i := range 51 {
		object("Secret", "shop", fmt.Sprintf("s%04d", i))
	}
	for i := range 50 {
		object("ConfigMap", "web", fmt.Sprintf("w%04d", i))
	}
	scan := func(flags ...string) session {
		return call(t.Context(), t, manifests.String(), nil, append([]string{"scan", "--from", "-", "--complete"}, flags...)...)
	}
	sums := regexp.MustCompile(`^3102 findings in .*: 3102 Unused. Deleting what may be deleted would remove 3102 objects.\n`)
	got := scan()
	if want := `TYPE     KIND        NAMESPACE   NAME            AGE   WHY
Unused   ConfigMap   shop        3,001 objects   -     none of 25 kinds names it
Unused   ConfigMap   web         50 objects      -     none of 25 kinds names it
Unused   Secret      shop        51 objects      -     none of 34 kinds names it
`; got.out != want || !sums.MatchString(got.errOut) || !strings.Contains(got.errOut, "\n"+sharedNote) {
		t.Errorf("got\n%s%s", got.out, got.errOut)
	}
	got = scan("-o", "wide")
	if strings.Contains(got.errOut, sharedNote) {
		t.Errorf("no row is shared:\n%s", got.errOut)
	}
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	if len(lines) != 1+50+1+50+50+1 || !sums.MatchString(got.errOut) || got.code != codes.ExitDone {
		t.Errorf("exit %d, %d lines:\n%s%s", got.code, len(lines), got.out, got.errOut)
	}
	for line, want := range map[int]string{
		1:   "Unused   ConfigMap   shop        c0000   -     ",
		51:  "... 2,951 more ConfigMaps in shop: --limit 0 shows all, and so do -o csv and -o json",
		52:  "Unused   ConfigMap   web         w0000   -     ",
		152: "... 1 more Secret in shop: --limit 0 shows all, and so do -o csv and -o json",
	} {
		if !strings.HasPrefix(lines[line], want) {
			t.Errorf("line %d is %q, want %q", line, lines[line], want)
		}
	}
	for flags, want := range map[string]int{
		"--limit 0": 3103, "--limit 1": 1 + 3, "-o wide --limit 1": 1 + 2*3, "-o name --limit 1": 3102, "-o csv": 3103, "-o wide --limit 3001": 3103,
	} {
		if got := scan(strings.Fields(flags)...); strings.Count(got.out, "\n") != want || !sums.MatchString(got.errOut) {
			t.Errorf("%s: %d lines, want %d\n%s", flags, strings.Count(got.out, "\n"), want, got.errOut)
		}
	}
	if got := scan("--fail-on-findings=3102"); got.code != codes.ExitFindings {
		t.Errorf("exit %d", got.code)
	}
}

const sharedNote = "note: objects that differ only in name and age share a row; to list each: --limit 0\n"

// TestScanOfManyAlike: ten objects keep their rows, eleven share one, which says how old they are, and which --limit counts
// as one.
func TestScanOfManyAlike(t *testing.T) {
	var manifests strings.Builder
	for release, n := range map[string]int{"a": 11, "b": 12, "c": 10} {
		for i := range n {
			fmt.Fprintf(&manifests, `{apiVersion: v1, kind: ConfigMap, metadata: {name: %s%d, namespace: shop, creationTimestamp: "%d-01-01T00:00:00Z",
  annotations: {meta.helm.sh/release-name: %[1]s, meta.helm.sh/release-namespace: shop}}}
---
`, release, i, 2000+min(i, 5))
		}
	}
	age := regexp.MustCompile(`\d+y`)
	for flags, want := range map[string][]string{
		"": {
			"11 objects   AGE to AGE   none of 25 kinds names it (Helm release shop/a)", "12 objects   AGE to AGE   none of 25 kinds names it (Helm release shop/b)",
			"c0           AGE          none of 25 kinds names it (Helm release shop/c)", "c1 ", "c2 ", "c3 ", "c4 ",
			"c5 ", "c6 ", "c7 ", "c8 ", "c9 ",
		},
		"--limit 1": {"11 objects   AGE to AGE   none of 25 kinds names it (Helm release shop/a)", "... 22 more ConfigMaps in shop: "},
	} {
		got := call(t.Context(), t, manifests.String(), nil, append([]string{"scan", "--from", "-", "--complete"}, strings.Fields(flags)...)...)
		lines := strings.Split(age.ReplaceAllString(strings.TrimSpace(got.out), "AGE"), "\n")[1:]
		if len(lines) != len(want) || !strings.Contains(got.errOut, sharedNote) {
			t.Fatalf("%s:\n%s%s", flags, got.out, got.errOut)
		}
		for i, line := range lines {
			if !strings.HasPrefix(strings.TrimPrefix(line, "Unused   ConfigMap   shop        "), want[i]) {
				t.Errorf("%s: line %d is %q, want %q", flags, i, line, want[i])
			}
		}
	}
}

// TestScanDoesNotFloodWithUnknown is of what is unknown.
func TestScanDoesNotFloodWithUnknown(t *testing.T) {
	t.Chdir("testdata/scan")
	args := []string{"scan", "--from", "dump.yaml", "--limit", "1"}
	golden(t, "../../../golden/scan-limit.txt", args, call(t.Context(), t, "", nil, args...))
}

// What a dump declares counts as what a cluster does.
func TestScanOfDumpThatDeclares(t *testing.T) {
	const declared = `{apiVersion: v1, kind: ConfigMap, metadata: {name: kubecleaner-references, namespace: projectsveltos}, data: {shop.yaml: '[{kind: Shop.example.com, references: [{path: spec.theme, to: ConfigMap}]}]'}}
---
`
	const used = `{apiVersion: v1, kind: ConfigMap, metadata: {name: dark, namespace: web}}
---
{apiVersion: example.com/v1, kind: Shop, metadata: {name: s, namespace: web}, spec: {theme: dark}}
`
	for manifests, want := range map[string]string{declared + used: "No findings in 3 objects", used: "It is unknown whether 1 object"} {
		got := call(t.Context(), t, manifests, nil, "scan", "--from", "-", "--complete", "-n", "web")
		if !strings.Contains(got.errOut, want) {
			t.Errorf("want %q:\n%s%s", want, got.out, got.errOut)
		}
	}
}
