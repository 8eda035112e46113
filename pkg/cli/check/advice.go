// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
)

// advise warns of what is allowed, and yet may not be what the user meant, or what somebody who comes from k8s-cleaner
// should know.
func (r *Result) advise() {
	spec := r.Cleaner.Spec
	action := r.Cleaner.EffectiveAction()
	switch {
	case !r.KnowsAction():
		return
	case spec.Action == nil && spec.ResourcePolicySet.Action == nil:
		r.add(
			"spec.action",
			codes.ActionDefault,
			"is not set, so the Cleaner only reports what matches (Scan); in k8s-cleaner it would delete",
			"write action: Scan, Delete or Transform",
		)
	case spec.Action == nil:
		r.add(
			"spec.resourcePolicySet.action",
			codes.FieldDeprecated,
			"is the older place of spec.action",
			fmt.Sprintf("write action: %s below spec", action),
		)
	}
	r.unused(action)
	r.podsStay(action)
	for i, sel := range spec.ResourcePolicySet.ResourceSelectors {
		field := fmt.Sprintf("%s[%d]", selectorsField, i)
		if sel.MetricSource != nil && !sel.WantsMetrics() {
			r.add(field+".metricSource", codes.FieldUnused, "has no effect without metricQueries", "")
		}
		r.metricHost(field+".metricSource", &sel)
		if action != v1alpha1.ActionScan && spec.ResourcePolicySet.AggregatedSelection == "" && matchesAll(sel) {
			r.add(
				field,
				codes.EverythingMatches,
				fmt.Sprintf("every %s %s matches; the action is %s", sel.Kind, where(sel), action),
				"if that is not meant, add labelFilters, matchConditions or evaluate",
			)
		}
		r.foundAtOnce(field, &sel, action)
	}
	r.secrets()
}

// secrets are the notifications' references to Secrets that are not used.
func (r *Result) secrets() {
	for i, notification := range r.Cleaner.Spec.Notifications {
		if notification.NotificationRef != nil && !notification.Type.NeedsSecret() {
			r.add(
				fmt.Sprintf("spec.notifications[%d].notificationRef", i),
				codes.FieldIgnored,
				"has no effect: the type "+string(notification.Type)+" needs no Secret",
				"",
			)
		}
	}
}

// metricHost says when metrics are to be read from where the operator reads none unless a flag of its own allows it.
func (r *Result) metricHost(field string, sel *v1alpha1.ResourceSelector) {
	if !sel.WantsMetrics() || r.anyBelow(field) {
		return
	}
	if err := new(inputs.Metrics).For(r.Cleaner.Spec.ServiceAccountRef).Allow(sel); err != nil {
		at, text, _ := strings.Cut(err.Error(), ": ")
		r.add(strings.TrimSuffix(field, "metricSource")+at, codes.HostNeedsFlag, text, "")
	}
}

// unused are the fields that go with another action. In a Cleaner that says Scan they wait until it is armed.
func (r *Result) unused(action v1alpha1.Action) {
	spec := r.Cleaner.Spec
	if spec.Action != nil && action == v1alpha1.ActionScan {
		return
	}
	unless := func(wanted bool, field string, is bool) {
		if is && !wanted && !r.has(field) {
			r.add(field, codes.FieldUnused, "has no effect, because the action is "+string(action), "")
		}
	}
	unless(action == v1alpha1.ActionTransform, "spec.transform", spec.Transform != "")
	unless(action == v1alpha1.ActionTransform, "spec.mergePatch", spec.MergePatch != nil)
	unless(action == v1alpha1.ActionDelete, "spec.deleteOptions", spec.DeleteOptions != nil)
	unless(action != v1alpha1.ActionScan, "spec.blastRadiusLimit", spec.BlastRadiusLimit != nil)
}

// podsStay says of which kinds the API server keeps the Pods unless a delete says otherwise, as kubectl's does: see
// DefaultGarbageCollectionPolicy of their strategies in Kubernetes.
func (r *Result) podsStay(action v1alpha1.Action) {
	options := r.Cleaner.Spec.DeleteOptions
	if action != v1alpha1.ActionDelete || options != nil && options.PropagationPolicy != nil {
		return
	}
	for i, sel := range r.Cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		if sel.Group == "batch" && sel.Kind == "Job" || sel.Group == "" && sel.Kind == "ReplicationController" {
			r.add(
				fmt.Sprintf("%s[%d].kind", selectorsField, i),
				codes.PodsStay,
				"the Pods of a "+sel.Kind+" stay when it is deleted without a propagationPolicy",
				"write deleteOptions: {propagationPolicy: Background} below spec",
			)
		}
	}
}

// foundAtOnce says that what was just created is unused until somebody uses it. A person who approves each run sees
// that.
func (r *Result) foundAtOnce(field string, sel *v1alpha1.ResourceSelector, action v1alpha1.Action) {
	spec := r.Cleaner.Spec
	waits := spec.Approval != nil || ptr.Deref(spec.OccurrenceThreshold, 1) > 1 || ptr.Deref(sel.MinAgeSeconds, 0) > 0
	asks := sel.KeepsSince() || sel.Evaluate != "" || len(sel.MatchConditions) > 0
	isUnused := sel.Finding != nil && sel.Finding.Type == v1alpha1.FindingUnused
	if action == v1alpha1.ActionScan || !isUnused || waits || asks || r.has(field+".finding.type") {
		return
	}
	r.add(
		field+".finding",
		codes.FoundAtOnce,
		fmt.Sprintf("an object that was created a moment ago, and is not used yet, is %s, too; the action is %s", sel.Finding.Type, action),
		"add finding.forSeconds, for example 1209600 for two weeks, or minAgeSeconds",
	)
}

// KnowsAction reports whether it is known what the Cleaner does.
func (r *Result) KnowsAction() bool {
	_, hasSpec := r.Document.Value["spec"].(map[string]any)
	return hasSpec && !r.has("spec.action") && !r.has("spec.resourcePolicySet.action")
}

// matchesAll reports whether a selector lets every object of its namespaces through.
func matchesAll(sel v1alpha1.ResourceSelector) bool {
	young := sel.MinAgeSeconds != nil && *sel.MinAgeSeconds > 0
	return sel.Finding == nil && sel.Evaluate == "" && len(sel.MatchConditions) == 0 && len(sel.LabelFilters) == 0 &&
		!young
}

func where(sel v1alpha1.ResourceSelector) string {
	switch {
	case sel.Namespace != "" && sel.NamespaceSelector != "":
		return "in the namespace " + sel.Namespace + " and in those selected by " + terminal.Quoted(sel.NamespaceSelector)
	case sel.Namespace != "":
		return "in the namespace " + sel.Namespace
	case sel.NamespaceSelector != "":
		return "in the namespaces selected by " + terminal.Quoted(sel.NamespaceSelector)
	}
	return "of the cluster"
}
