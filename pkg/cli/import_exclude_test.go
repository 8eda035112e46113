// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
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

// TestImportOfExcludedAnnotations: wildcards match line breaks, too. kubectl writes one at the end of what it applied.
func TestImportOfExcludedAnnotations(t *testing.T) {
	t.Parallel()
	const policy = cleanupOfAll + "  match: {any: [{resources: {kinds: [ConfigMap]}}]}\n" +
		"  exclude: {any: [{resources: {annotations: {kubectl.kubernetes.io/last-applied-configuration: '?*'}}}]}\n"
	const objects = `{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ns, name: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ns, name: b, annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}\n"}}}
`
	if selected, got := imported(t, policy, objects); selected != "ConfigMap/ns/a" {
		t.Errorf("it selects %q:\n%s%s", selected, got.out, got.errOut)
	}
}

// TestImportOfExcludedResources: the API server takes the subresource * for the objects themselves, too.
func TestImportOfExcludedResources(t *testing.T) {
	t.Parallel()
	const (
		policy = "apiVersion: policies.kyverno.io/v1\nkind: DeletingPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
			"  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods, configmaps]}, " +
			"{apiGroups: [events.k8s.io], apiVersions: [v1], resources: [events]}], " +
			"excludeResourceRules: [{apiGroups: [%s], apiVersions: [v1], resources: [%s]}]}\n" +
			"  conditions: [{name: all, expression: 'true'}]\n"
		objects = "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ns, name: a}}\n---\n{apiVersion: v1, kind: Pod, metadata: {namespace: ns, name: p}}\n" +
			"---\n{apiVersion: events.k8s.io/v1, kind: Event, metadata: {namespace: ns, name: e}}\n"
	)
	for _, test := range [][3]string{
		{"''", "pods", "ConfigMap/ns/a Event/ns/e"},
		{"''", "pods/*", "ConfigMap/ns/a Event/ns/e"},
		{"''", "'*/*'", "Event/ns/e"},
		{"'*'", "'*/*'", "none"},
		{"'*'", "events", "ConfigMap/ns/a Pod/ns/p"},
		{"''", "pods/status", "ConfigMap/ns/a Event/ns/e Pod/ns/p"},
	} {
		selected, got := imported(t, fmt.Sprintf(policy, test[0], test[1]), objects)
		if selected != test[2] {
			t.Errorf("without %s of %s it selects %q, want %q:\n%s%s", test[1], test[0], selected, test[2], got.out, got.errOut)
		}
	}
}

// TestImportOfNamespacedPolicies: the selector of namespaces narrows also a policy that has a namespace.
func TestImportOfNamespacedPolicies(t *testing.T) {
	t.Parallel()
	const policy = "apiVersion: policies.kyverno.io/v1\nkind: NamespacedDeletingPolicy\nmetadata: {namespace: shop, name: a}\nspec:\n  schedule: '@daily'\n" +
		"  matchConstraints: {namespaceSelector: {matchLabels: {env: %s}}, resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [configmaps]}]}\n" +
		"  conditions: [{name: all, expression: 'true'}]\n"
	const objects = "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {env: prod, kubernetes.io/metadata.name: shop}}}\n---\n" +
		"{apiVersion: v1, kind: Namespace, metadata: {name: other, labels: {env: prod, kubernetes.io/metadata.name: other}}}\n---\n" +
		"{apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop, name: a}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {namespace: other, name: a}}\n"
	for env, want := range map[string]string{"prod": "ConfigMap/shop/a", "test": ""} {
		if selected, got := imported(t, fmt.Sprintf(policy, env), objects); selected != want {
			t.Errorf("in namespaces of %s it selects %q, want %q:\n%s%s", env, selected, want, got.out, got.errOut)
		}
	}
}
