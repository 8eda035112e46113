// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// TestPreviewOfWhatTheServerRefusesInAll: of what it was not asked about, the same is to be expected.
func TestPreviewOfWhatTheServerRefusesInAll(t *testing.T) {
	s := newSite(t)
	s.deployments(25)
	c := s.transforms("apps", "Deployment", `{"spec":{"replicas":-1}}`)
	got := s.call(t.Context(), nil, "preview", c.Name)
	for _, want := range []string{
		"about 20 of 25 Deployments, and would refuse 20 of these; it was not asked about the other 5, and will most likely refuse them as well: --dry-run-all asks about all\n",
		"25 of 25 objects match; 5 were not asked about, 20 could not be changed\n",
	} {
		if !strings.Contains(got.errOut, want) {
			t.Errorf("there is no %q in\n%s", want, got.errOut)
		}
	}
	rows := previewHeader + "NS   Deployment   20 objects   fail   the API server would refuse it: Deployment.apps \"NAME\" is invalid: spec.replicas: " +
		"Invalid value: -1: must be greater than or equal to 0\n" +
		"NS   Deployment   d20   unknown   not checked: the API server refused all 20 objects that were checked\n"
	if text := s.plain(got.out); !strings.HasPrefix(text, rows) || strings.Contains(text, "be changed") || strings.Count(text, "+++ ") != 1 {
		t.Errorf("there is no %q, or more than one patch, in\n%s", rows, text)
	}
	got = s.call(t.Context(), nil, "preview", c.Name, "-o", "name")
	if got.out != "" {
		t.Errorf("would be changed:\n%s", got.out)
	}
}

// TestPreviewAsAnAccountThatMayNot: the counts and the rows say so before all else, and so does JSON.
func TestPreviewAsAnAccountThatMayNot(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	c := s.cleaner()
	user := s.user(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps", "namespaces"}, Verbs: []string{"get", "list"}})
	const why = "user-NS may not delete configmaps in namespace NS"
	file := filepath.Join(t.TempDir(), "cleaner.yaml")
	raw, err := yaml.Marshal(map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Cleaner", "metadata": map[string]string{"name": c.Name}, "spec": c.Spec})
	must(t, err)
	must(t, os.WriteFile(file, raw, 0o600))
	for of, args := range map[string][]string{c.Name: {c.Name}, "-f " + file: {"-f", file}} {
		s.wants(s.call(t.Context(), nil, append([]string{"preview", "--as", user}, args...)...), codes.ExitPartial,
			previewHeader+"NS   ConfigMap   a   fail   "+why+"\n",
			"1 of 1 object matches; 0 would be deleted; 1 could not be deleted: "+why+"\n"+
				"error: cleaner \"unused-NS\": a run with these rights would fail: "+why+"\nhint: the rights that it needs: kubectl cleaner rbac "+s.plain(of)+" --service-account NAMESPACE/NAME   [E-CLU-003]\n")
	}
	got := s.call(t.Context(), nil, "preview", c.Name, "--as", user, "-o", "json")
	for _, want := range []string{`"wouldAct": 0`, `"failed": 1`, `"forbidden": "` + why + `"`, `"outcome": "Failed"`, `"reason": "` + why + `"`} {
		if !strings.Contains(s.plain(got.out), want) {
			t.Errorf("there is no %q in\n%s", want, got.out)
		}
	}
}

// TestPreviewAsAnAccountThatMayInPart: a right in one namespace is none in another.
func TestPreviewAsAnAccountThatMayInPart(t *testing.T) {
	s, other := newSite(t), newSite(t)
	for _, in := range []*site{s, other} {
		in.configMap("a", map[string]string{"unused": "true"})
	}
	c := s.transforms("", "ConfigMap", `{"data":{"a":"b"}}`)
	selectors := &c.Spec.ResourcePolicySet.ResourceSelectors
	*selectors = append(*selectors, *(*selectors)[0].DeepCopy())
	(*selectors)[1].Namespace = other.namespace
	must(t, s.Update(t.Context(), c))
	reads := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps", "namespaces"}, Verbs: []string{"get", "list"}}
	changes := *reads.DeepCopy()
	changes.Verbs = append(changes.Verbs, "patch")
	user := s.user(changes)
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: other.namespace, Name: "part"}, Rules: []rbacv1.PolicyRule{reads}}
	must(t, s.Create(t.Context(), role))
	must(t, s.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: other.namespace, Name: "part"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}))
	want := "2 of 2 objects match; 1 would be changed; 1 could not be changed: " + user + " may not patch configmaps in namespace " + other.namespace + "\n"
	var got session
	s.eventually(func(ctx context.Context) (bool, error) { // until the API server knows of the right
		got = s.call(ctx, nil, "preview", c.Name, "--as", user)
		return !strings.Contains(got.errOut, "nothing could be read") && !strings.Contains(got.errOut, "as far as"), nil
	})
	if got.code != codes.ExitPartial || !strings.HasPrefix(got.errOut, want) {
		t.Errorf("exit %d, want %q first in\n%s%s", got.code, want, got.out, got.errOut)
	}
}

// TestPreviewAsAnAccountThatMayByName: a right to some names (resourceNames) counts for these, and beyond what is asked it
// is said that nobody knows.
func TestPreviewAsAnAccountThatMayByName(t *testing.T) {
	s := newSite(t)
	t.Cleanup(func() { // of what a Role names, a scan of the whole cluster in another test does not know whether it is used
		must(t, s.DeleteAllOf(context.Background(), &corev1.ConfigMap{}, client.InNamespace(s.namespace)))
	})
	for i := range 103 {
		s.configMap(fmt.Sprintf("a-%03d", i), map[string]string{"unused": "true"})
	}
	c := s.cleaner()
	user := s.user(
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"delete"}, ResourceNames: []string{"a-001", "a-002"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps", "namespaces"}, Verbs: []string{"get", "list"}})
	got := s.call(t.Context(), nil, "preview", c.Name, "--as", user, "--limit", "3")
	row := "NS   ConfigMap   98 objects   fail   user-NS may not delete configmaps in namespace NS\nNS   ConfigMap   a-001   be deleted"
	if text := s.plain(got.out); got.code != codes.ExitPartial || !strings.Contains(text, row) {
		t.Errorf("exit %d, there is no %q in\n%s", got.code, row, text)
	}
	for _, want := range []string{
		"103 of 103 objects match; 5 would be deleted; 98 could not be deleted: user-NS may not delete configmaps in namespace NS\n",
		"note: user-NS may touch some of the objects by their names (resourceNames); it was not asked about 3 more objects\n",
	} {
		if text := s.plain(got.errOut); !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}

// What an account without any rights may not list is told in one line.
func TestPreviewOfAnAccountWithoutRights(t *testing.T) {
	s := newSite(t)
	const file = "../../config/recipes/unused/cleaner.yaml"
	got := s.call(t.Context(), nil, "preview", "-f", file, "--as", "system:serviceaccount:"+s.namespace+":nobody")
	if n := strings.Count(got.errOut, "forbidden"); got.code != codes.ExitPartial || n > 2 || !strings.Contains(got.errOut, " more are forbidden") || !strings.Contains(got.errOut, "kubectl cleaner rbac -f "+file+" --service-account "+s.namespace+"/nobody") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
}
