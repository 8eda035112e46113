// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Check says what is wrong with the findings that a Cleaner asks for, each with its field.
func Check(cleaner *v1alpha1.Cleaner) (problems []error) {
	action := cleaner.EffectiveAction()
	for i := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		if err := CheckSelector(&cleaner.Spec.ResourcePolicySet.ResourceSelectors[i], action); err != nil {
			problems = append(problems, fmt.Errorf("resourceSelectors[%d].%w", i, err))
		}
	}
	if action == v1alpha1.ActionDelete && cleaner.HasFindings() && cleaner.Spec.BlastRadiusLimit == nil {
		problems = append(
			problems,
			errors.New("blastRadiusLimit: action Delete by a finding needs one; add it, for example {maxCount: 50}"),
		)
	}
	return problems
}

// CheckSelector says what is wrong with the finding that a selector of a Cleaner of the action asks for. The error
// begins with the field.
func CheckSelector(spec *v1alpha1.ResourceSelector, action v1alpha1.Action) error {
	if spec.Finding == nil {
		return nil
	}
	kind, typ := schema.GroupKind{Group: spec.Group, Kind: spec.Kind}, spec.Finding.Type
	types := TypesOf(kind)
	has := false
	names := make([]string, 0, len(types))
	for _, t := range types {
		has = has || t == typ
		names = append(names, string(t))
	}
	switch {
	case len(types) == 0:
		return fmt.Errorf(
			"finding: there is nothing to find of kind %s; leave finding out, and select by matchConditions or evaluate",
			kind,
		)
	case !has:
		return fmt.Errorf("finding.type: kind %s has no finding %s; it has %s", kind, typ, strings.Join(names, ", "))
	case action != v1alpha1.ActionScan && !Actionable(kind, typ):
		why := whyNotActionable(kind, typ)
		return fmt.Errorf(
			"finding.type: a Cleaner with the finding %s may only report %s objects: %s; use action Scan",
			typ,
			kind.Kind,
			why,
		)
	case !Surest(kind, typ).IsAtLeast(spec.Finding.Least()):
		return fmt.Errorf(
			"finding.minConfidence: no %s is %s with confidence %s, because nothing proves it, so this selects nothing; use %s",
			kind.Kind,
			typ,
			spec.Finding.Least(),
			Surest(kind, typ),
		)
	case kind != pods && slices.Equal(spec.Finding.Dialects, []v1alpha1.MarkDialect{v1alpha1.MarkPodReaper}):
		return fmt.Errorf(
			"finding.dialects: PodReaper marks only Pods, so this selects no %s; leave dialects out, or select kind Pod",
			kind.Kind,
		)
	}
	return nil
}

// whyNotActionable says why a finding is only reported.
func whyNotActionable(kind schema.GroupKind, typ v1alpha1.FindingType) string {
	why := map[v1alpha1.FindingType]string{
		v1alpha1.FindingDangling:           "perhaps not this object is wrong: the object that it names may have been deleted by mistake",
		v1alpha1.FindingCascading:          "an object that uses it may start again; delete that object first, then this one is Unused",
		v1alpha1.FindingStuck:              "its deletion waits for a cleanup, which would not be done",
		v1alpha1.FindingCertificateExpired: "its issuer renews the certificate, and others may still read it",
	}[typ]
	switch kind.Kind {
	case "Node":
		return "Pods may still run on it"
	case "NetworkPolicy":
		return "without the policy, the traffic that it denies would be allowed"
	}
	return cmp.Or(object.Foundation(kind), why, "it may still be needed")
}
