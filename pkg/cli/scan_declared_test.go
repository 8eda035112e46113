// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	discoveryv2 "k8s.io/api/apidiscovery/v2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/why"
)

// reader makes somebody who may list everything, and get nothing.
func (s *site) reader() string {
	s.Helper()
	name := s.user(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}})
	meta := metav1.ObjectMeta{Name: "all-" + s.namespace}
	must(s.T, s.Create(s.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"list"}}}}))
	must(s.T, s.Create(s.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
	}))
	return name
}

// TestScanWithoutDeclaredReferences is of somebody who may list everything, and may not read which references are
// declared: nothing may be called unused then, because one of them may name it.
func TestScanWithoutDeclaredReferences(t *testing.T) {
	s := newSite(t)
	s.populate()
	user, ops := s.reader(), s.namespace+"-ops"
	must(t, s.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ops}}))
	args := []string{"-n", s.namespace, "--operator-namespace", ops, "--as", user}
	what := "the references declared in ConfigMap " + ops + "/kubecleaner-references"
	var got session
	s.eventually(func(ctx context.Context) (bool, error) {
		got = s.call(ctx, nil, append([]string{"scan", "-o", "json"}, args...)...)
		return len(s.scanned(got).Unread) == 0, nil
	})
	result := s.scanned(got)
	if found, unknown := s.lines(result.Findings), s.lines(result.Unknown); got.code != codes.ExitPartial ||
		found != "Idle Deployment night" || unknown != "Unused ConfigMap unused\nCascading ConfigMap asleep" {
		t.Errorf("exit %d, found\n%s\nunknown\n%s\n%s", got.code, found, unknown, got.errOut)
	}
	got = s.call(t.Context(), nil, append([]string{"scan"}, args...)...)
	for _, says := range []string{
		"can name it; not readable: " + what + "\n", "error: " + what + " could not be read   [E-SCN-001]\n",
		"note: you are not allowed to read all that could use these objects. An administrator can give you the right to read " + what + "\n",
	} {
		if !strings.Contains(got.out+got.errOut, says) {
			t.Errorf("it does not say %q:\n%s%s", says, got.out, got.errOut)
		}
	}
	if strings.Contains(got.errOut, "whether ConfigMap") || strings.Contains(got.errOut, "lists could not") {
		t.Errorf("it says more than is true:\n%s", got.errOut)
	}
	got = s.call(t.Context(), nil, append([]string{"why", "cm/" + s.namespace + "/unused", "-o", "json"}, args[2:]...)...)
	var answer why.Result
	must(t, json.Unmarshal([]byte(got.out), &answer))
	if got.code != codes.ExitPartial || answer.Used != nil || !strings.Contains(got.errOut, what+" could not be read") {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.errOut)
	}
	const role = "  resourceNames:\n  - kubecleaner-references\n  resources:\n  - configmaps\n  verbs:\n  - get\n"
	printed := s.call(t.Context(), nil, append([]string{"scan", "-o", "role"}, args...)...)
	roles, bind, _ := strings.Cut(printed.out, "\n# kubectl create")
	if !strings.Contains(roles+"\n", role) || strings.Count(roles, "- apiGroups") != 1 || !strings.Contains(bind, "-n "+ops) {
		t.Fatalf("there is no Role for that one ConfigMap in:\n%s", printed.out)
	}
	nobody := append(slices.Clone(args[:4]), "--as", "nobody-"+s.namespace) // who may list nothing lacks it as well
	if all := s.call(t.Context(), nil, append([]string{"scan", "-o", "role"}, nobody...)...); !strings.Contains(all.out, role) {
		t.Errorf("the Role for everything lacks that for the ConfigMap:\n%s%s", all.out, all.errOut)
	}
	s.grant(roles, user)
	s.eventually(func(ctx context.Context) (bool, error) {
		got = s.call(ctx, nil, append([]string{"scan", "-o", "json"}, args...)...)
		return got.code == codes.ExitDone, nil
	})
	if found := s.lines(s.scanned(got).Findings); found != populated {
		t.Errorf("with the Role that was printed, found:\n%s\n%s", found, got.errOut)
	}
}

// TestScanWithReferencesOfUnservedKinds: their kinds may come later, so they are no mistake.
func TestScanWithReferencesOfUnservedKinds(t *testing.T) {
	s := newSite(t)
	file := t.TempDir() + "/references.yaml"
	const text = "- {kind: Storefront.shop.example.com, references: [{path: spec.theme, to: ConfigMap}, {path: a, to: Deployment.app}]}\n"
	must(t, os.WriteFile(file, []byte(text), 0o600))
	got := s.call(t.Context(), nil, "scan", "-n", s.namespace, "--references", file)
	const note = "note: the cluster does not have these kinds, so the references declared for them have no effect: " +
		"Storefront.shop.example.com, Deployment.app\n"
	if got.code != codes.ExitDone || !strings.Contains(got.errOut, note) {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.errOut)
	}
}

// discovery is what the API server says of its groups, after a change.
func (s *site) discovery(change func(list *discoveryv2.APIGroupDiscoveryList)) []byte {
	s.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(realCluster(s.T).Config)
	must(s.T, err)
	body, err := client.RESTClient().Get().AbsPath("/apis").SetHeader("Accept", discovery.AcceptV2).DoRaw(s.Context())
	must(s.T, err)
	var list discoveryv2.APIGroupDiscoveryList
	must(s.T, json.Unmarshal(body, &list))
	change(&list)
	body, err = json.Marshal(list)
	must(s.T, err)
	return body
}

// discoveryWithout is discovery without one group.
func (s *site) discoveryWithout(group string) []byte {
	s.Helper()
	return s.discovery(func(list *discoveryv2.APIGroupDiscoveryList) {
		all := len(list.Items)
		list.Items = slices.DeleteFunc(list.Items, func(g discoveryv2.APIGroupDiscovery) bool { return g.Name == group })
		if len(list.Items) != all-1 {
			s.Fatalf("%d groups of %d", len(list.Items), all)
		}
	})
}

// TestScanWithoutTheOperator is of the same person in a cluster in which KubeCleaner is not installed: nothing is
// declared there.
func TestScanWithoutTheOperator(t *testing.T) {
	s := newSite(t)
	s.populate()
	user := s.reader()
	without := s.discoveryWithout("apps.projectsveltos.io")
	s.kubeconfig = s.proxied(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/apis" {
			w.Header().Set("Content-Type", discovery.AcceptV2)
			_, _ = w.Write(without)
		}
		return r.URL.Path == "/apis"
	})
	var got session
	s.eventually(func(ctx context.Context) (bool, error) {
		got = s.call(ctx, nil, "scan", "-o", "json", "-n", s.namespace, "--as", user)
		return len(s.scanned(got).Unread) == 0, nil
	})
	if found := s.lines(s.scanned(got).Findings); got.code != codes.ExitDone || found != populated {
		t.Errorf("exit %d, found\n%s\n%s", got.code, found, got.errOut)
	}
}

// TestPreviewWithoutDeclaredReferences leaves alone what one of them may name.
func TestPreviewWithoutDeclaredReferences(t *testing.T) {
	s := newSite(t)
	s.populate()
	user, ops := s.reader(), s.namespace+"-ops"
	s.kubeconfig = s.proxied(func(_ http.ResponseWriter, r *http.Request) bool {
		r.Header.Set("Impersonate-User", user)
		return false
	})
	cleaner := `{apiVersion: apps.projectsveltos.io/v1alpha1, kind: Cleaner, metadata: {name: a}, spec: {schedule: "0 0 * * *", action: Scan, resourcePolicySet: {resourceSelectors: [{group: "", version: v1, kind: ConfigMap, namespace: ` + s.namespace + `, finding: {type: Unused}}]}}}`
	file := t.TempDir() + "/cleaner.yaml"
	must(t, os.WriteFile(file, []byte(cleaner), 0o600))
	got := s.call(t.Context(), nil, "preview", "-f", file, "--operator-namespace", ops)
	want := "; not readable: the references declared in ConfigMap " + ops + "/kubecleaner-references"
	if !strings.Contains(got.out, want) || strings.Contains(got.out, "be reported") {
		t.Errorf("exit %d:\n%s%s", got.code, got.out, got.errOut)
	}
}

// TestScanExcludesWhatNobodyServes: while the server of a group is down, its kinds are not wrong usage, and others are.
func TestScanExcludesWhatNobodyServes(t *testing.T) {
	s := newSite(t)
	s.populate()
	down := s.discovery(func(list *discoveryv2.APIGroupDiscoveryList) {
		stale := []discoveryv2.APIVersionDiscovery{{Version: "v1", Freshness: discoveryv2.DiscoveryFreshnessStale}}
		list.Items = append(list.Items, discoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: "certs.example.com"}, Versions: stale})
	})
	s.kubeconfig = s.proxied(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/apis" {
			w.Header().Set("Content-Type", discovery.AcceptV2)
			_, _ = w.Write(down)
		}
		return r.URL.Path == "/apis"
	})
	const note = ": no kind has this name in the groups that could be read; certs.example.com could not be read, and may have it\n"
	for pattern, want := range map[string]int{
		"Sertificate/*": codes.ExitPartial, "sertificates.certs.example.com/*": codes.ExitPartial, "sertificates.other.example.com/*": codes.ExitUsage,
	} {
		got := s.call(t.Context(), nil, "scan", "-n", s.namespace, "--exclude", pattern, "--exclude", "Deployment/night")
		isNoted := strings.Contains(got.errOut, "note: --exclude "+pattern+note)
		if got.code != want || isNoted != (want == codes.ExitPartial) || strings.Contains(got.out, "Idle ") {
			t.Errorf("%s: exit %d, want %d: %s%s", pattern, got.code, want, s.plain(got.out), s.plain(got.errOut))
		}
	}
}
