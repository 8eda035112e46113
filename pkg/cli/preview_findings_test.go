// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
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
	if !strings.Contains(got.errOut, "1 would be deleted later. A run waits until an object was found so in every run for 14d, and at least in 3 (forSeconds)") {
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
