// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// as gives the operator another identity.
func as(config *rest.Config) option { return func(s *settings) { s.config = config } }

// operatorRules are the operator's own rights.
var operatorRules = []rbacv1.PolicyRule{
	{APIGroups: []string{"apps.projectsveltos.io"}, Resources: []string{"*"}, Verbs: []string{"*"}},
	{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get", "list"}},
	{APIGroups: []string{"events.k8s.io", ""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create", "get", "update", "delete"}},
}

// limitedUser makes a user who has the operator's own rights and, in the namespace, those of the rule. Without a rule, none.
func limitedUser(t *testing.T, namespace string, rules ...rbacv1.PolicyRule) *rest.Config {
	t.Helper()
	name := fmt.Sprintf("user-%d", serial.Add(1))
	user, err := env.AddUser(name)
	must(t, err)
	admin, err := client.New(env.Config, client.Options{})
	must(t, err)
	meta := metav1.ObjectMeta{Name: name}
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}}
	must(t, admin.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: operatorRules}))
	must(t, admin.Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}}))
	meta.Namespace = operatorNamespace // where its Secrets with copies are
	must(t, admin.Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list"}}}}))
	must(t, admin.Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}}))
	awaitAllowed(t, user.Config(), authorizationv1.ResourceAttributes{Namespace: operatorNamespace, Resource: "secrets", Verb: "list"})
	meta.Namespace = namespace
	awaitAllowed(t, user.Config(), authorizationv1.ResourceAttributes{Group: "apps.projectsveltos.io", Resource: "cleaners", Verb: "get"})
	if len(rules) > 0 {
		must(t, admin.Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules}))
		must(t, admin.Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}}))
		rule := rules[len(rules)-1]
		awaitAllowed(t, user.Config(), authorizationv1.ResourceAttributes{
			Namespace: namespace, Group: rule.APIGroups[0], Resource: rule.Resources[0], Verb: rule.Verbs[0],
		})
	}
	return user.Config()
}

// awaitAllowed waits until the API server knows of a right.
func awaitAllowed(t *testing.T, config *rest.Config, right authorizationv1.ResourceAttributes) {
	t.Helper()
	user, err := client.New(config, client.Options{})
	must(t, err)
	must(t, wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &right}}
		err := user.Create(ctx, review)
		return review.Status.Allowed, err
	}))
}

// 403 on a namespace or kind: as partial discovery, reason Forbidden names verb and resource. Zero actions.
func TestForbiddenNamesVerbAndResource(t *testing.T) {
	setup := newBench(t)
	config := limitedUser(t, setup.namespace, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "delete"}})
	other := setup.newNamespace(nil)
	b := newBench(t, as(config))
	b.namespace = setup.namespace
	b.configMap("mine")
	tests := map[string]struct {
		selectors []v1alpha1.ResourceSelector
		want      string
	}{
		"the kind": {
			[]v1alpha1.ResourceSelector{kind("", "v1", "ConfigMap", b.namespace), kind("", "v1", "Secret", b.namespace)},
			`cannot list resource "secrets" in API group "" in the namespace "` + b.namespace + `"`,
		},
		"one namespace": {
			[]v1alpha1.ResourceSelector{kind("", "v1", "ConfigMap", b.namespace), kind("", "v1", "ConfigMap", other)},
			`cannot list resource "configmaps" in API group "" in the namespace "` + other + `"`,
		},
		"the whole cluster": {
			[]v1alpha1.ResourceSelector{kind("", "v1", "ConfigMap", "")},
			`cannot list resource "configmaps" in API group "" at the cluster scope`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(test.selectors...)))
			wantRun(t, run, v1alpha1.ReasonForbidden, "Nothing was touched, because the run could not read or judge everything: ", test.want)
			wantLeftAlone(t, run)
			b.wantUntouched()
		})
	}
	// With the same rights, a Cleaner of what it may touch works.
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionDelete)), v1alpha1.ReasonCompleted, "1 deleted")
}

// A delete that is forbidden fails that object, for the reason Forbidden, with the verb and the resource.
func TestForbiddenDeleteNamesVerbAndResource(t *testing.T) {
	setup := newBench(t)
	config := limitedUser(t, setup.namespace, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}})
	b := newBench(t, as(config))
	b.namespace = setup.namespace
	b.configMap("mine")
	run := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, run, v1alpha1.ReasonForbidden, "1 of 1 object matched; 0 deleted, 1 failed. The first failure was on ConfigMap "+b.namespace+"/mine: ",
		`cannot delete resource "configmaps"`)
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 1, Matched: 1, Failed: 1})
	b.wantNames("mine")
}
