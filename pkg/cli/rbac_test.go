// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/config/recipes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

const rbacFile = "testdata/rbac/cleaners.yaml"

func TestRBAC(t *testing.T) {
	s := newSite(t)
	args := []string{"rbac", "-f", rbacFile, "--service-account", "team-a/scanner"}
	got := s.call(t.Context(), nil, args...)
	golden(t, filepath.Join("rbac", "cleaners.txt"), args, got)
}

// What somebody writes wrongly is told, and no Role is printed that would lack something.
func TestRBACPrintsNothingThatLacksSomething(t *testing.T) {
	s := newSite(t)
	unknown := strings.Replace(hostileCleaner, "kind: ConfigMap", "kind: ConfigMop", 1)
	for name, test := range map[string]struct {
		stdin string
		args  []string
		code  int
		says  string
	}{
		"nothing given": {"", nil, codes.ExitUsage, "needs one of these: a file (-f FILE), the name of a Cleaner, or labels of Cleaners (-l SELECTOR)"},
		"both given":    {"", []string{"tidy", "-f", rbacFile}, codes.ExitUsage, "needs one of these: a file (-f FILE), the name of a Cleaner, or labels of Cleaners (-l SELECTOR)"},
		"three given":   {"", []string{"tidy", "-f", rbacFile, "-l", "a=b"}, codes.ExitUsage, "needs one of these"},
		"wrong labels":  {"", []string{"-l", "a b c"}, codes.ExitUsage, `--selector "a b c" cannot be read: `},
		"other labels":  {"", []string{"-l", "nobody=here"}, codes.ExitError, "the cluster has no Cleaner with the labels nobody=here"},
		"no account": {
			"",
			[]string{"-f", rbacFile},
			codes.ExitUsage,
			"no spec.serviceAccountRef in Cleaner hooks; set it, or say which account you will set: --service-account NAMESPACE/NAME",
		},
		"a wrong account": {"", []string{"-f", rbacFile, "--service-account", "scanner"}, codes.ExitUsage, "write NAMESPACE/NAME, for example team-a/cleaner"},
		"no such Cleaner": {"", []string{"nowhere"}, codes.ExitError, `there is no cleaner "nowhere" in the cluster`},
		"a wrong file":    {strings.Replace(hostileCleaner, "ACTION", "Remove", 1), []string{"-f", "-"}, codes.ExitError, "1 error in the Cleaners; no Role was printed"},
		"an unknown kind": {
			strings.Replace(unknown, "ACTION", "Scan", 1),
			[]string{"-f", "-", "--service-account", "a/b"},
			codes.ExitError,
			"cleaner tidy: resourceSelectors[0]: kind ConfigMop of v1 is not served; did you mean \"ConfigMap\"?",
		},
	} {
		got := callWith(t, test.stdin, append([]string{"rbac", "--kubeconfig", s.kubeconfig}, test.args...)...)
		if got.code != test.code || got.out != "" || !strings.Contains(got.errOut, test.says) {
			t.Errorf("%s: exit %d, want %d, and %q in:\n%s%s", name, got.code, test.code, test.says, got.out, got.errOut)
		}
	}
}

func callWith(t *testing.T, stdin string, args ...string) session {
	t.Helper()
	return call(t.Context(), t, stdin, nil, args...)
}

// A Cleaner of the cluster says itself as which account it runs.
func TestRBACOfTheCluster(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	got := s.call(t.Context(), nil, "rbac", c.Name, "--service-account", s.namespace+"/cleaner")
	for _, want := range []string{
		"# Set spec.serviceAccountRef: {namespace: " + s.namespace + ", name: cleaner} in: " + c.Name + "\n", "kind: ServiceAccount\n",
		"# list: Cleaner " + c.Name + ", resourceSelectors[0]: select ConfigMap\n", "# delete: Cleaner " + c.Name + ", resourceSelectors[0]: action Delete\n",
		"- apiGroups:\n  - \"\"\n  resources:\n  - configmaps\n  verbs:\n  - list\n  - get\n  - delete\n",
	} {
		if !strings.Contains(got.out, want) || got.code != codes.ExitDone {
			t.Errorf("exit %d, and %q is not in:\n%s%s", got.code, want, got.out, got.errOut)
		}
	}
	if strings.Contains(got.out, "ClusterRole") {
		t.Errorf("one namespace needs no ClusterRole:\n%s", got.out)
	}
	labelled := s.cleaner(func(c *v1alpha1.Cleaner) {
		c.Name, c.Labels = "labelled-"+s.namespace, map[string]string{"team": s.namespace}
	})
	got = s.call(t.Context(), nil, "rbac", "-l", "team="+s.namespace, "--service-account", "a/b", "-o", "json")
	var list struct {
		Items []metav1.PartialObjectMetadata
	}
	if err := json.Unmarshal([]byte(got.out), &list); err != nil || len(list.Items) != 3 || list.Items[1].Kind != "Role" || list.Items[1].Namespace != s.namespace {
		t.Errorf("rbac of %s: %v\n%s%s", labelled.Name, err, got.out, got.errOut)
	}
	if names := s.complete("rbac", "unused-"); !strings.Contains(names, c.Name) {
		t.Errorf("the names of Cleaners are not completed: %q", names)
	}
}

// TestRBACOfASharedAccount: the Roles bear the account's name, so they must not lack what its other Cleaners need.
func TestRBACOfASharedAccount(t *testing.T) {
	s := newSite(t)
	account := &v1alpha1.ServiceAccountRef{Namespace: s.namespace, Name: "cleaner"}
	first := s.cleaner(func(c *v1alpha1.Cleaner) { c.Spec.ServiceAccountRef = account })
	s.cleaner(func(c *v1alpha1.Cleaner) {
		c.Name, c.Spec.ServiceAccountRef = "second-"+s.namespace, account
		c.Spec.ResourcePolicySet.ResourceSelectors[0].Kind = "Secret"
	})
	got := s.call(t.Context(), nil, "rbac", first.Name)
	want := "note: the Roles also have the rights of second-NS, which uses the same ServiceAccount NS/cleaner\n"
	if got.code != codes.ExitDone || s.plain(got.errOut) != want || !strings.Contains(got.out, "  - configmaps\n") ||
		!strings.Contains(got.out, "  - secrets\n") {
		t.Errorf("exit %d:\n%s%s", got.code, got.out, got.errOut)
	}
}

// TestRBACOfABindingForAnotherRole: apply cannot change what a binding gives, so somebody must delete it first.
func TestRBACOfABindingForAnotherRole(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	name := "kubecleaner:" + s.namespace + ":cleaner"
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: s.namespace, Name: "cleaner"}}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}, Subjects: subjects}
	binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"}
	must(t, s.Create(t.Context(), binding))
	args := []string{"rbac", c.Name, "--service-account", s.namespace + "/cleaner"}
	want := "RoleBinding kubecleaner:NS:cleaner exists for ClusterRole edit, and apply cannot change that: " +
		"delete the binding first: kubectl delete rolebindings -n NS kubecleaner:NS:cleaner\n"
	got := s.call(t.Context(), nil, args...)
	if got.code != codes.ExitDone || s.plain(got.errOut) != "note: "+want || !strings.Contains(s.plain(got.out), "---\n# "+want+"apiVersion: ") {
		t.Errorf("exit %d, want %q:\n%s%s", got.code, want, got.out, got.errOut)
	}
	must(t, s.Delete(t.Context(), binding))
	binding.ResourceVersion, binding.RoleRef.Kind, binding.RoleRef.Name = "", "Role", name
	must(t, s.Create(t.Context(), binding))
	if got := s.call(t.Context(), nil, args...); got.code != codes.ExitDone || got.errOut != "" || strings.Contains(got.out, "delete the binding") {
		t.Errorf("exit %d:\n%s%s", got.code, got.out, got.errOut)
	}
	// That of a ClusterRole, too.
	c.Spec.ResourcePolicySet.ResourceSelectors[0].Namespace = ""
	must(t, s.Update(t.Context(), c))
	wide := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: subjects}
	wide.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}
	must(t, s.Create(t.Context(), wide))
	s.Cleanup(func() { _ = s.Delete(context.Background(), wide) })
	want = "note: ClusterRoleBinding kubecleaner:NS:cleaner exists for ClusterRole view, and apply cannot change that: " +
		"delete the binding first: kubectl delete clusterrolebindings kubecleaner:NS:cleaner\n"
	if got := s.call(t.Context(), nil, append(args, "-o", "json")...); got.code != codes.ExitDone || s.plain(got.errOut) != want || !json.Valid([]byte(got.out)) {
		t.Errorf("exit %d, want %q:\n%s%s", got.code, want, got.out, got.errOut)
	}
}

// TestRBACOfEachRecipe: whoever takes a recipe gets the rights for it, or is told which kind the cluster lacks.
func TestRBACOfEachRecipe(t *testing.T) {
	s := newSite(t)
	all, err := recipes.All()
	must(t, err)
	printed := 0
	for _, recipe := range all {
		file := filepath.Join("../../config/recipes", recipe.Name, "cleaner.yaml")
		got := s.call(t.Context(), nil, "rbac", "-f", file, "--service-account", s.namespace+"/cleaner")
		switch {
		case got.code == codes.ExitError && strings.Contains(got.errOut, "is its CustomResourceDefinition installed?"):
			continue
		case got.code != codes.ExitDone || got.errOut != "":
			t.Errorf("%s: exit %d: %s", recipe.Name, got.code, got.errOut)
		}
		printed++
		for _, document := range strings.Split(got.out, "\n---\n") {
			var o unstructured.Unstructured
			must(t, yaml.Unmarshal([]byte(document), &o.Object))
			if o.GetNamespace() != "" && o.GetNamespace() != s.namespace {
				continue // of a namespace that this cluster does not have
			}
			must(t, s.Create(t.Context(), &o, client.DryRunAll))
		}
	}
	if printed < 40 {
		t.Errorf("the rights of %d recipes were printed: this proves nothing", printed)
	}
}
