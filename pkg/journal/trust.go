// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// otherName is what the ValidatingAdmissionPolicy of config/approval says to who approves in somebody else's name.
const otherName = "is not the user of this request"

// CheckApprovals asks the API server, as a dry run, to create an approval in somebody else's name. It must refuse by
// the policy, or else anybody could approve: a NotApprovedError then says so.
func (j *Journal) CheckApprovals(ctx context.Context) error {
	forged := &v1alpha1.CleanerApproval{
		ObjectMeta: metav1.ObjectMeta{Name: "kubecleaner-check-0"},
		Spec: v1alpha1.CleanerApprovalSpec{
			Cleaner: "kubecleaner-check", Run: "kubecleaner-check-0", PlanHash: "0", By: "kubecleaner-check:nobody",
			Decision: v1alpha1.DecisionApprove, Reason: "This must be refused: it shows that the policy is in force.",
		},
	}
	err := j.client.Create(ctx, forged, client.DryRunAll)
	switch {
	case err != nil && strings.Contains(err.Error(), otherName):
		return nil
	case err != nil && apiserver.MayPass(err):
		return wrap("checking that approvals are guarded", err)
	case err != nil:
		return notApproved("no approval is accepted, because the operator cannot find out whether the ValidatingAdmissionPolicy that guards CleanerApprovals is in force: %s", err)
	}
	return notApproved("no approval is accepted, because the ValidatingAdmissionPolicy that guards CleanerApprovals, or its binding, is missing or not in force: anybody could approve. Apply KubeCleaner's manifests or Helm chart again")
}

// checkAge refuses an approval that somebody may have forged, because of its age. The names of runs can be foreseen,
// and the plan of the same objects has the same hash. So an approval must be newer than the run that made the plan, and
// newer than the policy that guards approvals: while the policy was away, the API server asked nobody for a right.
func (j *Journal) checkAge(ctx context.Context, said *v1alpha1.CleanerApproval) error {
	record, err := j.Find(ctx, said.Name)
	switch {
	case err != nil:
		return err
	case record != nil && said.CreationTimestamp.Before(&record.CreationTimestamp):
		return notApproved("CleanerApproval %s is older than the run that made the plan", said.Name)
	}
	since, err := j.guardedSince(ctx)
	switch {
	case IsNotApproved(err):
		return err
	case err != nil && !apiserver.MayPass(err):
		return notApproved("the operator cannot read since when the ValidatingAdmissionPolicy that guards CleanerApprovals is in force: %s", err)
	case err != nil:
		return err
	case !said.CreationTimestamp.After(since):
		return notApproved("CleanerApproval %s is not newer than the ValidatingAdmissionPolicy that guards CleanerApprovals, or its binding, which was created or changed at %s, so perhaps nothing checked who approved. Approve the next plan",
			said.Name, since.UTC().Format(time.RFC3339))
	}
	return nil
}

// guardedSince is when the policy that guards approvals, or its binding, was created or changed last.
func (j *Journal) guardedSince(ctx context.Context) (time.Time, error) {
	var policies admissionv1.ValidatingAdmissionPolicyList
	var bindings admissionv1.ValidatingAdmissionPolicyBindingList
	for _, list := range []client.ObjectList{&policies, &bindings} {
		if err := j.client.List(ctx, list); err != nil {
			return time.Time{}, wrap("listing ValidatingAdmissionPolicies and their bindings", err)
		}
	}
	return lastGuardChange(policies.Items, bindings.Items)
}

// lastGuardChange is when the policies that name CleanerApprovals, or their bindings, changed last. A policy of
// somebody else counts, too: which of them refuses whom is not known here, and an approval can be given again.
func lastGuardChange(
	policies []admissionv1.ValidatingAdmissionPolicy, bindings []admissionv1.ValidatingAdmissionPolicyBinding,
) (last time.Time, err error) {
	for i := range policies {
		if !namesApprovals(&policies[i]) {
			continue
		}
		for k := range bindings {
			if bindings[k].Spec.PolicyName != policies[i].Name {
				continue
			}
			for _, guard := range []client.Object{&policies[i], &bindings[k]} {
				changed := LastChange(guard)
				if changed.IsZero() {
					return last, notApproved("no approval is accepted, because it is not known when %s, which guards CleanerApprovals, was changed: its metadata.managedFields have no times. Delete it, and apply KubeCleaner's manifests or Helm chart again",
						guard.GetName())
				}
				if changed.After(last) {
					last = changed
				}
			}
		}
	}
	if last.IsZero() {
		return last, notApproved("no approval is accepted, because there is no ValidatingAdmissionPolicy with a binding that guards CleanerApprovals. Apply KubeCleaner's manifests or Helm chart again")
	}
	return last, nil
}

// namesApprovals reports whether a policy looks at CleanerApprovals by name.
func namesApprovals(policy *admissionv1.ValidatingAdmissionPolicy) bool {
	match := policy.Spec.MatchConstraints
	return match != nil && slices.ContainsFunc(match.ResourceRules, func(r admissionv1.NamedRuleWithOperations) bool {
		return slices.Contains(r.APIGroups, v1alpha1.GroupVersion.Group) && slices.Contains(r.Resources, "cleanerapprovals")
	})
}

// LastChange is when an object was created or changed last, its status apart. It is zero when that is not known: once
// somebody has emptied managedFields, changes leave no trace there.
func LastChange(o client.Object) (last time.Time) {
	for _, field := range o.GetManagedFields() {
		if field.Subresource == "" && field.Time != nil && field.Time.After(last) {
			last = field.Time.Time
		}
	}
	if created := o.GetCreationTimestamp().Time; !last.IsZero() && created.After(last) {
		return created
	}
	return last
}
