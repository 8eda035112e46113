// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "slices"

// Operation is how a label filter compares.
// +kubebuilder:validation:Enum=Equal;Different;Has;DoesNotHave
type Operation string

const (
	// OperationEqual holds when the label has the value.
	OperationEqual Operation = "Equal"
	// OperationDifferent holds when the label has another value, or is absent.
	OperationDifferent Operation = "Different"
	// OperationHas holds when the label is present.
	OperationHas Operation = "Has"
	// OperationDoesNotHave holds when the label is absent.
	OperationDoesNotHave Operation = "DoesNotHave"
)

// LabelFilter selects objects by one label.
// +kubebuilder:validation:XValidation:rule="(self.operation in ['Has', 'DoesNotHave']) || has(self.value)",message=`operation Equal or Different needs a value, also an empty one (value: ""); to test only whether the label is there, use Has or DoesNotHave`
// +kubebuilder:validation:XValidation:rule="self.key.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')",message="key must be a label key, for example app or example.com/team"
// +kubebuilder:validation:XValidation:rule="!has(self.value) || self.value.matches('^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$')",message="value must be a label value: letters, digits, '-', '_' and '.', beginning and ending with a letter or digit; for several values, use several Cleaners or evaluate"
type LabelFilter struct {
	// key is the label's key, for example "app" or "example.com/team".
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key"`

	// operation compares the label: Equal (has the value), Different (has another value or is absent), Has (is present)
	// or DoesNotHave (is absent).
	// +required
	Operation Operation `json:"operation"`

	// value is what Equal and Different compare with, for example "test". Has and DoesNotHave ignore it.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Value *string `json:"value,omitempty"`
}

// MatchCondition is one CEL expression that must hold.
type MatchCondition struct {
	// name identifies the condition within its selector, for example "unused".
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// expression is a CEL expression that is true or false, for example "object.status.phase == 'Failed' && now -
	// timestamp(object.metadata.creationTimestamp) > duration('24h')". Its variables are object (the object as the API
	// server sent it), now (the time at which the run began), finding (type, reason, confidence and since, if the selector
	// has a finding), events (with includeEvents), metrics (with metricQueries) and logs (with logSource). Conditions that
	// use logs are evaluated last.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	Expression string `json:"expression"`

	// message says why an object for which the expression holds is selected, for example "failed more than a day ago".
	// Optional.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// ResourceSelector selects objects of one kind.
// +kubebuilder:validation:XValidation:rule="!has(self.metricQueries) || size(self.metricQueries) == 0 || has(self.metricSource)",message="metricQueries need a metricSource; add it, for example {url: http://prometheus.monitoring.svc:9090}"
// +kubebuilder:validation:XValidation:rule="!has(self.logSource) || (self.kind == 'Pod' && size(self.group) == 0)",message="logSource is for Pods only (group \"\", kind Pod); remove it, nothing else has logs"
type ResourceSelector struct {
	// group is the API group of the kind: "" for the core group, "apps" for Deployments. You must set it, even to "".
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$')",message="group must name one API group, for example apps; write \"\" for the core group; wildcards are not supported"
	Group string `json:"group"`

	// version is the API version of the kind, for example "v1".
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="version must name one API version, for example v1; wildcards are not supported"
	Version string `json:"version"`

	// kind is the kind of the objects, for example "ConfigMap".
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$')",message="kind must name one kind, for example ConfigMap; wildcards are not supported, use one selector for each kind"
	Kind string `json:"kind"`

	// namespace selects the objects of this namespace. Empty, without a namespaceSelector, means all namespaces. It must
	// be empty for a cluster-scoped kind.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$')",message="namespace must be the name of one namespace; to select several, use namespaceSelector"
	Namespace string `json:"namespace,omitempty"`

	// namespaceSelector selects namespaces by their labels, as a string in the syntax of kubectl's -l: "env=prod" or
	// "kubernetes.io/metadata.name notin (a,b)". These namespaces are selected in addition to namespace. Terminating
	// namespaces are skipped. A namespaceSelector that matches no namespace selects nothing.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	NamespaceSelector string `json:"namespaceSelector,omitempty"`

	// labelFilters select objects by their labels. All of them must hold.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	LabelFilters []LabelFilter `json:"labelFilters,omitempty"`

	// excludeDeleted skips objects that are already being deleted (they have a deletionTimestamp). Default true. An
	// aggregatedSelection still looks at them, because they use other objects until they are gone, but never chooses them.
	// With a finding of type Stuck it has no effect.
	// +optional
	// +kubebuilder:default=true
	ExcludeDeleted *bool `json:"excludeDeleted,omitempty"`

	// finding selects only objects that have a finding, for example {type: Unused}: nothing uses them. It needs the right
	// to list all kinds that could use them. If one of these kinds could not be read, an object is Unknown and left alone.
	// A Delete by a finding needs a blastRadiusLimit. Unset selects objects with and without findings. See
	// https://github.com/kubecleaner/kubecleaner/blob/main/docs/reference/findings.md
	// +optional
	Finding *FindingSelector `json:"finding,omitempty"`

	// minAgeSeconds skips objects created less than this many seconds ago, for example 86400 for a day. Unset or 0
	// selects objects of any age.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3153600000
	MinAgeSeconds *int64 `json:"minAgeSeconds,omitempty"`

	// matchConditions are CEL expressions, all of which must hold for an object to match, as in a
	// ValidatingAdmissionPolicy. They are evaluated before evaluate, which sees only the objects for which they hold.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	MatchConditions []MatchCondition `json:"matchConditions,omitempty"`

	// evaluate is a Lua script with a function evaluate(). It looks at one object in the global obj and, if finding is
	// set, at the global finding (type, reason, confidence and since). It returns a table with matching (bool) and,
	// optionally, message (string). Empty means that every selected object matches.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	Evaluate string `json:"evaluate,omitempty"`

	// metricSource is the service to which metricQueries are sent. If it cannot answer them, nothing is touched.
	// +optional
	MetricSource *MetricSource `json:"metricSource,omitempty"`

	// metricQueries are sent once in each run. The script's global metrics and the variable metrics of matchConditions
	// have the results: a map by the names of the queries. A query that finds no series is not in it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	MetricQueries []MetricQuery `json:"metricQueries,omitempty"`

	// includeEvents reads the events of the objects, newest first, for the script's global events and the variable events
	// of matchConditions: reason, message, type, count and lastTimestamp of each. If they cannot be read, nothing is
	// touched. Default false.
	// +optional
	IncludeEvents *bool `json:"includeEvents,omitempty"`

	// logSource reads the logs of the Pods that the other parts of the selector let through, for the script's globals
	// logs, logsByContainer, logsPrevious and logsPreviousByContainer, and the variable logs of matchConditions. If the
	// logs of a Pod cannot be read, onPartialView says what happens.
	// +optional
	LogSource *LogSource `json:"logSource,omitempty"`
}

// WantsEvents reports whether the objects' events are asked for.
func (s *ResourceSelector) WantsEvents() bool { return s.IncludeEvents != nil && *s.IncludeEvents }

// WantsMetrics reports whether metrics are asked for.
func (s *ResourceSelector) WantsMetrics() bool { return len(s.MetricQueries) > 0 }

// ResourcePolicySet says which objects a Cleaner looks at.
type ResourcePolicySet struct {
	// resourceSelectors select objects kind by kind. Their results are joined in this order.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	ResourceSelectors []ResourceSelector `json:"resourceSelectors"`

	// aggregatedSelection is a Lua script with a function evaluate(), which looks at all selected objects together, in the
	// global resources, and returns a table with resources: a list of {resource=obj, message="..."}. Empty means that
	// every selected object matches.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	AggregatedSelection string `json:"aggregatedSelection,omitempty"`

	// action is the older place of spec.action and means the same. Deprecated: use spec.action.
	// +optional
	Action *Action `json:"action,omitempty"`
}

// WantsInputs reports whether more is asked for than objects: it changes without them.
func (p *ResourcePolicySet) WantsInputs() bool {
	return slices.ContainsFunc(p.ResourceSelectors, func(s ResourceSelector) bool {
		return s.WantsEvents() || s.WantsMetrics() || s.LogSource != nil
	})
}
