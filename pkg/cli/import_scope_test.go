// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// TestImportOfClusterScopedKinds: of the kinds without a namespace, kube-janitor looks only at Namespaces.
func TestImportOfClusterScopedKinds(t *testing.T) {
	t.Parallel()
	const (
		plurals = "nodes,persistentvolumes,clusterroles,customresourcedefinitions,storageclasses,flowschemas,priorityclasses"
		marked  = "---\napiVersion: v1\nkind: PersistentVolume\nmetadata:\n  name: marked\n  annotations: {janitor/ttl: 7d}\n"
		leftOut = " are left out: kube-janitor looks only at Namespaces and at kinds whose objects belong to a namespace   [N-IMP-001]\n"
	)
	rules := "---\nrules:\n- {id: a, resources: [" + plurals + ",namespaces,pods], jmespath: metadata.labels.a, ttl: 1d}\n"
	workload := fmt.Sprintf(janitorWorkload, "'--include-resources="+plurals+",namespaces,pods'", "")
	got := call(t.Context(), t, workload+rules+marked, nil, "import", "kube-janitor", "-", "--keep-action")
	rule, marks := kindsOf(got.out, "kube-janitor-a"), kindsOf(got.out, "kube-janitor-marks")
	if got.code != codes.ExitDone || rule != "Namespace Pod" || marks != "Namespace Pod" {
		t.Errorf("exit %d, the rule's kinds are %q, and %q have marks:\n%s", got.code, rule, marks, got.errOut)
	}
	for plural := range strings.SplitSeq(plurals, ",") {
		for _, want := range []string{"rule a: " + plural + leftOut, "kube-janitor: " + plural + leftOut} {
			if !strings.Contains(got.errOut, want) {
				t.Errorf("%q is not in:\n%s", want, got.errOut)
			}
		}
	}
	if want := "marked: metadata.annotations: are not read: kube-janitor looks only at Namespaces and at kinds"; !strings.Contains(got.errOut, want) {
		t.Errorf("%q is not in:\n%s", want, got.errOut)
	}
}

// TestImportOfNamespacesThemselves: Kyverno takes a Namespace to be in itself, and obeys the scope of rules.
func TestImportOfNamespacesThemselves(t *testing.T) {
	t.Parallel()
	const (
		cleanup  = "apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n"
		deleting = "apiVersion: policies.kyverno.io/v1\nkind: DeletingPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
			"  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [namespaces, configmaps], scope: %s}]%s}\n" +
			"  conditions: [{name: all, expression: 'true'}]\n"
		objects = "{apiVersion: v1, kind: Namespace, metadata: {name: prod-1}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: pr-1}}\n---\n" +
			"{apiVersion: v1, kind: ConfigMap, metadata: {namespace: pr-1, name: a}}\n"
	)
	dir := t.TempDir()
	dump := writeFile(t, filepath.Join(dir, "dump.yaml"), objects)
	for name, test := range map[string]struct{ policy, want string }{
		"excluded":       {cleanup + "  match: {any: [{resources: {kinds: [Namespace]}}]}\n  exclude: {any: [{resources: {namespaces: ['prod-*', shop]}}]}\n", "Namespace/pr-1"},
		"matched":        {cleanup + "  match: {any: [{resources: {kinds: [Namespace], namespaces: ['pr-*']}}]}\n", "Namespace/pr-1"},
		"one of several": {cleanup + "  match: {any: [{resources: {kinds: [Namespace, ConfigMap], namespaces: [pr-1]}}]}\n", "ConfigMap/pr-1/a Namespace/pr-1"},
		"namespaced":     {fmt.Sprintf(deleting, "Namespaced", ""), "ConfigMap/pr-1/a"},
		"cluster-scoped": {fmt.Sprintf(deleting, "Cluster", ""), "Namespace/pr-1 Namespace/prod-1"},
		"of any scope":   {fmt.Sprintf(deleting, "'*'", ""), "ConfigMap/pr-1/a Namespace/pr-1 Namespace/prod-1"},
		"excluded by scope": {
			fmt.Sprintf(deleting, "'*'", ", excludeResourceRules: [{apiGroups: [''], apiVersions: [v1], resources: ['*'], scope: Namespaced}]"),
			"Namespace/pr-1 Namespace/prod-1",
		},
	} {
		imported := call(t.Context(), t, test.policy+noFilters, nil, "import", "kyverno", "-")
		if imported.code != codes.ExitDone {
			t.Errorf("%s: exit %d:\n%s", name, imported.code, imported.errOut)
			continue
		}
		got := call(t.Context(), t, imported.out, nil, "preview", "-f", "-", "--from", dump, "-o", "name")
		found := strings.Fields(got.out)
		slices.Sort(found)
		if strings.Join(found, " ") != test.want {
			t.Errorf("%s: it selects %q, want %q:\n%s%s", name, found, test.want, imported.out, got.errOut)
		}
	}
}

// TestImportOfGroupsTimesResources: a rule names each resource in each group, and not all of them exist.
func TestImportOfGroupsTimesResources(t *testing.T) {
	t.Parallel()
	const (
		policy = "apiVersion: policies.kyverno.io/v1\nkind: DeletingPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
			"  matchConstraints: {resourceRules: [{apiGroups: [%s], apiVersions: [v1], resources: [%s]}]}\n" +
			"  conditions: [{name: all, expression: 'true'}]\n"
		lost = "warning: a: spec.matchConstraints.resourceRules[0].resources["
	)
	for _, test := range []struct {
		groups, resources string
		kinds             string
		// lost are those of which it is not known what they are.
		lost []string
	}{
		{"'', apps", "configmaps, deployments", "ConfigMap Deployment", nil},
		{"'', apps", "configmaps, widgets", "ConfigMap", []string{`1]: "widgets" of group ""`, `1]: "widgets" of group "apps"`}},
		{"'', serving.knative.dev", "services", "Service", []string{`0]: "services" of group "serving.knative.dev"`}},
	} {
		got := call(t.Context(), t, fmt.Sprintf(policy, test.groups, test.resources)+noFilters, nil, "import", "kyverno", "-")
		ok := kindsOf(got.out, "a") == test.kinds && strings.Count(got.errOut, lost) == len(test.lost)
		for _, want := range test.lost {
			ok = ok && strings.Contains(got.errOut, lost+want)
		}
		if !ok || (got.code == codes.ExitPartial) != (len(test.lost) > 0) {
			t.Errorf("%s of %s: exit %d, want %q:\n%s%s", test.resources, test.groups, got.code, test.lost, got.out, got.errOut)
		}
	}
}
