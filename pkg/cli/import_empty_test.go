// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

const (
	cleanupOfAll = "apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n"
	configMapA   = "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ns, name: a, labels: {app: web}}}\n---\n" +
		"{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ns, name: b}}\n"
)

// imported is what the Cleaner of a policy selects of some objects, as names, and what import said. It is "none" when no
// Cleaner was written.
func imported(t *testing.T, policy, objects string) (selected string, got session) {
	t.Helper()
	got = call(t.Context(), t, policy+noFilters, nil, "import", "kyverno", "-")
	if got.out == "" {
		return "none", got
	}
	dump := writeFile(t, filepath.Join(t.TempDir(), "dump.yaml"), objects)
	names := strings.Fields(call(t.Context(), t, got.out, nil, "preview", "-f", "-", "--from", dump, "-o", "name").out)
	slices.Sort(names)
	return strings.Join(names, " "), got
}

// TestImportOfEmptyParts: an empty exclude is everything to Kyverno, and an empty part of any or all nothing.
func TestImportOfEmptyParts(t *testing.T) {
	t.Parallel()
	const (
		maps  = "  match: {any: [{resources: {kinds: [ConfigMap]}}]}\n"
		both  = "ConfigMap/ns/a ConfigMap/ns/b"
		empty = "spec.exclude: is empty, and Kyverno then excludes everything: the policy deletes nothing, so no Cleaner was written"
	)
	for policy, test := range map[string]struct{ selected, says string }{
		maps + "  exclude: {}\n":                                                  {"none", empty},
		maps + "  exclude: {any: []}\n":                                           {"none", empty},
		maps + "  exclude: {all: []}\n":                                           {"none", empty},
		maps + "  exclude: {any: null}\n":                                         {"none", empty},
		maps + "  exclude: {resources: {}}\n":                                     {"none", empty},
		maps + "  exclude: {anny: [{}]}\n":                                        {"none", empty},
		maps + "  exclude:\n":                                                     {both, ""},
		maps + "  exclude: {any: [{}]}\n":                                         {both, ""},
		maps + "  exclude: {all: [{}]}\n":                                         {both, ""},
		maps + "  exclude: {any: [{resources: {}}, {resources: {names: [a]}}]}\n": {"ConfigMap/ns/b", ""},
		maps + "  exclude: {all: [{resources: {}}, {resources: {names: [a]}}]}\n": {both, ""},
		maps + "  exclude: {any: [{resources: {operations: [DELETE]}}]}\n":        {"none", "leave nothing of it"},
		maps + "  exclude: {any: [{resources: {selector: {}}}]}\n":                {"none", "leave nothing of it"},
		"  match: {}\n": {"none", "no kind of it could be carried over"},
		"  match: {resources: {kinds: [ConfigMap]}}\n":                                                                {"none", "no kind of it could be carried over"},
		"  match: {any: [{}]}\n":                                                                                      {"none", "no kind of it could be carried over"},
		"  match: {all: [{}, {resources: {kinds: [ConfigMap]}}]}\n":                                                   {"", "spec.match.all[0]: is empty, and selects nothing in Kyverno"},
		"  match: {all: [{resources: {operations: [DELETE]}}, {resources: {kinds: [ConfigMap]}}]}\n":                  {"", "spec.match.all[0]: is empty, and selects nothing in Kyverno"},
		"  match: {any: [{}, {resources: {kinds: [ConfigMap]}}]}\n":                                                   {both, ""},
		"  match: {any: [{resources: {kinds: [ConfigMap], names: [a]}}], all: [{resources: {kinds: [ConfigMap]}}]}\n": {"ConfigMap/ns/a", ""},
	} {
		selected, got := imported(t, cleanupOfAll+policy, configMapA)
		code := codes.ExitDone
		if test.says != "" {
			code = codes.ExitPartial
		}
		if selected != test.selected || got.code != code || !strings.Contains(got.errOut, test.says) {
			t.Errorf("%s selects %q, want %q, exit %d, says %q:\n%s%s", policy, selected, test.selected, got.code, test.says, got.out, got.errOut)
		}
	}
}
