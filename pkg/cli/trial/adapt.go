// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
)

// adapt makes objects what a run would see of them, as far as files leave it open: tests for k8s-cleaner name other
// versions than the Cleaner does, and no namespaces. A note says what was assumed.
func (t *trial) adapt() {
	for _, o := range slices.Concat(t.files.matching, t.files.nonMatching, t.files.resources) {
		if was := o.Kind; t.adaptVersion(o) {
			t.note(
				o,
				fmt.Sprintf(
					"it is of %s, and is judged as %s, the version that the Cleaner selects",
					was.APIVersion(),
					o.Kind.APIVersion(),
				),
			)
		}
		if t.adaptNamespace(o) {
			t.note(o, "it has no namespace, and is judged as if it were in one that the Cleaner selects")
		}
		if o.Anywhere {
			o.Namespace = t.findingNamespace()
		}
	}
	for _, o := range t.files.updated {
		t.adaptVersion(o)
	}
}

// selectorsFor are the selectors of an object's group and kind.
func (t *trial) selectorsFor(o *tested) []v1alpha1.ResourceSelector {
	all := slices.Clone(t.Cleaner.Spec.ResourcePolicySet.ResourceSelectors)
	return slices.DeleteFunc(
		all,
		func(s v1alpha1.ResourceSelector) bool { return s.Group != o.Kind.Group || s.Kind != o.Kind.Kind },
	)
}

// adaptVersion gives an object the version in which a run would read it. It reports whether that is another one.
func (t *trial) adaptVersion(o *tested) bool {
	selectors := t.selectorsFor(o)
	if len(selectors) == 0 ||
		slices.ContainsFunc(selectors, func(s v1alpha1.ResourceSelector) bool { return s.Version == o.Kind.Version }) {
		return false
	}
	o.Kind.Version = selectors[0].Version
	return true
}

// adaptNamespace puts an object that has no namespace, and must have one, where the selectors look. It reports whether
// that matters.
func (t *trial) adaptNamespace(o *tested) bool {
	if o.Namespace != "" || !dump.KindOf(o.Kind.GroupVersionKind).Namespaced {
		return false
	}
	o.Anywhere = true
	return slices.ContainsFunc(
		t.selectorsFor(o),
		func(s v1alpha1.ResourceSelector) bool { return s.Namespace != "" || s.NamespaceSelector != "" },
	)
}

// findingNamespace is where objects without a namespace are while findings are looked for: whether something uses an
// object depends on its namespace. Empty for a Cleaner without findings, whose scripts see what the file says.
func (t *trial) findingNamespace() string {
	for _, s := range t.Cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		if s.Finding != nil {
			return cmp.Or(s.Namespace, metav1.NamespaceDefault)
		}
	}
	return ""
}

func (t *trial) note(o *tested, message string) {
	t.result.Notes = append(t.result.Notes, failure{File: o.file, Line: o.line, Object: o.String(), Message: message})
}

// located is what was said of a script or an expression, with the file and line where it stands.
func (t *trial) located(fault string) string {
	if place := check.PlaceOf(t.files.cleaner, t.Cleaner, 0, fault); place != "" {
		return fault + " (" + place + ")"
	}
	return fault
}
