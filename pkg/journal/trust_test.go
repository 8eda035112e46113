// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestLastGuardChange: approvals are guarded since the youngest change of a policy that names them, or of its binding.
func TestLastGuardChange(t *testing.T) {
	t.Parallel()
	at := func(hour int) metav1.Time { return metav1.Date(2026, 11, 1, hour, 0, 0, 0, time.UTC) }
	meta := func(name string, created int, changes ...metav1.ManagedFieldsEntry) metav1.ObjectMeta {
		applied := at(0)
		changes = append(changes, metav1.ManagedFieldsEntry{Time: &applied})
		return metav1.ObjectMeta{Name: name, CreationTimestamp: at(created), ManagedFields: changes}
	}
	change := func(hour int, subresource string) metav1.ManagedFieldsEntry {
		when := at(hour)
		return metav1.ManagedFieldsEntry{Time: &when, Subresource: subresource}
	}
	policy := func(meta metav1.ObjectMeta, resource string) admissionv1.ValidatingAdmissionPolicy {
		rule := admissionv1.Rule{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{resource}}
		return admissionv1.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{
				{RuleWithOperations: admissionv1.RuleWithOperations{Rule: rule}},
			}},
		}}
	}
	binding := func(meta metav1.ObjectMeta, of string) admissionv1.ValidatingAdmissionPolicyBinding {
		return admissionv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: of},
		}
	}
	const approvals = "cleanerapprovals"
	for name, test := range map[string]struct {
		policies []admissionv1.ValidatingAdmissionPolicy
		bindings []admissionv1.ValidatingAdmissionPolicyBinding
		want     int // hour; 0 if approvals are not guarded
	}{
		"none": {},
		"a policy without a binding": {
			policies: []admissionv1.ValidatingAdmissionPolicy{policy(meta("a", 1), approvals)},
			bindings: []admissionv1.ValidatingAdmissionPolicyBinding{binding(meta("b", 1), "another")},
		},
		"a policy of another kind": {
			policies: []admissionv1.ValidatingAdmissionPolicy{policy(meta("a", 1), "cleaners"), {ObjectMeta: meta("a", 1)}},
			bindings: []admissionv1.ValidatingAdmissionPolicyBinding{binding(meta("b", 1), "a")},
		},
		"the binding was created again": {
			policies: []admissionv1.ValidatingAdmissionPolicy{policy(meta("a", 1), approvals)},
			bindings: []admissionv1.ValidatingAdmissionPolicyBinding{binding(meta("b", 3), "a")},
			want:     3,
		},
		"the policy was changed": {
			policies: []admissionv1.ValidatingAdmissionPolicy{policy(meta("a", 1, change(4, ""), change(2, "")), approvals)},
			bindings: []admissionv1.ValidatingAdmissionPolicyBinding{binding(meta("b", 3), "a")},
			want:     4,
		},
		"nobody knows when the binding was changed": {
			policies: []admissionv1.ValidatingAdmissionPolicy{policy(meta("a", 1), approvals)},
			bindings: []admissionv1.ValidatingAdmissionPolicyBinding{
				binding(metav1.ObjectMeta{Name: "b", CreationTimestamp: at(1)}, "a"),
			},
		},
		"only the status of the policy was changed": {
			policies: []admissionv1.ValidatingAdmissionPolicy{policy(meta("a", 1, change(4, "status")), approvals)},
			bindings: []admissionv1.ValidatingAdmissionPolicyBinding{binding(meta("b", 1), "a")},
			want:     1,
		},
		"two policies": {
			policies: []admissionv1.ValidatingAdmissionPolicy{policy(meta("a", 1), approvals), policy(meta("z", 5), approvals)},
			bindings: []admissionv1.ValidatingAdmissionPolicyBinding{binding(meta("b", 1), "a"), binding(meta("y", 6), "z")},
			want:     6,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last, err := lastGuardChange(test.policies, test.bindings)
			if (err == nil) != (test.want > 0) || err == nil && !last.Equal(at(test.want).Time) || err != nil && !IsNotApproved(err) {
				t.Errorf("guarded since %s (%v), want hour %d", last, err, test.want)
			}
		})
	}
}
