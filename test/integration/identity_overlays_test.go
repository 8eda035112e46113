// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// dangerous are rights with which one can act as somebody else, run commands, or give away rights: verb and resource.group/subresource.
var dangerous = []string{
	"get pods/exec", "create pods/exec", "get pods/attach", "create pods/attach", "get pods/portforward", "create pods/portforward",
	"get nodes/proxy", "create nodes/proxy", "update nodes/proxy", "patch nodes/proxy", "delete nodes/proxy",
	"get pods/proxy", "create pods/proxy", "update pods/proxy", "patch pods/proxy", "delete pods/proxy",
	"get services/proxy", "create services/proxy", "update services/proxy", "patch services/proxy", "delete services/proxy",
	"patch pods/ephemeralcontainers", "update pods/ephemeralcontainers", "create pods/eviction", "create pods/binding",
	"create serviceaccounts/token", "create pods", "create rolebindings.rbac.authorization.k8s.io", "create clusterrolebindings.rbac.authorization.k8s.io",
	"impersonate users", "impersonate groups", "impersonate serviceaccounts", "impersonate uids.authentication.k8s.io", "impersonate userextras.authentication.k8s.io/scopes",
	"escalate roles.rbac.authorization.k8s.io", "escalate clusterroles.rbac.authorization.k8s.io",
	"bind roles.rbac.authorization.k8s.io", "bind clusterroles.rbac.authorization.k8s.io",
	"update certificatesigningrequests.certificates.k8s.io/approval", "approve signers.certificates.k8s.io",
}

// TestDangerousRights asks the API server what the operator may do under each overlay that it has no use for.
func TestDangerousRights(t *testing.T) {
	t.Parallel()
	overlays := map[string][]string{
		// Every verb that a Cleaner needs, on everything: with "*" come the subresources. cleaner_targets_role.yaml says what that means.
		"default": {
			"get pods/exec", "get pods/attach", "get pods/portforward", "get nodes/proxy", "patch nodes/proxy", "delete nodes/proxy", "get pods/proxy",
			"patch pods/proxy", "delete pods/proxy", "get services/proxy", "patch services/proxy", "delete services/proxy", "patch pods/ephemeralcontainers",
			"create pods/eviction", // deleteOptions.podDeletion Evict
		},
		"overlays/read-only":        nil,
		"overlays/scoped":           nil,
		"overlays/service-accounts": {"impersonate serviceaccounts"}, // which is what it is for
	}
	dirs, err := os.ReadDir("../../config/overlays")
	must(t, err)
	for _, dir := range dirs {
		if _, isThere := overlays["overlays/"+dir.Name()]; !isThere {
			t.Errorf("nobody looks at the rights of overlays/%s", dir.Name())
		}
	}
	for overlay, allowed := range overlays {
		t.Run(overlay, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			user := b.operatorUnder(overlay)
			for _, right := range dangerous {
				if got := b.mayDo(user, right); got != slices.Contains(allowed, right) {
					t.Errorf("the operator may %s: %t", right, got)
				}
			}
		})
	}
}

// operatorUnder gives a user of its own the rights that an overlay gives the operator.
func (b *bench) operatorUnder(overlay string) (user string) {
	b.t.Helper()
	user = b.namespace + "-operator"
	var wanted []string
	for doc := range strings.SplitSeq(kubectl(b.t, "", "kustomize", "../../config/"+overlay), "\n---\n") {
		var o unstructured.Unstructured
		must(b.t, yaml.Unmarshal([]byte(doc), &o.Object))
		if o.GroupVersionKind().Group != rbacv1.GroupName {
			continue
		}
		o.SetName(b.namespace + "-" + o.GetName()) // apart from those of other tests
		if ref, isBinding, _ := unstructured.NestedString(o.Object, "roleRef", "name"); isBinding {
			must(b.t, unstructured.SetNestedField(o.Object, b.namespace+"-"+ref, "roleRef", "name"))
			subjects, _, err := unstructured.NestedSlice(o.Object, "subjects")
			must(b.t, err)
			if len(subjects) != 1 || subjects[0].(map[string]any)["name"] != "kubecleaner-manager" {
				b.t.Fatalf("%s binds %v, want the operator's ServiceAccount alone", o.GetName(), subjects)
			}
			must(b.t, unstructured.SetNestedSlice(o.Object, []any{map[string]any{"apiGroup": rbacv1.GroupName, "kind": "User", "name": user}}, "subjects"))
		}
		text, err := yaml.Marshal(o.Object)
		must(b.t, err)
		wanted = append(wanted, string(text))
	}
	kubectl(b.t, strings.Join(wanted, "\n---\n"), "apply", "--server-side", "-f", "-")
	// The last rights that are asked for are those of the roles that were bound last.
	awaitRight(b.t, user, authorizationv1.ResourceAttributes{Verb: "get", Group: "apps.projectsveltos.io", Resource: "cleaners"})
	awaitRight(b.t, user, authorizationv1.ResourceAttributes{Verb: "create", Resource: "secrets", Namespace: operatorNamespace})
	switch overlay {
	case "overlays/service-accounts":
		awaitRight(b.t, user, authorizationv1.ResourceAttributes{Verb: "impersonate", Resource: "serviceaccounts"})
	default:
		awaitRight(b.t, user, authorizationv1.ResourceAttributes{Verb: "list", Resource: "pods"})
	}
	return user
}

// mayDo asks the API server whether a user has a right, written "verb resource.group/subresource".
func (b *bench) mayDo(user, right string) bool {
	b.t.Helper()
	verb, what, _ := strings.Cut(right, " ")
	what, subresource, _ := strings.Cut(what, "/")
	resource, group, _ := strings.Cut(what, ".")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, Groups: []string{"system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: resource, Subresource: subresource, Name: "a"},
	}}
	must(b.t, b.user.Create(b.t.Context(), review, &client.CreateOptions{}))
	return review.Status.Allowed
}
