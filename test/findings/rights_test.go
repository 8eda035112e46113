// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// truth is what is so of the cluster, and what is found of it with all rights.
type truth struct {
	expected map[string]expectation
	full     map[string][]string
	// sure says how sure each finding is with all rights, by its object and type.
	sure map[string]int
}

// truthOf is what scenarios expect, and what is found with all rights.
func truthOf(expected map[string]expectation, found []*finding.Finding) truth {
	known := truth{expected: expected, full: typesOf(found), sure: map[string]int{}}
	for _, f := range found {
		known.sure[typedName(f)] = sureness(f)
	}
	return known
}

func typedName(f *finding.Finding) string { return string(f.Type) + " " + f.String() }

// sureness is greater for what is surer, and 0 for what is unknown.
func sureness(f *finding.Finding) int {
	if len(f.Unknown) > 0 {
		return 0
	}
	return 1 + slices.Index([]v1alpha1.FindingConfidence{v1alpha1.ConfidenceWeak, v1alpha1.ConfidenceLikely, v1alpha1.ConfidenceCertain}, f.Confidence)
}

// unread says of what is found with a part of the cluster unread what may not be: what is used or unknown in truth is never plainly unused, and what
// is unused in truth is unused or unknown, unless its own kind is among those that are hidden. What is wrong with all rights as well is told there.
func (k truth) unread(found []*finding.Finding, isHidden func(kind string) bool) (wrong []string) {
	types := typesOf(found)
	for _, name := range slices.Sorted(maps.Keys(types)) {
		e := k.expected[name]
		if slices.Contains(types[name], "Unused") && !slices.Contains(e.types, "Unused") && !slices.Contains(k.full[name], "Unused") {
			wrong = append(wrong, fmt.Sprintf("%s is plainly Unused (%s)", name, e))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.expected)) {
		kind, _, _ := strings.Cut(name, " ")
		isFound := slices.Contains(types[name], "Unused") || slices.Contains(types[name], "Unused?")
		if slices.Contains(k.expected[name].types, "Unused") && !isFound && !isHidden(kind) && slices.Contains(k.full[name], "Unused") {
			wrong = append(wrong, fmt.Sprintf("%s is %v, neither unused nor unknown (%s)", name, types[name], k.expected[name]))
		}
	}
	for _, f := range found { // fewer rights make nothing surer; what is Unused is not called Dangling as well
		if before := k.sure[typedName(f)]; sureness(f) > before && f.Type != v1alpha1.FindingDangling {
			wrong = append(wrong, fmt.Sprintf("%s is surer (%d, %d with all rights): %s", typedName(f), sureness(f), before, f.Reason))
		}
	}
	return wrong
}

// hides reports whether more is unknown than with all rights: otherwise a test hides nothing.
func (k truth) hides(found []*finding.Finding) bool {
	return unknownOf(typesOf(found)) > unknownOf(k.full)
}

func unknownOf(types map[string][]string) (n int) {
	for _, list := range types {
		for _, typ := range list {
			if strings.HasSuffix(typ, "?") {
				n++
			}
		}
	}
	return n
}

// testEachRight reads the cluster once, and judges it as often as there are kinds that have objects: each time, those of one may not be read.
func testEachRight(t *testing.T, now time.Time, known truth) {
	read, finder := readAll(t, now)
	unknown, searches := 0, 0
	for _, hidden := range finder.Served {
		f := finding.New(finder.Options)
		if !slices.ContainsFunc(f.Lists(), func(list finding.List) bool { return list.Kind == hidden && len(read[keyOf(list)]) > 0 }) {
			continue
		}
		for _, list := range f.Lists() {
			if list.Kind == hidden {
				f.Unread(list, errors.New("forbidden"))
				continue
			}
			for _, o := range read[keyOf(list)] {
				f.Look(list, o)
			}
		}
		found := slices.Collect(f.Findings())
		searches++
		unknown += unknownOf(typesOf(found))
		for _, wrong := range known.unread(found, func(kind string) bool { return kind == hidden.Kind }) {
			t.Errorf("without %s: %s", hidden.GroupKind(), wrong)
		}
	}
	if full := unknownOf(known.full); searches < 20 || unknown < searches*(full+1) {
		t.Errorf("only %d findings are unknown in %d searches, and %d with all rights: the test hides nothing", unknown, searches, full)
	}
}

// readAll reads all lists of a search.
func readAll(t *testing.T, now time.Time) (read map[string][]object.Object, finder *finding.Finder) {
	t.Helper()
	reader := newReader(t, env.Config)
	read, finder = map[string][]object.Object{}, newFinder(t, reader, now)
	for _, list := range finder.Lists() {
		err := reader.Each(t.Context(), askFor(list), func(o object.Object) error {
			kept, err := object.New(o.Kind, bytes.Clone(o.Raw))
			read[keyOf(list)] = append(read[keyOf(list)], kept)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return read, finder
}

func askFor(list finding.List) selector.Ask {
	return selector.Ask{Kind: list.Kind, Fields: list.Fields, MetadataOnly: list.MetadataOnly}
}

func keyOf(list finding.List) string { return list.Kind.GroupKind().String() + " " + list.Fields }

// testAccounts looks with accounts that have fewer rights.
func testAccounts(t *testing.T, now time.Time, known truth) {
	accounts := map[string][]schema.GroupResource{
		"namespace-admin": {
			{Resource: "podtemplates"},
			{Resource: "persistentvolumes"},
			{Resource: "nodes"},
			{Group: "storage.k8s.io", Resource: "storageclasses"},
			{Group: "rbac.authorization.k8s.io", Resource: "clusterroles"},
			{Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings"},
		},
		"no-secrets":   {{Resource: "secrets"}, {Resource: "serviceaccounts"}},
		"no-workloads": {{Group: "apps", Resource: "deployments"}, {Group: "batch", Resource: "cronjobs"}, {Resource: "pods"}},
		"no-customs":   {{Group: "cert-manager.io", Resource: "certificates"}, {Group: "gateway.networking.k8s.io", Resource: "gateways"}},
	}
	for name, hidden := range accounts {
		t.Run(name, func(t *testing.T) {
			user, err := env.AddUser(name)
			if err != nil {
				t.Fatal(err)
			}
			finder := newFinder(t, newReader(t, env.Config), now)
			kinds := map[string]bool{}
			var rules []rbacv1.PolicyRule
			for _, kind := range finder.Served {
				if slices.Contains(hidden, schema.GroupResource{Group: kind.Group, Resource: kind.Resource}) {
					kinds[kind.Kind] = true
					continue
				}
				rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{kind.Group}, Resources: []string{kind.Resource}, Verbs: []string{"list"}})
			}
			if len(kinds) != len(hidden) {
				t.Fatalf("%v are not all served", hidden)
			}
			remove := grant(t, name, rules)
			defer remove()
			found := look(t, user.Config(), now)
			for _, wrong := range known.unread(found, func(kind string) bool { return kinds[kind] }) {
				t.Error(wrong)
			}
			if !known.hides(found) {
				t.Error("nothing is unknown that was known before")
			}
		})
	}
}

// grant gives a user rights, and waits until he has them.
func grant(t *testing.T, user string, rules []rbacv1.PolicyRule) (remove func()) {
	t.Helper()
	client, err := kubernetes.NewForConfig(env.Config)
	if err != nil {
		t.Fatal(err)
	}
	meta := metav1.ObjectMeta{Name: "system:test-" + user}
	_, errRole := client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
	_, errBinding := client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	}, metav1.CreateOptions{})
	if err := errors.Join(errRole, errBinding); err != nil {
		t.Fatal(err)
	}
	last := rules[len(rules)-1]
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Group: last.APIGroups[0], Resource: last.Resources[0]},
	}}
	isAllowed := eventually(t, 30*time.Second, func() bool {
		answer, err := client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed
	})
	if !isAllowed {
		t.Fatalf("%s did not get its rights", user)
	}
	return func() {
		_ = client.RbacV1().ClusterRoleBindings().Delete(t.Context(), meta.Name, metav1.DeleteOptions{})
		_ = client.RbacV1().ClusterRoles().Delete(t.Context(), meta.Name, metav1.DeleteOptions{})
	}
}

// testDeadAPI lets the API of a group be answered by a server that is not there.
func testDeadAPI(t *testing.T, now time.Time, known truth) {
	client, err := dynamic.NewForConfig(env.Config)
	if err != nil {
		t.Fatal(err)
	}
	services := client.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	for name, group := range map[string]string{"v1.cert-manager.io": "cert-manager.io", "v1.gateway.networking.k8s.io": "gateway.networking.k8s.io"} {
		// Without the label, the API server does not make it its own again.
		patch := `{"metadata": {"labels": {"kube-aggregator.kubernetes.io/automanaged": null}},
			"spec": {"insecureSkipTLSVerify": true, "service": {"namespace": "default", "name": "gone", "port": 443}}}`
		if _, err := services.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		isDead := eventually(t, 30*time.Second, func() bool {
			service, err := services.Get(t.Context(), name, metav1.GetOptions{})
			return err == nil && conditionOf(service, "Available") == "False"
		})
		if !isDead {
			t.Fatalf("%s is still alive", name)
		}
		reader := newReader(t, env.Config)
		hidden := map[string]bool{}
		isUnserved := eventually(t, 30*time.Second, func() bool {
			catalog, err := reader.Catalog(t.Context())
			return err == nil && catalog.Unserved[group] != nil
		})
		if !isUnserved {
			t.Fatalf("%s is still served", group)
		}
		for _, kind := range []string{"Certificate", "Issuer", "ClusterIssuer", "Gateway", "GatewayClass", "HTTPRoute"} {
			hidden[kind] = true
		}
		found := look(t, env.Config, now)
		for _, wrong := range known.unread(found, func(kind string) bool { return hidden[kind] }) {
			t.Errorf("while %s is dead: %s", name, wrong)
		}
		if !known.hides(found) {
			t.Errorf("while %s is dead, nothing is unknown that was known before", name)
		}
	}
}

func conditionOf(o *unstructured.Unstructured, typ string) string {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, condition := range conditions {
		if c, ok := condition.(map[string]any); ok && c["type"] == typ {
			status, _ := c["status"].(string)
			return status
		}
	}
	return ""
}
