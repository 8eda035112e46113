// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// TestPreviewOfFindings shows what a run would do, and why: also to somebody who may not read all that could use an object.
func TestPreviewOfFindings(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	s.configMap("b", nil)
	c := s.cleaner(func(c *v1alpha1.Cleaner) {
		c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To[int32](5)}
		sel := &c.Spec.ResourcePolicySet.ResourceSelectors[0]
		sel.LabelFilters, sel.Finding = nil, &v1alpha1.FindingSelector{Type: v1alpha1.FindingUnused, ForSeconds: ptr.To[int64](1209600)}
		sel.MatchConditions = []v1alpha1.MatchCondition{{Name: "a", Expression: "object.metadata.name == 'a'"}}
	})
	got := s.call(t.Context(), nil, "preview", c.Name)
	if text := s.plain(got.out); got.code != codes.ExitDone || !strings.Contains(text, "NS   ConfigMap   a   be deleted   none of ") || strings.Contains(text, "ConfigMap   b") {
		t.Errorf("it prints (%d)\n%s%s", got.code, text, got.errOut)
	}
	if !strings.Contains(got.errOut, "1 would be deleted later. A run acts on an object only after every run of the last 14d, and at least 3 runs, found it (forSeconds)") {
		t.Errorf("it says\n%s", got.errOut)
	}
	user := s.user(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps", "namespaces", "pods"}, Verbs: []string{"list", "get"}})
	got = s.call(t.Context(), nil, "preview", c.Name, "--as", user)
	if text := s.plain(got.out); got.code != codes.ExitDone || !strings.Contains(text, "NS   ConfigMap   a   stay as it is   no user found in ") {
		t.Errorf("to a user with few rights it prints (%d)\n%s%s", got.code, text, got.errOut)
	}
	if !strings.Contains(got.errOut, "0 of 2 objects match; 1 is unknown and would be left alone") {
		t.Errorf("it says\n%s", got.errOut)
	}
	got = s.call(t.Context(), nil, "preview", c.Name, "--only", "ConfigMap/"+s.namespace+"/b")
	if text := s.plain(got.errOut); !strings.HasPrefix(text, "note: ConfigMap NS/b does not match:\n  resourceSelectors[0]: matchConditions[0] (a) is false") {
		t.Error(text)
	}
}

// TestPreviewOfWhatIsOnlyReported does not advise what would be refused.
func TestPreviewOfWhatIsOnlyReported(t *testing.T) {
	t.Chdir("testdata/scan")
	got := call(t.Context(), t, "", nil, "preview", "-f", "cascading.yaml", "--from", "dump.yaml", "--complete")
	if got.code != codes.ExitDone || !strings.Contains(got.errOut, "1 would be reported") || strings.Contains(got.errOut, "spec.action to Delete") {
		t.Errorf("it says (%d)\n%s%s", got.code, got.out, got.errOut)
	}
}

// TestPreviewKnowsWhatADumpLeavesOut: objects of one namespace prove nothing of what others may use, and what a dump
// declares is a reference, as in a scan.
func TestPreviewKnowsWhatADumpLeavesOut(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "cleaner.yaml"), []byte(`apiVersion: apps.projectsveltos.io/v1alpha1
kind: Cleaner
metadata: {name: tidy}
spec:
  schedule: "0 3 * * *"
  action: Delete
  blastRadiusLimit: {maxCount: 5}
  resourcePolicySet:
    resourceSelectors:
    - {group: "", version: v1, kind: PersistentVolume, finding: {type: Unused}}
    - {group: "", version: v1, kind: ConfigMap, finding: {type: Unused}}
`), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "declared.yaml"), []byte(`apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: theme, namespace: shop}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: unused, namespace: shop}}
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, annotations: {example.com/theme: theme}}, spec: {template: {}}}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: kubecleaner-references, namespace: projectsveltos}
  data: {our.yaml: "- {kind: Deployment.apps, references: [{path: \"metadata.annotations[example.com/theme]\", to: ConfigMap}]}"}
`), 0o600))
	for dump, want := range map[string]string{
		"testdata/scan/one-namespace.yaml":             "- PersistentVolume old stay as it is",
		filepath.Join(dir, "declared.yaml --complete"): "shop ConfigMap unused be deleted",
	} {
		args := append([]string{"preview", "-f", filepath.Join(dir, "cleaner.yaml"), "--from"}, strings.Fields(dump)...)
		got := call(t.Context(), t, "", nil, args...)
		out := strings.Join(strings.Fields(got.out), " ")
		if !strings.Contains(out, want) || strings.Contains(out, "ConfigMap theme") {
			t.Errorf("of %s it says (%d)\n%s%s", dump, got.code, got.out, got.errOut)
		}
	}
	// Of an object that does not match, the manifests say as much as of the others.
	got := call(t.Context(), t, "", nil, "preview", "-f", filepath.Join(dir, "cleaner.yaml"), "--from", filepath.Join(dir, "declared.yaml"), "--only", "ConfigMap/shop/theme")
	if !strings.Contains(got.errOut, "note: ConfigMap shop/theme does not match") {
		t.Errorf("it says (%d)\n%s%s", got.code, got.out, got.errOut)
	}
}
