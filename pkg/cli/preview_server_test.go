// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// transforms makes a Cleaner that sends the patch to each object of a kind that is labelled unused.
func (s *site) transforms(group, kind, patch string) *v1alpha1.Cleaner {
	return s.cleaner(func(c *v1alpha1.Cleaner) {
		action := v1alpha1.ActionTransform
		c.Spec.Action, c.Spec.MergePatch = &action, &runtime.RawExtension{Raw: []byte(patch)}
		selector := &c.Spec.ResourcePolicySet.ResourceSelectors[0]
		selector.Group, selector.Kind = group, kind
	})
}

// deployments makes n Deployments that are labelled unused.
func (s *site) deployments(n int) {
	s.Helper()
	labels := map[string]string{"unused": "true"}
	for i := range n {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: fmt.Sprintf("d%02d", i), Labels: labels}}
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		d.Spec.Template.Labels = labels
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "a", Image: "a"}}
		must(s.T, s.Create(s.Context(), d))
	}
}

const previewHeader = "NAMESPACE   KIND   NAME   WOULD   WHY\n"

// TestPreviewOfUnknownFields: what the API server drops is named, for one object and for many, and where nothing else is
// in the patch, nothing would be changed.
func TestPreviewOfUnknownFields(t *testing.T) {
	s := newSite(t)
	s.deployments(30)
	const why = "the API server knows no field spec.nonsense and drops it"
	c := s.transforms("apps", "Deployment", `{"spec":{"nonsense":1}}`)
	for _, flags := range []string{"", "--dry-run-all"} {
		s.wants(s.call(t.Context(), nil, append([]string{"preview", c.Name}, strings.Fields(flags)...)...), codes.ExitDone,
			previewHeader+"NS   Deployment   30 objects   stay as it is   "+why+"\n",
			"30 of 30 objects match; 30 have nothing to change\n"+previewSharedNote+"hint: first remove from the change what the API server drops\n")
	}
	must(t, s.Delete(t.Context(), c))
	c = s.transforms("apps", "Deployment", `{"spec":{"nonsense":1,"paused":true,"template":{"foolish":[]}}}`)
	got := s.call(t.Context(), nil, "preview", c.Name, "--limit", "1")
	if want := "NS   Deployment   30 objects   be changed   the API server knows no fields spec.nonsense, spec.template.foolish and drops them\n"; !strings.Contains(s.plain(got.out), want) {
		t.Errorf("there is no %q in\n%s", want, s.plain(got.out))
	}
	if !strings.Contains(got.errOut, "30 of 30 objects match; 30 would be changed\n") {
		t.Errorf("%s", got.errOut)
	}
	if !strings.Contains(got.out, "\n+  paused: true\n") || strings.Contains(got.out, "nonsense:") || strings.Contains(got.out, "\n+    foolish") {
		t.Errorf("not what the API server would make of it:\n%s", got.out)
	}
	must(t, s.Delete(t.Context(), c))
	c = s.transforms("apps", "Deployment", `{"status":{"replicas":7}}`)
	got = s.call(t.Context(), nil, "preview", c.Name, "--limit", "1")
	if want := "the API server would store other values than those sent, in: status.replicas\n"; !strings.Contains(got.out, want) {
		t.Errorf("there is no %q in\n%s%s", want, got.out, got.errOut)
	}
}

// immutable makes ConfigMaps that are labelled unused, of which the first and each second one refuses other data.
func (s *site) immutable(n int) {
	s.Helper()
	for i := range n {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: fmt.Sprintf("m%02d", i), Labels: map[string]string{"unused": "true"}}}
		m.Immutable = new(i%2 == 0)
		must(s.T, s.Create(s.Context(), m))
	}
}

// TestPreviewOfWhatTheServerRefusesInPart: once the API server refuses an object, others of the kind are asked about, and
// the numbers are those of what it said.
func TestPreviewOfWhatTheServerRefusesInPart(t *testing.T) {
	s := newSite(t)
	s.immutable(4)
	c := s.transforms("", "ConfigMap", `{"data":{"a":"b"}}`)
	refused := func(name string) string {
		return "NS   ConfigMap   " + name + "   fail   the API server would refuse it: ConfigMap \"" + name +
			"\" is invalid: data: Forbidden: field is immutable when `immutable` is set\n"
	}
	changed := func(name string) string {
		return "NS   ConfigMap   " + name + "   be changed   label unused, in namespace NS\n"
	}
	rows := previewHeader + refused("m00") + changed("m01") + refused("m02") + changed("m03")
	for _, flags := range []string{"", "--dry-run-all"} {
		got := s.call(t.Context(), nil, append([]string{"preview", c.Name}, strings.Fields(flags)...)...)
		text := s.plain(got.out)
		for _, want := range []string{
			rows, "+++ ConfigMap NS/m00 (refused)\n", "+++ ConfigMap NS/m01 (changed)\n",
			"the same patch for 1 more: NS/m02\n", "the same patch for 1 more: NS/m03\n",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("there is no %q in\n%s", want, text)
			}
		}
		got.out = ""
		s.wants(got, codes.ExitPartial, "", "4 of 4 objects match; 2 would be changed, 2 could not be changed\n"+
			"error: cleaner \"unused-NS\": 2 objects could not be changed\nhint: fix the transform; the output says why for each object   [E-PRE-004]\n")
	}
}

// TestPreviewAsksAboutSomeOfMany: it is said of how many nothing is known.
func TestPreviewAsksAboutSomeOfMany(t *testing.T) {
	s := newSite(t)
	s.immutable(44)
	c := s.transforms("", "ConfigMap", `{"data":{"a":"b"}}`)
	got := s.call(t.Context(), nil, "preview", c.Name, "-o", "name")
	if n := strings.Count(got.out, "\n"); n != 34 {
		t.Errorf("%d would be changed:\n%s", n, got.out)
	}
	got.out = ""
	s.wants(got, codes.ExitPartial, "",
		"note: the API server was asked, as a dry run, about 20 of 44 ConfigMaps, and would refuse 10 of these; it may refuse others as well: --dry-run-all asks about all\n"+
			"44 of 44 objects match; 34 would be changed if the API server accepts them, 10 could not be changed\n"+
			"error: cleaner \"unused-NS\": 10 objects could not be changed\nhint: fix the transform; the output says why for each object   [E-PRE-004]\n")
	got = s.call(t.Context(), nil, "preview", c.Name, "-o", "name", "--dry-run-all")
	if !strings.HasPrefix(got.errOut, "44 of 44 objects match; 22 would be changed, 22 could not be changed\n") {
		t.Errorf("%s", got.errOut)
	}
}
