// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// bound is a policy, and a binding by which it may refuse requests.
type bound struct {
	// policy is how lines name it.
	policy string
	// constraints are those of the policy, and narrowed those of the binding, if it has any.
	constraints, narrowed *admissionv1.MatchResources
}

// inForce are the policies of others by which requests are refused, with each of their bindings. Those of KubeCleaner
// let the operator pass, and wards compares them.
func (a *admission) inForce() (all []bound) {
	for _, policy := range a.policies {
		if slices.ContainsFunc(wards(), func(w ward) bool { return w.isIn(policy) }) {
			continue
		}
		for _, binding := range a.bindings[policy.Name] {
			if slices.Contains(binding.Spec.ValidationActions, admissionv1.Deny) {
				name := ref("ValidatingAdmissionPolicy", policy.Name)
				all = append(all, bound{name, policy.Spec.MatchConstraints, binding.Spec.MatchResources})
			}
		}
	}
	return all
}

// readMutating are the policies that change objects, with each of their bindings. The API server refuses a request
// where one fails, unless its failurePolicy is Ignore. Before Kubernetes 1.36 there is no v1 of them.
func (p *patient) readMutating(ctx context.Context) (all []bound, err error) {
	for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
		all, err = p.mutatingOf(ctx, "/apis/admissionregistration.k8s.io/"+version+"/mutatingadmissionpolic")
		if !apierrors.IsNotFound(err) {
			return all, err
		}
	}
	return nil, nil
}

// mutatingOf are those of one version below a path. All versions have the same fields.
func (p *patient) mutatingOf(ctx context.Context, path string) (all []bound, err error) {
	strict := map[string]*admissionv1.MatchResources{}
	err = cluster.List[admissionv1.MutatingAdmissionPolicyList](ctx, p.api, path+"ies",
		func(policy *admissionv1.MutatingAdmissionPolicy) {
			if ptr.Deref(policy.Spec.FailurePolicy, admissionv1.Fail) == admissionv1.Fail {
				strict[policy.Name] = policy.Spec.MatchConstraints
			}
		})
	if err != nil {
		return nil, err
	}
	err = cluster.List[admissionv1.MutatingAdmissionPolicyBindingList](ctx, p.api, path+"ybindings",
		func(binding *admissionv1.MutatingAdmissionPolicyBinding) {
			if constraints := strict[binding.Spec.PolicyName]; constraints != nil {
				name := ref("MutatingAdmissionPolicy", binding.Spec.PolicyName)
				all = append(all, bound{name, constraints, binding.Spec.MatchResources})
			}
		})
	return all, err
}

// refusals are the policies that are asked about requests. What they say depends on each object.
func refusals(inForce []bound, sent []request) (lines []Line) {
	asked := map[string][]string{}
	var order []string
	for _, b := range inForce {
		for _, r := range sent {
			if b.isAsked(r) && !slices.Contains(asked[b.policy], r.words) {
				if asked[b.policy] == nil {
					order = append(order, b.policy)
				}
				asked[b.policy] = append(asked[b.policy], r.words)
			}
		}
	}
	for _, policy := range order {
		lines = append(lines, Line{
			Status:  Warn,
			Object:  policy,
			Message: "it applies to these requests, and may block them: " + terminal.Shortened(asked[policy], maxNamed),
			WayOut: "look at its expressions: allow the account that sends the requests, " +
				"or let the Cleaner select only what is allowed",
		})
	}
	return lines
}

// isAsked reports whether the API server asks the policy about a request.
func (b bound) isAsked(r request) bool {
	return matchesResources(b.constraints, r) && (b.narrowed == nil || matchesResources(b.narrowed, r))
}
