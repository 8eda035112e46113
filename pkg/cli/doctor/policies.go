// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// ward is a policy of KubeCleaner, by which the API server decides who may do something.
type ward struct {
	// suffix is the end of its name: what stands before it depends on how KubeCleaner was installed.
	suffix, resource string
	isNeeded         func(*v1alpha1.Cleaner) bool
	without, wayOut  string
}

// wards are all of them.
func wards() []ward {
	return []ward{
		{
			"-service-account", "cleaners", func(c *v1alpha1.Cleaner) bool { return c.Spec.ServiceAccountRef != nil },
			"whoever may write Cleaners can act as any account that the operator may impersonate", "apply config/policy, or the chart, anew",
		},
		{
			"-approval", "cleanerapprovals", (*v1alpha1.Cleaner).NeedsApproval,
			"no approval is accepted", "apply config/approval, or the chart, anew",
		},
	}
}

// policies looks whether the ValidatingAdmissionPolicies are there that Cleaners rely on, and bound, and whether others
// may refuse what is done.
func (p *patient) policies(ctx context.Context) (lines []Line, well string) {
	if lines := p.cleanersUnread(); lines != nil {
		return lines, ""
	}
	inForce, err := p.policiesInForce(ctx)
	if err != nil {
		return []Line{unread("", "which ValidatingAdmissionPolicies there are could not be read", err)}, ""
	}
	for _, w := range wards() {
		there := slices.ContainsFunc(inForce, func(b bound) bool {
			return strings.HasSuffix(b.policy.Name, w.suffix) && slices.Contains(resourcesOf(b.policy), w.resource)
		})
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
	lines = append(lines, refusals(inForce, p.requests(ctx))...)
	return lines, "the policies that Cleaners rely on are there, and no other one may refuse what they do"
}

// bound is a policy, and a binding that has the API server refuse what the policy does not allow.
type bound struct {
	policy  *admissionv1.ValidatingAdmissionPolicy
	binding *admissionv1.ValidatingAdmissionPolicyBinding
}

// policiesInForce are the policies by which requests are refused, with each of their bindings.
func (p *patient) policiesInForce(ctx context.Context) (inForce []bound, err error) {
	const path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
	denying := map[string][]*admissionv1.ValidatingAdmissionPolicyBinding{}
	err = cluster.List[admissionv1.ValidatingAdmissionPolicyBindingList](ctx, p.api, path+"ybindings",
		func(binding *admissionv1.ValidatingAdmissionPolicyBinding) {
			if slices.Contains(binding.Spec.ValidationActions, admissionv1.Deny) {
				denying[binding.Spec.PolicyName] = append(denying[binding.Spec.PolicyName], binding)
			}
		})
	if err != nil {
		return nil, err
	}
	err = cluster.List[admissionv1.ValidatingAdmissionPolicyList](ctx, p.api, path+"ies",
		func(policy *admissionv1.ValidatingAdmissionPolicy) {
			for _, binding := range denying[policy.Name] {
				inForce = append(inForce, bound{policy, binding})
			}
		})
	return inForce, err
}

// refusals are the policies that are asked about requests. What they say depends on each object.
func refusals(inForce []bound, sent []request) (lines []Line) {
	asked := map[string][]string{}
	var order []string
	for _, b := range inForce {
		for _, r := range sent {
			if name := b.policy.Name; b.isAsked(r) && !slices.Contains(asked[name], r.words) {
				if asked[name] == nil {
					order = append(order, name)
				}
				asked[name] = append(asked[name], r.words)
			}
		}
	}
	for _, name := range order {
		lines = append(lines, Line{
			Status:  Warn,
			Object:  ref("ValidatingAdmissionPolicy", name),
			Message: "it is asked about this, and may refuse it: " + terminal.Shortened(asked[name], maxNamed),
			WayOut:  "look at its validations, and let the account pass that acts, or narrow the Cleaner to what is allowed",
		})
	}
	return lines
}

// isAsked reports whether the API server asks the policy about a request.
func (b bound) isAsked(r request) bool {
	return matchesResources(b.policy.Spec.MatchConstraints, r) &&
		(b.binding.Spec.MatchResources == nil || matchesResources(b.binding.Spec.MatchResources, r))
}

// matchesResources goes by the kinds and operations: labels and names are those of objects. Without rules, all match.
func matchesResources(m *admissionv1.MatchResources, r request) bool {
	if m == nil {
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
