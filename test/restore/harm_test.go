// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/journal/restore"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// forger reads Secrets from memory, one of them with a bit flipped.
type forger struct {
	client.Reader
	secrets map[string]*corev1.Secret
	victim  string
	key     string
	bit     int
}

func (f *forger) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	into, ok := o.(*corev1.Secret)
	if !ok {
		return f.Reader.Get(ctx, key, o, options...)
	}
	secret := f.secrets[key.Name]
	if secret == nil {
		secret = &corev1.Secret{}
		if err := f.Reader.Get(ctx, key, secret); err != nil {
			return err
		}
		f.secrets[key.Name] = secret
	}
	secret.DeepCopyInto(into)
	if key.Name == f.victim {
		into.Data[f.key][f.bit/8] ^= 1 << (f.bit % 8)
	}
	return nil
}

// Rule 1 and T9: whichever bit of the copies, or of the intent, is flipped: it is detected, and nothing is applied.
func TestFlippedBits(t *testing.T) {
	b := newBench(t)
	victims := []object.Object{b.configMap("a", map[string]any{"key": "value"}), b.configMap("b", nil)}
	record := b.deleted(justConfigMaps, victims...)
	b.gone(victims...)
	parts := record.Name + "-" + record.Status.Intent.Attempt
	forged := &forger{Reader: b.user, secrets: map[string]*corev1.Secret{}}
	r := restore.New(b.raw, journal.NewParts(forged))
	plan, err := r.Plan(t.Context(), record, restore.Options{})
	must(t, err)
	wantResults(t, plan, len(victims), restore.Planned)
	for _, stream := range []string{"copies", "intent"} {
		forged.victim, forged.key = parts+"-bundle-0", stream+".gz"
		for forged.bit = range 8 * len(forged.secrets[forged.victim].Data[forged.key]) {
			plan, err := r.Plan(t.Context(), record, restore.Options{Force: true})
			if plan != nil || err == nil || !strings.HasPrefix(err.Error(), "the "+stream+" of the run are not what the run wrote: their hash is ") {
				t.Fatalf("bit %d of the %s: %v, %v", forged.bit, stream, plan, err)
			}
		}
		t.Logf("%d bits of the %s were flipped one by one", forged.bit+1, stream)
	}
	for _, o := range victims {
		if b.get(o) != nil {
			t.Errorf("%s was restored", o)
		}
	}
}

// A part that was exchanged for another run's is not what the run wrote either.
func TestPartOfAnotherRun(t *testing.T) {
	b := newBench(t)
	first := b.deleted(justConfigMaps, b.configMap("a", nil))
	second := b.deleted(justConfigMaps, b.configMap("a", map[string]any{"forged": "yes"}))
	name := func(r *v1alpha1.CleanerRun) string { return r.Name + "-" + r.Status.Intent.Attempt + "-bundle-0" }
	forged := &forger{Reader: b.user, secrets: map[string]*corev1.Secret{}}
	var other corev1.Secret
	must(t, b.user.Get(t.Context(), client.ObjectKey{Namespace: operatorNamespace, Name: name(second)}, &other))
	other.Name = name(first)
	forged.secrets[name(first)] = &other
	if _, err := restore.New(b.raw, journal.NewParts(forged)).Plan(t.Context(), first, restore.Options{}); err == nil || !strings.Contains(err.Error(), "are not what the run wrote") {
		t.Errorf("got %v", err)
	}
}

// mallory makes a user with the rights, and a restorer that acts as him.
func (b *bench) mallory(rules ...rbacv1.PolicyRule) *restore.Restorer {
	b.t.Helper()
	name := "user-" + b.namespace
	user, err := env.AddUser(name)
	must(b.t, err)
	meta := metav1.ObjectMeta{Name: name}
	must(b.t, b.user.Create(b.t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}))
	must(b.t, b.user.Create(b.t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
	}))
	for _, rule := range rules {
		right := &authorizationv1.ResourceAttributes{Group: rule.APIGroups[0], Resource: rule.Resources[0], Verb: rule.Verbs[0]}
		must(b.t, wait.PollUntilContextTimeout(b.t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: name, ResourceAttributes: right}}
			err := b.user.Create(ctx, review)
			return review.Status.Allowed, err
		}))
	}
	typed, raw := clients(b.t, user.Config())
	return restore.New(raw, journal.NewParts(typed))
}

// A restore is the user's own doing: he gains nothing that he could not do himself.
func TestUserWithoutRightsGainsNothing(t *testing.T) {
	b := newBench(t)
	settings := b.configMap("settings", map[string]any{"a": "1"})
	roles := object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}, Resource: "clusterroles"}
	role := b.create(roles, map[string]any{"metadata": map[string]any{"name": b.namespace + "-power"}, "rules": []any{map[string]any{"apiGroups": []any{"*"}, "resources": []any{"*"}, "verbs": []any{"*"}}}})
	record := b.deleted([]schema.GroupVersionKind{configMaps.GroupVersionKind, roles.GroupVersionKind}, settings, role)

	t.Run("who may not read the copies", func(t *testing.T) {
		c := newBench(t)
		_, err := c.mallory().Plan(t.Context(), record, restore.Options{Force: true})
		if !apierrors.IsForbidden(err) || !strings.HasPrefix(err.Error(), "reading part 0 of the bundle of run "+record.Name+" (Secret "+operatorNamespace+"/") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("who may read them", func(t *testing.T) {
		c := newBench(t)
		r := c.mallory(
			rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}},
			rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}},
			// Not even he who may create roles gets one with rights that he does not have.
			rbacv1.PolicyRule{APIGroups: []string{"rbac.authorization.k8s.io"}, Resources: []string{"clusterroles"}, Verbs: []string{"create", "get"}},
		)
		plan, err := r.Plan(t.Context(), record, restore.Options{Force: true})
		must(t, err)
		wantResults(t, plan, 2, restore.Failed)
		for name, want := range map[string]string{
			settings.Name: `configmaps is forbidden: User "user-` + c.namespace + `" cannot create resource "configmaps" in API group "" in the namespace "` + b.namespace + `"`,
			role.Name:     "is attempting to grant RBAC permissions not currently held",
		} {
			if got := item(t, plan, name).Reason; !strings.Contains(got, want) {
				t.Errorf("the reason is %q, want %q", got, want)
			}
		}
		r.Carry(t.Context(), plan, restore.Progress{Waiting: func(string) {}, Done: func(*restore.Item) {}})
	})
	for _, o := range []object.Object{settings, role} {
		if b.get(o) != nil {
			t.Errorf("%s was restored", o)
		}
	}
}
