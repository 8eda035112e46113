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

// policies looks whether the ValidatingAdmissionPolicies are there that Cleaners rely on, and bound.
func (p *patient) policies(ctx context.Context) (lines []Line, well string) {
	if lines := p.cleanersUnread(); lines != nil {
		return lines, ""
	}
	inForce, err := p.policiesInForce(ctx)
	if err != nil {
		return []Line{unread("", "which ValidatingAdmissionPolicies there are could not be read", err)}, ""
	}
	for _, w := range wards() {
		there := slices.ContainsFunc(inForce, func(name string) bool {
			resource, policy, _ := strings.Cut(name, "/")
			return resource == w.resource && strings.HasSuffix(policy, w.suffix)
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
	return lines, "the policies that Cleaners rely on are there"
}

// policiesInForce are the policies that a binding has deny requests, by what they look at: RESOURCE/NAME.
func (p *patient) policiesInForce(ctx context.Context) (names []string, err error) {
	const path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
	denying := map[string]bool{}
	err = cluster.List[admissionv1.ValidatingAdmissionPolicyBindingList](ctx, p.api, path+"ybindings",
		func(binding *admissionv1.ValidatingAdmissionPolicyBinding) {
			if slices.Contains(binding.Spec.ValidationActions, admissionv1.Deny) {
				denying[binding.Spec.PolicyName] = true
			}
		})
	if err != nil {
		return nil, err
	}
	err = cluster.List[admissionv1.ValidatingAdmissionPolicyList](ctx, p.api, path+"ies",
		func(policy *admissionv1.ValidatingAdmissionPolicy) {
			for _, resource := range resourcesOf(policy) {
				if denying[policy.Name] {
					names = append(names, resource+"/"+policy.Name)
				}
			}
		})
	return names, err
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
