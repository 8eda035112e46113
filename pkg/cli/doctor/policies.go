// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

// policies looks whether the ValidatingAdmissionPolicies are there that Cleaners rely on, and bound, and say what they
// should, and whether others may refuse what is done.
func (p *patient) policies(ctx context.Context) (lines []Line, well string) {
	if lines := p.cleanersUnread(); lines != nil {
		return lines, ""
	}
	found, err := p.readPolicies(ctx)
	if err != nil {
		return []Line{unread("", "could not list the ValidatingAdmissionPolicies", err)}, ""
	}
	for _, w := range wards() {
		altered, there := w.examine(found)
		lines = append(lines, altered...)
		for i := range p.cleaners {
			if c := &p.cleaners[i]; !there && w.isNeeded(c) {
				lines = append(lines, Line{
					Status:  Fail,
					Object:  ref("Cleaner", c.Name),
					Message: "the ValidatingAdmissionPolicy kubecleaner" + w.suffix + " or its binding is missing: " + w.without,
					WayOut:  w.wayOut,
				})
			}
		}
	}
	mutating, err := p.readMutating(ctx)
	if err != nil {
		lines = append(lines, unread("", "could not list the MutatingAdmissionPolicies", err))
	}
	lines = append(lines, refusals(slices.Concat(found.inForce(), mutating), p.requests(ctx))...)
	return lines, "the policies that Cleaners need exist, and no other policy blocks Cleaners or the operator"
}

// admission is what the cluster has of policies. The bindings are by the name of their policy.
type admission struct {
	policies []*admissionv1.ValidatingAdmissionPolicy
	bindings map[string][]*admissionv1.ValidatingAdmissionPolicyBinding
}

func (p *patient) readPolicies(ctx context.Context) (*admission, error) {
	const path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
	found := &admission{bindings: map[string][]*admissionv1.ValidatingAdmissionPolicyBinding{}}
	err := cluster.List[admissionv1.ValidatingAdmissionPolicyBindingList](ctx, p.api, path+"ybindings",
		func(binding *admissionv1.ValidatingAdmissionPolicyBinding) {
			of := binding.Spec.PolicyName
			found.bindings[of] = append(found.bindings[of], binding)
		})
	if err != nil {
		return nil, err
	}
	err = cluster.List[admissionv1.ValidatingAdmissionPolicyList](ctx, p.api, path+"ies",
		func(policy *admissionv1.ValidatingAdmissionPolicy) { found.policies = append(found.policies, policy) })
	return found, err
}

// matchesResources goes by the kinds, the operations and the labels of namespaces. Other labels, and names, are those
// of objects. Without rules, all match.
func matchesResources(m *admissionv1.MatchResources, r request) bool {
	if m == nil || r.isLeftOut(m.NamespaceSelector) {
		return false
	}
	isExcluded := slices.ContainsFunc(m.ExcludeResourceRules, func(rule admissionv1.NamedRuleWithOperations) bool {
		return len(rule.ResourceNames) == 0 && r.isOf(&rule.RuleWithOperations)
	})
	return !isExcluded && (len(m.ResourceRules) == 0 ||
		slices.ContainsFunc(m.ResourceRules, func(rule admissionv1.NamedRuleWithOperations) bool {
			return r.isOf(&rule.RuleWithOperations)
		}))
}

// resourcesOf are the resources of KubeCleaner that a policy looks at.
func resourcesOf(policy *admissionv1.ValidatingAdmissionPolicy) (resources []string) {
	if policy.Spec.MatchConstraints == nil {
		return nil
	}
	for i := range policy.Spec.MatchConstraints.ResourceRules {
		rule := &policy.Spec.MatchConstraints.ResourceRules[i]
		if slices.Contains(rule.APIGroups, v1alpha1.GroupVersion.Group) {
			resources = append(resources, rule.Resources...)
		}
	}
	return resources
}
