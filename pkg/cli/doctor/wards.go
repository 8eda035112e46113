// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/parser"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/config"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// ward is a policy of KubeCleaner, by which the API server decides who may do something.
type ward struct {
	// file is its name in the program, and suffix the end of its name in the cluster: what stands before it depends on
	// how KubeCleaner was installed.
	file, suffix, resource string
	isNeeded               func(*v1alpha1.Cleaner) bool
	// without is what follows if it is missing, and altered if it says something else.
	without, altered, wayOut string
}

// wards are all of them.
func wards() []ward {
	const anyAccount = "whoever may write Cleaners can act as any account that the operator may impersonate"
	return []ward{
		{
			"service_account", "-service-account", "cleaners",
			func(c *v1alpha1.Cleaner) bool { return c.Spec.ServiceAccountRef != nil },
			anyAccount, anyAccount, "apply config/policy, or the chart, again",
		},
		{
			"approval", "-approval", "cleanerapprovals", (*v1alpha1.Cleaner).NeedsApproval,
			"no approval is accepted", "people may approve who should not, or nobody",
			again,
		},
	}
}

// isIn reports whether a policy of the cluster is this one. One that looks at something else by now has only its name.
func (w ward) isIn(policy *admissionv1.ValidatingAdmissionPolicy) bool {
	return strings.HasSuffix(policy.Name, w.suffix) &&
		(slices.Contains(resourcesOf(policy), w.resource) || strings.HasPrefix(policy.Name, "kubecleaner-"))
}

// examine looks for the policy, and compares it with that of this program. It is there even if it says something else.
func (w ward) examine(a *admission) (lines []Line, there bool) {
	policy, binding, err := w.shipped()
	if err != nil {
		return []Line{unread("", "the policy could not be compared", err)}, true
	}
	for _, live := range a.policies {
		if !w.isIn(live) {
			continue
		}
		there = true
		lines = append(lines, w.undated(live, a.bindings[live.Name])...)
		differs := policyChanges(&policy.Spec, &live.Spec)
		differs = append(differs, bindingChanges(&binding.Spec, a.bindings[live.Name])...)
		if len(differs) == 0 {
			return lines, true // another one cannot allow what this one refuses
		}
		lines = append(lines, Line{
			Status: Fail,
			Object: ref("ValidatingAdmissionPolicy", live.Name),
			Message: fmt.Sprintf("it is not that of this version, it differs in %s: %s",
				strings.Join(differs, ", "), w.altered),
			WayOut: w.wayOut + "; if it differs still, delete the policy and its binding before",
		})
	}
	return lines, there
}

// undated says that the times are missing by which the operator knows that an approval is newer than its guard.
func (w ward) undated(
	policy *admissionv1.ValidatingAdmissionPolicy, bindings []*admissionv1.ValidatingAdmissionPolicyBinding,
) (lines []Line) {
	if w.resource != "cleanerapprovals" {
		return nil
	}
	const message = "its metadata.managedFields have no times, so nobody knows when it was changed: no approval is accepted"
	wayOut := "delete it, and " + w.wayOut
	if journal.LastChange(policy).IsZero() {
		lines = append(lines, Line{
			Status: Fail, Object: ref("ValidatingAdmissionPolicy", policy.Name), Message: message, WayOut: wayOut,
		})
	}
	for _, binding := range bindings {
		if journal.LastChange(binding).IsZero() {
			lines = append(lines, Line{
				Status: Fail, Object: ref("ValidatingAdmissionPolicyBinding", binding.Name), Message: message, WayOut: wayOut,
			})
		}
	}
	return lines
}

// shipped is the policy of this program, and its binding.
func (w ward) shipped() (
	policy admissionv1.ValidatingAdmissionPolicy, binding admissionv1.ValidatingAdmissionPolicyBinding, err error,
) {
	texts := [2][]byte{}
	if texts[0], texts[1], err = config.Policy(w.file); err != nil {
		return policy, binding, err
	}
	if err = yaml.UnmarshalStrict(texts[0], &policy); err == nil {
		err = yaml.UnmarshalStrict(texts[1], &binding)
	}
	return policy, binding, err
}

// policyChanges are the fields in which a policy differs. What it refuses besides makes it no weaker.
func policyChanges(want, live *admissionv1.ValidatingAdmissionPolicySpec) (fields []string) {
	for _, field := range []struct {
		name string
		same bool
	}{
		{
			"failurePolicy",
			ptr.Deref(want.FailurePolicy, admissionv1.Fail) == ptr.Deref(live.FailurePolicy, admissionv1.Fail),
		},
		{"paramKind", equality.Semantic.DeepEqual(want.ParamKind, live.ParamKind)},
		{"matchConstraints", isSameMatch(want.MatchConstraints, live.MatchConstraints)},
		{"matchConditions", slices.EqualFunc(want.MatchConditions, live.MatchConditions,
			func(a, b admissionv1.MatchCondition) bool {
				return a.Name == b.Name && isSameExpression(a.Expression, b.Expression)
			})},
		{"variables", slices.EqualFunc(want.Variables, live.Variables, func(a, b admissionv1.Variable) bool {
			return a.Name == b.Name && isSameExpression(a.Expression, b.Expression)
		})},
		{"validations", !slices.ContainsFunc(want.Validations, func(v admissionv1.Validation) bool {
			return !slices.ContainsFunc(live.Validations, func(l admissionv1.Validation) bool {
				return isSameExpression(l.Expression, v.Expression)
			})
		})},
	} {
		if !field.same {
			fields = append(fields, field.name)
		}
	}
	return fields
}

// isSameExpression compares two CEL expressions by what they mean: tools that write YAML anew, such as kustomize, break
// their lines elsewhere.
func isSameExpression(a, b string) bool { return a == b || parsed(a) == parsed(b) }

// parsed is an expression as CEL itself writes it: without line breaks, comments and needless white space. One that is
// not valid stays as it is.
func parsed(expression string) string {
	p, err := parser.NewParser()
	if err != nil {
		return expression
	}
	tree, problems := p.Parse(common.NewTextSource(expression))
	if len(problems.GetErrors()) > 0 {
		return expression
	}
	text, err := parser.Unparse(tree.Expr(), tree.SourceInfo())
	if err != nil {
		return expression
	}
	return text
}

// bindingChanges are the fields in which the bindings of a policy differ. One that is as it should be is enough: others
// cannot allow what it refuses.
func bindingChanges(
	want *admissionv1.ValidatingAdmissionPolicyBindingSpec, live []*admissionv1.ValidatingAdmissionPolicyBinding,
) (fields []string) {
	if len(live) == 0 {
		return []string{"policyName of its binding (none names it)"}
	}
	for _, binding := range live {
		var differs []string
		about := "of its binding " + ref(binding.Name)
		if !slices.Contains(binding.Spec.ValidationActions, admissionv1.Deny) {
			differs = append(differs, "validationActions "+about)
		}
		if !equality.Semantic.DeepEqual(want.ParamRef, binding.Spec.ParamRef) {
			differs = append(differs, "paramRef "+about)
		}
		if !isSameMatch(want.MatchResources, binding.Spec.MatchResources) {
			differs = append(differs, "matchResources "+about)
		}
		if len(differs) == 0 {
			return nil
		}
		fields = append(fields, differs...)
	}
	return fields
}

// isSameMatch compares with the defaults that the API server sets.
func isSameMatch(want, live *admissionv1.MatchResources) bool {
	return equality.Semantic.DeepEqual(withDefaults(want), withDefaults(live))
}

func withDefaults(m *admissionv1.MatchResources) *admissionv1.MatchResources {
	if m == nil {
		m = &admissionv1.MatchResources{}
	}
	m = m.DeepCopy()
	m.MatchPolicy = ptr.To(ptr.Deref(m.MatchPolicy, admissionv1.Equivalent))
	m.NamespaceSelector = ptr.To(ptr.Deref(m.NamespaceSelector, metav1.LabelSelector{}))
	m.ObjectSelector = ptr.To(ptr.Deref(m.ObjectSelector, metav1.LabelSelector{}))
	for _, rules := range [][]admissionv1.NamedRuleWithOperations{m.ResourceRules, m.ExcludeResourceRules} {
		for i := range rules {
			rules[i].Scope = ptr.To(ptr.Deref(rules[i].Scope, admissionv1.AllScopes))
		}
	}
	return m
}
