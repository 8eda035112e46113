// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"
)

// TestImportOfExcludedKinds: the kinds of exclude are patterns of groups, versions, kinds and subresources, as CheckKind
// in Kyverno 1.15 takes them.
func TestImportOfExcludedKinds(t *testing.T) {
	t.Parallel()
	const (
		match = cleanupOfAll + "  match: {any: [{resources: {kinds: [ConfigMap, Pod]}}]}\n  exclude: {any: [{resources: {kinds: ["
		both  = "ConfigMap/ns/a Pod/ns/p"
		all   = "spec.exclude: the Cleaner does not select ConfigMap objects: exclude names all of them"
		none  = "exclude and resourceFilters leave nothing of it"
	)
	const objects = "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ns, name: a}}\n---\n{apiVersion: v1, kind: Pod, metadata: {namespace: ns, name: p}}\n"
	for kinds, test := range map[string]struct{ selected, says string }{
		"ConfigMap":         {"Pod/ns/p", all},
		"'Config*'":         {"Pod/ns/p", all},
		"'v1/Config*'":      {"Pod/ns/p", all},
		"'*/ConfigMap'":     {"Pod/ns/p", all},
		"'v?/Config*'":      {both, ""}, // and this one of a kind v?
		"'*/v1/ConfigMap'":  {both, ""}, // to Kyverno, this is a subresource of the kind v1
		"'*'":               {"none", none},
		"'*/*'":             {"none", none},
		"ConfigMap/status":  {both, `note: a: spec.exclude.any[0].resources.kinds: "ConfigMap/status" names the subresource "status": it excludes no object, as in Kyverno`},
		"ConfigMap.status":  {both, ""},
		"'*/status'":        {both, ""},
		"apps/v1/ConfigMap": {both, ""},
		"Secret":            {both, ""},
		"v2/ConfigMap": {"Pod/ns/p", `spec.exclude.any[0].resources.kinds: "v2/ConfigMap" is taken for the version v1, which match selects   [W-IMP-001]
  hint: remove the version from exclude, or the whole name`},
		"v2/ConfigMap, ConfigMap/status": {"Pod/ns/p", all},
	} {
		selected, got := imported(t, match+kinds+"]}}]}\n", objects)
		if selected != test.selected || !strings.Contains(got.errOut, test.says) || strings.Contains(got.errOut, "exclude names all") && test.selected == both {
			t.Errorf("without %s it selects %q, want %q, says %q:\n%s%s", kinds, selected, test.selected, test.says, got.out, got.errOut)
		}
	}
}
