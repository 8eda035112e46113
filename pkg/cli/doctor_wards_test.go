// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/config"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// ward installs one of KubeCleaner's policies as change leaves it.
func (c *clinic) ward(file string, change func(*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyBinding)) (name string, remove func()) {
	c.Helper()
	texts := [2][]byte{}
	var err error
	texts[0], texts[1], err = config.Policy(file)
	must(c.T, err)
	var policy admissionv1.ValidatingAdmissionPolicy
	var binding admissionv1.ValidatingAdmissionPolicyBinding
	must(c.T, yaml.UnmarshalStrict(texts[0], &policy))
	must(c.T, yaml.UnmarshalStrict(texts[1], &binding))
	name = "kubecleaner-" + c.namespace + "-" + strings.ReplaceAll(file, "_", "-")
	policy.Name, binding.Name, binding.Spec.PolicyName = name, name, name
	change(&policy, &binding)
	unbind, drop := c.make(&binding), c.make(&policy)
	return name, func() { unbind(); drop() }
}

// TestDoctorComparesPolicies: a policy that is there and says something else protects nobody.
func TestDoctorComparesPolicies(t *testing.T) {
	c := newClinic(t)
	type policy = admissionv1.ValidatingAdmissionPolicy
	type binding = admissionv1.ValidatingAdmissionPolicyBinding
	for name, test := range map[string]struct {
		change func(*policy, *binding)
		want   string
	}{
		"as shipped": {func(*policy, *binding) {}, ""},
		"stricter": {func(p *policy, b *binding) {
			p.Spec.Validations = append(p.Spec.Validations, admissionv1.Validation{Expression: "object.metadata.name != 'x'"})
			b.Spec.ValidationActions = append(b.Spec.ValidationActions, admissionv1.Audit)
		}, ""},
		"as kustomize breaks its lines": {func(p *policy, _ *binding) {
			p.Spec.MatchConditions[0].Expression += "\n"
			for i := range p.Spec.Validations {
				expression := &p.Spec.Validations[i].Expression
				*expression = strings.ReplaceAll(*expression, ".check(", "\n\n  .check( // comment\n ")
			}
		}, ""},
		"a blank more in a text": {func(p *policy, _ *binding) {
			for i := range p.Spec.Validations {
				expression := &p.Spec.Validations[i].Expression
				*expression = strings.NewReplacer("'impersonate'", "' impersonate'", "'approve'", "'approve '").Replace(*expression)
			}
		}, "validations"},
		"true": {func(p *policy, _ *binding) {
			p.Spec.Validations = []admissionv1.Validation{{Expression: "true"}}
		}, "validations"},
		"Ignore": {func(p *policy, _ *binding) { p.Spec.FailurePolicy = ptr.To(admissionv1.Ignore) }, "failurePolicy"},
		"false": {func(p *policy, _ *binding) {
			p.Spec.MatchConditions = append(p.Spec.MatchConditions, admissionv1.MatchCondition{Name: "never", Expression: "false"})
		}, "matchConditions"},
		"another kind": {func(p *policy, _ *binding) {
			p.Spec.MatchConstraints.ResourceRules[0].Resources = []string{"reports"}
		}, "matchConstraints"},
		"other variables": {func(p *policy, _ *binding) {
			p.Spec.Variables = append(p.Spec.Variables, admissionv1.Variable{Name: "more", Expression: "true"})
		}, "variables"},
		"only Audit": {func(_ *policy, b *binding) {
			b.Spec.ValidationActions = []admissionv1.ValidationAction{admissionv1.Audit}
		}, "validationActions of its binding"},
		"not bound": {func(_ *policy, b *binding) { b.Spec.PolicyName = "other" }, "policyName of its binding"},
		"not everywhere": {func(_ *policy, b *binding) {
			b.Spec.MatchResources = &admissionv1.MatchResources{ExcludeResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Update},
					Rule:       admissionv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}},
				},
			}}}
		}, "matchResources of its binding"},
	} {
		for _, file := range []string{"service_account", "approval"} {
			object, remove := c.ward(file, test.change)
			problems, code := c.examined(nil)
			remove()
			said := slices.ContainsFunc(problems, func(p string) bool {
				return strings.HasPrefix(p, "FAIL policies: ValidatingAdmissionPolicy/"+object+": it is not that of this version, it differs in "+test.want)
			})
			if said != (test.want != "") || (code == codes.ExitDone) != (test.want == "") {
				t.Errorf("%s of %s: exit %d, want %q in:\n%s", name, file, code, test.want, strings.Join(problems, "\n"))
			}
		}
	}
}

// TestDoctorLooksForTheTimesOfTheGuard: the operator trusts no approval while nobody knows when its guard was changed.
func TestDoctorLooksForTheTimesOfTheGuard(t *testing.T) {
	c := newClinic(t)
	name, remove := c.ward("approval", func(*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyBinding) {})
	defer remove()
	empty := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"managedFields":[{}]}}`))
	must(t, c.Patch(t.Context(), &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}, empty))
	problems, code := c.examined(nil)
	want := "FAIL policies: ValidatingAdmissionPolicyBinding/" + name + ": its metadata.managedFields have no times"
	if code == codes.ExitDone || !slices.ContainsFunc(problems, func(p string) bool { return strings.HasPrefix(p, want) }) {
		t.Errorf("exit %d, want %q in:\n%s", code, want, strings.Join(problems, "\n"))
	}
}
