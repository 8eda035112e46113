// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// cannot is what the API server says of the test's account.
func cannot(b *bench, verb, resource, where string) string {
	if where == "" {
		where = `in the namespace "` + b.namespace + `"`
	}
	name, group, _ := strings.Cut(resource, ".")
	return fmt.Sprintf(`User %q cannot %s resource %q in API group %q %s`, b.accountName(), verb, name, group, where)
}

const (
	nothingRead = "Nothing was touched, because the run could not read or judge everything: "
	atTheTop    = "at the cluster scope"
)

func grantHint(b *bench) string {
	return "Grant ServiceAccount " + b.namespace + "/cleaner the right: a Role with that verb and resource and a RoleBinding in the namespace"
}

// TestRunsOfAnAccount tries account x kind x rights x action. The operator has the rights that config gives it, and no right
// to touch anything itself. In the namespace are the ConfigMaps one and two and the Secret three.
func TestRunsOfAnAccount(t *testing.T) {
	t.Parallel()
	config := deployed(t)
	kill, scan, change := v1alpha1.ActionDelete, v1alpha1.ActionScan, v1alpha1.ActionTransform
	setAnnotation := transform(`function transform() obj.metadata.annotations = {seen = "yes"}; return {resource = obj} end`)
	here := func(rules ...rbacv1.PolicyRule) func(*bench) {
		return func(b *bench) { b.allow(b.accountName(), b.namespace, rules...) }
	}
	everywhere := func(rules ...rbacv1.PolicyRule) func(*bench) {
		return func(b *bench) { b.allow(b.accountName(), "", rules...) }
	}
	selects := func(kinds ...string) func(*bench) func(*v1alpha1.Cleaner) {
		return func(b *bench) func(*v1alpha1.Cleaner) {
			var all []v1alpha1.ResourceSelector
			for _, k := range kinds {
				all = append(all, kind("", "v1", k, b.namespace))
			}
			return selecting(all...)
		}
	}
	labelledNamespaces := func(b *bench) func(*v1alpha1.Cleaner) {
		return edited(func(s *v1alpha1.ResourceSelector) {
			s.Namespace, s.NamespaceSelector = "", "kubernetes.io/metadata.name in ("+b.namespace+", default)"
		})
	}
	says := func(texts ...string) func(*bench) []string { return func(*bench) []string { return texts } }
	refused := func(verb, resource, where string) func(*bench) []string {
		return func(b *bench) []string { return []string{nothingRead, cannot(b, verb, resource, where), grantHint(b)} }
	}
	failed := func(verb, resource, counts string) func(*bench) []string {
		return func(b *bench) []string { return []string{counts, cannot(b, verb, resource, ""), grantHint(b)} }
	}
	tests := map[string]struct {
		grant  func(*bench)
		action v1alpha1.Action
		edit   func(*bench) func(*v1alpha1.Cleaner)
		more   func(*v1alpha1.Cleaner)
		reason string
		want   func(*bench) []string
		left   string // of one, two, three
	}{
		"no rights, delete":         {nil, kill, nil, nil, v1alpha1.ReasonForbidden, refused("list", "configmaps", ""), "one two three"},
		"no rights, scan":           {nil, scan, nil, nil, v1alpha1.ReasonForbidden, refused("list", "configmaps", ""), "one two three"},
		"no rights, transform":      {nil, change, nil, setAnnotation, v1alpha1.ReasonForbidden, refused("list", "configmaps", ""), "one two three"},
		"no rights, Secrets":        {nil, kill, selects("Secret"), nil, v1alpha1.ReasonForbidden, refused("list", "secrets", ""), "one two three"},
		"no rights, namespaces":     {nil, kill, selectsAll("Namespace"), nil, v1alpha1.ReasonForbidden, refused("list", "namespaces", atTheTop), "one two three"},
		"all but list":              {here(may("configmaps", "get", "delete", "patch", "watch", "deletecollection")), kill, nil, nil, v1alpha1.ReasonForbidden, refused("list", "configmaps", ""), "one two three"},
		"list, scan":                {here(may("configmaps", "list")), scan, nil, nil, v1alpha1.ReasonCompleted, says("2 of 2 objects matched."), "one two three"},
		"list, delete":              {here(may("configmaps", "list")), kill, nil, nil, v1alpha1.ReasonForbidden, failed("delete", "configmaps", "0 deleted, 2 failed."), "one two three"},
		"list and get, delete":      {here(may("configmaps", "list", "get")), kill, nil, nil, v1alpha1.ReasonForbidden, failed("delete", "configmaps", "0 deleted, 2 failed."), "one two three"},
		"list, transform":           {here(may("configmaps", "list")), change, nil, setAnnotation, v1alpha1.ReasonForbidden, failed("patch", "configmaps", "0 changed, 2 failed."), "one two three"},
		"list and patch, transform": {here(may("configmaps", "list", "patch")), change, nil, setAnnotation, v1alpha1.ReasonCompleted, says("2 changed."), "one two three"},
		"list and patch, delete":    {here(may("configmaps", "list", "patch")), kill, nil, nil, v1alpha1.ReasonForbidden, failed("delete", "configmaps", "0 deleted, 2 failed."), "one two three"},
		"list and delete, delete":   {here(may("configmaps", "list", "delete")), kill, nil, nil, v1alpha1.ReasonCompleted, says("2 deleted."), "three"},
		"delete one by name": {
			here(may("configmaps", "list"), named(may("configmaps", "delete"), "one")), kill, nil, nil, v1alpha1.ReasonForbidden,
			failed("delete", "configmaps", "1 deleted, 1 failed."), "two three",
		},
		"Secrets":                   {here(may("secrets", "list", "delete")), kill, selects("Secret"), nil, v1alpha1.ReasonCompleted, says("1 deleted."), "one two"},
		"ConfigMaps and no Secrets": {here(may("configmaps", "list", "delete")), kill, selects("ConfigMap", "Secret"), nil, v1alpha1.ReasonForbidden, refused("list", "secrets", ""), "one two three"},
		"Secrets to look up": {
			here(may("configmaps", "list", "delete")), kill, selects("ConfigMap", "Secret"),
			aggregated(`function evaluate() return {resources = {}} end`), v1alpha1.ReasonForbidden, refused("list", "secrets", ""), "one two three",
		},
		"the whole cluster, with one namespace's rights": {
			here(may("configmaps", "list", "delete")), kill, selectsAll("ConfigMap"), nil, v1alpha1.ReasonForbidden, refused("list", "configmaps", atTheTop), "one two three",
		},
		"another namespace too": {
			here(may("configmaps", "list", "delete")), kill, nil, func(c *v1alpha1.Cleaner) {
				c.Spec.ResourcePolicySet.ResourceSelectors = append(c.Spec.ResourcePolicySet.ResourceSelectors, kind("", "v1", "ConfigMap", "default"))
			}, v1alpha1.ReasonForbidden, refused("list", "configmaps", `in the namespace "default"`), "one two three",
		},
		"namespaces by label": {
			here(may("configmaps", "list", "delete")), kill, labelledNamespaces, nil, v1alpha1.ReasonForbidden, refused("list", "namespaces", atTheTop), "one two three",
		},
		"namespaces by label, rights in one of two": {
			func(b *bench) {
				here(may("configmaps", "list", "delete"))(b)
				everywhere(may("namespaces", "list"))(b)
			}, kill, labelledNamespaces, nil, v1alpha1.ReasonForbidden, refused("list", "configmaps", `in the namespace "default"`), "one two three",
		},
		"namespaces by label, rights in both": {
			everywhere(may("namespaces", "list"), may("configmaps", "list", "delete")), kill, labelledNamespaces, nil, v1alpha1.ReasonCompleted, says("2 deleted."), "three",
		},
		"a percentage of what it may list": {
			here(may("configmaps", "list", "delete")), kill, nil, func(c *v1alpha1.Cleaner) {
				c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxPercentage: ptr.To[int32](50)}
			}, v1alpha1.ReasonLimitExceeded, says("Nothing was touched: "), "one two three",
		},
		"another kind's rights": {here(may("pods", "list", "delete"), may("secrets", "list", "delete")), kill, nil, nil, v1alpha1.ReasonForbidden, refused("list", "configmaps", ""), "one two three"},
		"another group's rights": {
			here(may("configmaps.example.com", "list", "delete")), kill, nil, nil, v1alpha1.ReasonForbidden, refused("list", "configmaps", ""), "one two three",
		},
		"a group's kind": {
			nil, kill, func(b *bench) func(*v1alpha1.Cleaner) {
				return selecting(kind("apps", "v1", "Deployment", b.namespace))
			}, nil, v1alpha1.ReasonForbidden, refused("list", "deployments.apps", ""), "one two three",
		},
		"rights of the group of all accounts": {func(b *bench) {
			group := "system:serviceaccounts:" + b.namespace
			b.allowGroup(group, may("configmaps", "list", "delete"))
		}, kill, nil, nil, v1alpha1.ReasonCompleted, says("2 deleted."), "three"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, as(config))
			b.configMap("one")
			b.configMap("two")
			must(t, b.user.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "three"}}))
			if test.grant != nil {
				test.grant(b)
			}
			edits := []func(*v1alpha1.Cleaner){naming(b.namespace, "cleaner")}
			if test.edit != nil {
				edits = append(edits, test.edit(b))
			}
			if test.more != nil {
				edits = append(edits, test.more)
			}
			run := b.run(b.cleaner(test.action, edits...))
			wantRun(t, run, test.reason, test.want(b)...)
			if left := b.left(); left != test.left {
				t.Errorf("left are %q, want %q", left, test.left)
			}
			if run.Spec.ServiceAccountRef == nil || *run.Spec.ServiceAccountRef != (v1alpha1.ServiceAccountRef{Namespace: b.namespace, Name: "cleaner"}) {
				t.Errorf("the record says that the run acted as %v", run.Spec.ServiceAccountRef)
			}
			if strings.HasPrefix(run.Status.Message, nothingRead) && run.Status.Acted+run.Status.Failed != 0 {
				t.Errorf("the counts are %+v", run.Status.RunCounts)
			}
		})
	}
}

func selectsAll(k string) func(*bench) func(*v1alpha1.Cleaner) {
	return func(*bench) func(*v1alpha1.Cleaner) { return selecting(kind("", "v1", k, "")) }
}

// left are those of one, two and three that are there.
func (b *bench) left() string {
	b.t.Helper()
	left := b.names(b.namespace)
	var secrets corev1.SecretList
	must(b.t, b.user.List(b.t.Context(), &secrets, client.InNamespace(b.namespace)))
	for _, secret := range secrets.Items {
		left = append(left, secret.Name)
	}
	return strings.Join(left, " ")
}

// allowGroup gives a group rights in the test's namespace, and waits until the account has them.
func (b *bench) allowGroup(group string, rule rbacv1.PolicyRule) {
	b.t.Helper()
	meta := metav1.ObjectMeta{Namespace: b.namespace, Name: "group"}
	must(b.t, b.user.Create(b.t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}}))
	must(b.t, b.user.Create(b.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: group}},
	}))
	account := b.as(b.accountName())
	must(b.t, wait.PollUntilContextTimeout(b.t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := account.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(b.namespace))
		return err == nil, ignoreForbidden(err)
	}))
}
