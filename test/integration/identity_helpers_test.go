// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// operatorName is the operator as config/default deploys it.
const operatorName = "system:serviceaccount:" + operatorNamespace + ":kubecleaner-manager"

var (
	deployOnce sync.Once
	deployment *rest.Config
)

// deployed gives the operator the rights that config/overlays/service-accounts gives it, puts the policy of config/policy in
// force, and returns the operator's identity.
func deployed(t *testing.T) *rest.Config {
	t.Helper()
	deployOnce.Do(func() {
		user, err := env.AddUser(operatorName, "system:serviceaccounts", "system:serviceaccounts:"+operatorNamespace)
		must(t, err)
		deploy(t)
		deployment = user.Config()
	})
	if deployment == nil {
		t.Fatal("config/overlays/service-accounts is not deployed: see the first test that needed it")
	}
	return deployment
}

// deploy applies the overlay's roles and policy, and waits until they are in force.
func deploy(t *testing.T) {
	t.Helper()
	var wanted []string
	for doc := range strings.SplitSeq(kubectl(t, "", "kustomize", "../../config/overlays/service-accounts"), "\n---\n") {
		var o unstructured.Unstructured
		must(t, yaml.Unmarshal([]byte(doc), &o.Object))
		if !slices.Contains([]string{"CustomResourceDefinition", "Deployment", "Service"}, o.GetKind()) {
			wanted = append(wanted, doc)
		}
	}
	kubectl(t, strings.Join(wanted, "\n---\n"), "apply", "--server-side", "--force-conflicts", "-f", "-")
	awaitRight(t, operatorName, authorizationv1.ResourceAttributes{Verb: "impersonate", Resource: "serviceaccounts", Namespace: "default", Name: "default"})
	awaitRight(t, operatorName, authorizationv1.ResourceAttributes{Verb: "create", Resource: "secrets", Namespace: operatorNamespace})
	awaitRight(t, operatorName, authorizationv1.ResourceAttributes{Verb: "get", Group: "apps.projectsveltos.io", Resource: "cleaners"})
	stranger := newBench(t).as("stranger", mayWriteCleaners)
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := stranger.Create(ctx, unsaved(naming("default", "default")), client.DryRunAll)
		return apierrors.IsForbidden(err), ignoreForbidden(err)
	}))
	book := newBench(t).reconciler.Journal
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := book.CheckApprovals(ctx)
		if journal.IsNotApproved(err) {
			return false, nil
		}
		return err == nil, err
	}))
	awaitSecond(t)
}

// awaitSecond waits for the second to end in which the policies were created: approvals of that second do not count.
func awaitSecond(t *testing.T) {
	t.Helper()
	admin, err := client.New(env.Config, client.Options{})
	must(t, err)
	var began time.Time
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "what-time-is-it", Namespace: "default"}}
		err := admin.Create(ctx, probe, client.DryRunAll)
		if began.IsZero() {
			began = probe.CreationTimestamp.Time
		}
		return probe.CreationTimestamp.After(began), err
	}))
}

func ignoreForbidden(err error) error {
	if apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

// awaitRight waits until the API server knows of a user's right.
func awaitRight(t *testing.T, user string, right authorizationv1.ResourceAttributes) {
	t.Helper()
	awaitReview(t, user, right, true)
}

// awaitReview waits until the API server says that a user has the right, or does not have it.
func awaitReview(t *testing.T, user string, right authorizationv1.ResourceAttributes, allowed bool) {
	t.Helper()
	admin, err := client.New(env.Config, client.Options{})
	must(t, err)
	must(t, wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user, Groups: []string{"system:authenticated"}, ResourceAttributes: &right,
		}}
		err := admin.Create(ctx, review)
		return review.Status.Allowed == allowed, err
	}))
}

// may is a rule on a resource, written resource.group.
func may(resource string, verbs ...string) rbacv1.PolicyRule {
	name, group, _ := strings.Cut(resource, ".")
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{name}, Verbs: verbs}
}

// named narrows a rule down to one object.
func named(rule rbacv1.PolicyRule, name string) rbacv1.PolicyRule {
	rule.ResourceNames = []string{name}
	return rule
}

var mayWriteCleaners = may("cleaners.apps.projectsveltos.io", "get", "list", "create", "update", "patch", "delete")

// allow gives a user rights in a namespace or, with none, in the whole cluster.
func (b *bench) allow(user, namespace string, rules ...rbacv1.PolicyRule) (binding client.Object) {
	b.t.Helper()
	return b.bind(user, namespace, "", rules...)
}

// bind gives a user the rights of a ClusterRole that is there or, without its name, of a new one with the rules.
func (b *bench) bind(user, namespace, role string, rules ...rbacv1.PolicyRule) (binding client.Object) {
	b.t.Helper()
	meta := metav1.ObjectMeta{Name: fmt.Sprintf("identity-%d", serial.Add(1))}
	if role == "" {
		role = meta.Name
		o := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}
		must(b.t, b.user.Create(b.t.Context(), o))
		b.t.Cleanup(func() { _ = b.user.Delete(context.Background(), o) })
	} else {
		var there rbacv1.ClusterRole
		must(b.t, b.user.Get(b.t.Context(), client.ObjectKey{Name: role}, &there))
		rules = there.Rules
	}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	binding = &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects}
	if meta.Namespace = namespace; namespace != "" {
		binding = &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects}
	}
	must(b.t, b.user.Create(b.t.Context(), binding))
	b.t.Cleanup(func() { _ = b.user.Delete(context.Background(), binding) })
	for _, rule := range rules {
		if len(rule.Resources) == 0 {
			continue
		}
		resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
		right := authorizationv1.ResourceAttributes{Namespace: namespace, Group: rule.APIGroups[0], Resource: resource, Subresource: subresource, Verb: rule.Verbs[0]}
		if len(rule.ResourceNames) > 0 {
			right.Name = rule.ResourceNames[0]
		}
		awaitRight(b.t, user, right)
	}
	return binding
}

// as is the client of a user, who has the rights in the whole cluster.
func (b *bench) as(user string, rules ...rbacv1.PolicyRule) client.Client {
	b.t.Helper()
	if len(rules) > 0 {
		b.allow(user, "", rules...)
	}
	config := rest.CopyConfig(env.Config)
	config.Impersonate.UserName = user
	c, err := client.New(config, client.Options{Scheme: b.user.Scheme()})
	must(b.t, err)
	return c
}

// operatorWith is the identity of an operator that has what it needs for itself and, in the test's namespace, the rights.
func (b *bench) operatorWith(rules ...rbacv1.PolicyRule) *rest.Config {
	b.t.Helper()
	return b.operatorNamed(fmt.Sprintf("operator-%d", serial.Add(1)), rules...)
}

// operatorNamed is that of an operator with the name.
func (b *bench) operatorNamed(name string, rules ...rbacv1.PolicyRule) *rest.Config {
	b.t.Helper()
	user, err := env.AddUser(name)
	must(b.t, err)
	b.allow(name, "", operatorRules...)
	b.allow(name, operatorNamespace, may("configmaps", "list", "get", "create", "update", "delete"), may("secrets", "list", "get", "create", "delete"))
	b.allow(name, b.namespace, rules...)
	return user.Config()
}

// naming lets a Cleaner name an account.
func naming(namespace, name string) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) {
		c.Spec.ServiceAccountRef = &v1alpha1.ServiceAccountRef{Namespace: namespace, Name: name}
	}
}

// account gives the account cleaner of the test's namespace the rights there, and lets a Cleaner name it.
func (b *bench) account(rules ...rbacv1.PolicyRule) func(*v1alpha1.Cleaner) {
	b.t.Helper()
	if len(rules) > 0 {
		b.allow(b.accountName(), b.namespace, rules...)
	}
	return naming(b.namespace, "cleaner")
}

func (b *bench) accountName() string { return "system:serviceaccount:" + b.namespace + ":cleaner" }

// unsaved is a Cleaner that is not in the cluster.
func unsaved(edits ...func(*v1alpha1.Cleaner)) *v1alpha1.Cleaner {
	c := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("cleaner-%d", serial.Add(1))}}
	c.APIVersion, c.Kind = v1alpha1.GroupVersion.String(), "Cleaner"
	c.Spec.Schedule = "0 3 * * *"
	c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{kind("", "v1", "ConfigMap", "nowhere")}
	for _, edit := range edits {
		edit(c)
	}
	return c
}

// wantRefused fails the test unless the error is a refusal that says each text; without texts, unless there is none.
func wantRefused(t *testing.T, err error, texts ...string) {
	t.Helper()
	if len(texts) == 0 {
		must(t, err)
		return
	}
	if !apierrors.IsForbidden(err) {
		t.Fatalf("the error is %v, want a refusal", err)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the refusal is %q, want it to contain %q", err, text)
		}
	}
}
