// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/pkg/cli"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// printed is what kubectl cleaner rbac prints for a Cleaner of the cluster.
func printed(t *testing.T, cleaner string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	options := terminal.Options{Version: "v1.2.3", Now: time.Now, Getenv: func(string) string { return "" }}
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	if code := cli.Execute(t.Context(), streams, options, []string{"rbac", cleaner, "--kubeconfig", env.Kubeconfig}); code != 0 {
		t.Fatalf("kubectl cleaner rbac %s: exit %d: %s", cleaner, code, errOut.String())
	}
	return out.String()
}

// granted is a verb that a printed Role gives.
type granted struct {
	namespace, verb, group, resource, name string
}

// attributes are what a review asks.
func (g granted) attributes() authorizationv1.ResourceAttributes {
	resource, subresource, _ := strings.Cut(g.resource, "/")
	return authorizationv1.ResourceAttributes{Namespace: g.namespace, Verb: g.verb, Group: g.group, Resource: resource, Subresource: subresource, Name: g.name}
}

// must reports whether a run always needs it: to get an object is for those that change meanwhile.
func (g granted) must() bool {
	return g.verb != "get" || g.name != "" || g.resource == "pods/log"
}

// doubts reports whether the right shows who has which right: where no container could use one, it makes no finding Weak.
func (g granted) doubts() bool {
	return g.verb == "list" && g.group == rbacv1.GroupName
}

// grants are the verbs in the Roles of what was printed, each with its Role and the Role without it.
func grants(t *testing.T, text string) (all []granted, roles []client.Object) {
	t.Helper()
	for doc := range strings.SplitSeq(text, "\n---\n") {
		var role rbacv1.ClusterRole
		must(t, yaml.Unmarshal([]byte(doc), &role))
		if role.Kind != "Role" && role.Kind != "ClusterRole" {
			continue
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					all = append(all, granted{role.Namespace, verb, rule.APIGroups[0], resource, strings.Join(rule.ResourceNames, "")})
				}
			}
		}
		if role.Kind == "ClusterRole" {
			roles = append(roles, &role)
		} else {
			roles = append(roles, &rbacv1.Role{ObjectMeta: role.ObjectMeta, Rules: role.Rules})
		}
	}
	return all, roles
}

// without are the rules but for one verb on one resource.
func without(rules []rbacv1.PolicyRule, g granted) (left []rbacv1.PolicyRule) {
	for _, rule := range rules {
		if rule.APIGroups[0] != g.group || !slices.Contains(rule.Resources, g.resource) || strings.Join(rule.ResourceNames, "") != g.name {
			left = append(left, rule)
			continue
		}
		others, less := rule.DeepCopy(), rule.DeepCopy()
		others.Resources = slices.DeleteFunc(others.Resources, func(r string) bool { return r == g.resource })
		less.Resources, less.Verbs = []string{g.resource}, slices.DeleteFunc(less.Verbs, func(v string) bool { return v == g.verb })
		for _, part := range []*rbacv1.PolicyRule{others, less} {
			if len(part.Resources) > 0 && len(part.Verbs) > 0 {
				left = append(left, *part)
			}
		}
	}
	return left
}

// rewrite gives the Role in the cluster these rules.
func (b *bench) rewrite(o client.Object, change func([]rbacv1.PolicyRule) []rbacv1.PolicyRule) {
	b.t.Helper()
	must(b.t, b.user.Get(b.t.Context(), client.ObjectKeyFromObject(o), o))
	switch role := o.(type) {
	case *rbacv1.Role:
		role.Rules = change(role.Rules)
	case *rbacv1.ClusterRole:
		role.Rules = change(role.Rules)
	}
	must(b.t, b.user.Update(b.t.Context(), o))
}

// awaitNoRight waits until the API server knows that a user has lost a right.
func (b *bench) awaitNoRight(user string, right authorizationv1.ResourceAttributes) {
	b.t.Helper()
	must(b.t, wait.PollUntilContextTimeout(b.t.Context(), 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &right}}
		err := b.user.Create(ctx, review)
		return !review.Status.Allowed, err
	}))
}
