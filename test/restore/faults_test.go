// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/journal/restore"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// through is a restorer whose requests pass a test's hands.
func (b *bench) through(meddle func(next http.RoundTripper, r *http.Request) (*http.Response, error)) *restore.Restorer {
	b.t.Helper()
	config := rest.CopyConfig(env.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) { return meddle(next, r) })
	})
	_, raw := clients(b.t, config)
	return restore.New(raw, journal.NewParts(b.user))
}

func writes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.URL.Query().Get("dryRun") == ""
}

// An answer that is lost after the server did what it was asked is no failure, and nothing is done twice.
func TestLostAnswer(t *testing.T) {
	b := newBench(t)
	victim := b.configMap("victim", map[string]any{"a": "1"})
	record := b.deleted(justConfigMaps, victim)
	var posts atomic.Int32
	r := b.through(func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if err == nil && writes(r) {
			posts.Add(1)
			_ = response.Body.Close()
			return nil, errors.New("the line is dead")
		}
		return response, err
	})
	plan, err := r.Plan(t.Context(), record, restore.Options{})
	must(t, err)
	if posts.Load() != 0 {
		t.Fatal("planning wrote something")
	}
	r.Carry(t.Context(), plan, restore.Progress{Waiting: func(string) {}, Done: func(*restore.Item) {}})
	wantResults(t, plan, 1, restore.Restored)
	if posts.Load() != 1 || at(b.get(victim), "data", "a") != "1" {
		t.Errorf("%d writes, restored %v", posts.Load(), b.get(victim))
	}
}

// Somebody else creates the object between the plan and its carrying out: it is not overwritten.
func TestCreatedMeanwhile(t *testing.T) {
	b := newBench(t)
	victim := b.configMap("victim", map[string]any{"a": "1"})
	record := b.deleted(justConfigMaps, victim)
	r := b.restorer()
	plan, err := r.Plan(t.Context(), record, restore.Options{})
	must(t, err)
	b.configMap("victim", map[string]any{"a": "theirs"})
	r.Carry(t.Context(), plan, restore.Progress{Waiting: func(string) {}, Done: func(*restore.Item) {}})
	wantResults(t, plan, 1, restore.Exists)
	if got := at(b.get(victim), "data", "a"); got != "theirs" {
		t.Errorf("it was overwritten: %v", got)
	}
}

// Who stops a restore keeps what is done, learns what is not, and can go on.
func TestStopped(t *testing.T) {
	b := newBench(t)
	const n = 40
	for i := range n {
		b.configMap("victim-"+string(rune('a'+i%26))+string(rune('a'+i/26)), nil)
	}
	record := b.run(b.cleaner("Delete", justConfigMaps))
	wantActed(t, record, n)
	ctx, stop := context.WithCancel(t.Context())
	r := b.through(func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		if writes(r) {
			stop()
		}
		return next.RoundTrip(r)
	})
	plan, err := r.Plan(ctx, record, restore.Options{})
	must(t, err)
	r.Carry(ctx, plan, restore.Progress{Waiting: func(string) {}, Done: func(*restore.Item) {}})
	done, left := plan.Count(restore.Restored), plan.Count(restore.Interrupted)
	if done == 0 || done > 8 || done+left != n {
		t.Fatalf("%d restored and %d interrupted of %d", done, left, n)
	}
	again := b.restore(record, restore.Options{})
	if again.Count(restore.Already) != done || again.Count(restore.Restored) != left {
		t.Errorf("then %d were back and %d were restored", again.Count(restore.Already), again.Count(restore.Restored))
	}
}

// The shipped role, and the right to create the kind, are all that a restore needs.
func TestShippedRole(t *testing.T) {
	b := newBench(t)
	record := b.deleted(justConfigMaps, b.configMap("victim", nil))
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "rbac", "cleaner_restore_role.yaml"))
	must(t, err)
	documents := bytes.Split(text, []byte("\n---\n"))
	var cluster rbacv1.ClusterRole
	var role rbacv1.Role
	must(t, yaml.UnmarshalStrict(documents[0], &cluster))
	must(t, yaml.UnmarshalStrict(documents[1], &role))
	name := "restorer-" + b.namespace
	cluster.Name, role.Name, role.Namespace = name, name, operatorNamespace
	cluster.Rules = append(cluster.Rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "create"}})
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}}
	binding := &rbacv1.RoleBinding{Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}}
	binding.Name, binding.Namespace = name, operatorNamespace
	clusterBinding := &rbacv1.ClusterRoleBinding{Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}}
	clusterBinding.Name = name
	for _, o := range []client.Object{&cluster, &role, binding, clusterBinding} {
		must(t, b.user.Create(t.Context(), o))
	}
	for _, right := range []authorizationv1.ResourceAttributes{
		{Namespace: operatorNamespace, Resource: "secrets", Verb: "get"},
		{Namespace: b.namespace, Resource: "configmaps", Verb: "create"},
		{Group: "apps.projectsveltos.io", Resource: "cleanerruns", Verb: "list"},
	} {
		must(t, wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: name, ResourceAttributes: &right}}
			err := b.user.Create(ctx, review)
			return review.Status.Allowed, err
		}))
	}
	user, err := env.AddUser(name)
	must(t, err)
	typed, raw := clients(t, user.Config())
	r := restore.New(raw, journal.NewParts(typed))
	plan, err := r.Plan(t.Context(), record, restore.Options{})
	must(t, err)
	r.Carry(t.Context(), plan, restore.Progress{Waiting: func(string) {}, Done: func(*restore.Item) {}})
	wantResults(t, plan, 1, restore.Restored)
}
