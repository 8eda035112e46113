// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/json"
	"slices"
	"strings"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// records are the kinds whose objects only say what was, or what was measured.
var records = map[schema.GroupKind]bool{
	{Kind: "Event"}:                                true,
	{Group: "events.k8s.io", Kind: "Event"}:        true,
	{Group: "metrics.k8s.io", Kind: "PodMetrics"}:  true,
	{Group: "metrics.k8s.io", Kind: "NodeMetrics"}: true,
}

// remade are the kinds without state whose objects a controller creates again. Only those that a controller manages:
// nothing creates again what a person made. Endpoints are not among them: those of a Service without a selector have
// state.
var remade = map[schema.GroupKind]bool{
	{Kind: "Pod"}: true,
	{Group: "coordination.k8s.io", Kind: "Lease"}:      true,
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}: true,
}

// sliceControllers are the managers of EndpointSlices that are part of Kubernetes.
var sliceControllers = []string{"endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"}

// isStateless reports whether nothing would be lost with the object. No copy is made of it then.
func isStateless(o object.Object) bool { return whyStateless(o) != "" }

// whyStateless says why nothing would be lost with the object. Empty when something would.
func whyStateless(o object.Object) string {
	kind := o.Kind.GroupKind()
	switch {
	case records[kind]:
		return WordsRecord
	case remade[kind] && isManaged(o):
		return WordsRemade
	case kind == schema.GroupKind{Group: "batch", Kind: "Job"} && hasFinished(o):
		return WordsFinished
	}
	return ""
}

// Why no copy is made of an object, so that "because" can stand before it.
const (
	WordsRecord   = "an Event or a measurement only says what was"
	WordsRemade   = "a controller creates them again"
	WordsFinished = "a Job that has finished does nothing any more"
	WordsNone     = "rollback.storage is None"
)

// WhyNoCopy says why a run of the Cleaner keeps no copy of an object that it touches. Empty when it keeps one.
func WhyNoCopy(cleaner *v1alpha1.Cleaner, o object.Object) string {
	if cleaner.CopyStorage() == v1alpha1.StorageNone {
		return WordsNone
	}
	return whyStateless(o)
}

// MayLackCopies says of which objects a run of the Cleaner keeps no copy, as far as their kinds show, and why. Empty
// when it keeps one of each.
func MayLackCopies(cleaner *v1alpha1.Cleaner) string {
	if cleaner.CopyStorage() == v1alpha1.StorageNone {
		return "any object, because " + WordsNone
	}
	var lacking []string
	for _, s := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		words := WhyKindLacksCopies(schema.GroupKind{Group: s.Group, Kind: s.Kind})
		if words != "" && !slices.Contains(lacking, words) {
			lacking = append(lacking, words)
		}
	}
	return strings.Join(lacking, "; nor of ")
}

// KindLacksCopies reports whether a run of the Cleaner keeps no copy of some or all objects of a kind.
func KindLacksCopies(cleaner *v1alpha1.Cleaner, kind schema.GroupKind) bool {
	return cleaner.CopyStorage() == v1alpha1.StorageNone || WhyKindLacksCopies(kind) != ""
}

// WhyKindLacksCopies says of which objects of a kind no copy is kept, and why. Empty when it is kept of all.
func WhyKindLacksCopies(kind schema.GroupKind) string {
	switch {
	case records[kind]:
		return kind.Kind + " objects, because " + WordsRecord
	case remade[kind]:
		return kind.Kind + " objects that a controller manages, because " + WordsRemade
	case kind == schema.GroupKind{Group: "batch", Kind: "Job"}:
		return "finished Jobs, because " + WordsFinished
	}
	return ""
}

// isManaged reports whether a controller manages the object. What cannot be decoded is taken for managed by nobody.
func isManaged(o object.Object) bool {
	metadata, err := apiserver.Metadata(o)
	if err != nil {
		return false
	}
	isSlice := o.Kind.GroupKind() == discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice").GroupKind()
	return metav1.GetControllerOfNoCopy(&metadata) != nil ||
		isSlice && slices.Contains(sliceControllers, metadata.Labels[discoveryv1.LabelManagedBy])
}

// hasFinished reports whether a Job has finished.
func hasFinished(o object.Object) bool {
	var job struct {
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	if json.Unmarshal(o.Raw, &job) != nil {
		return false
	}
	return slices.ContainsFunc(job.Status.Conditions, func(c struct{ Type, Status string }) bool {
		return (c.Type == "Complete" || c.Type == "Failed") && c.Status == "True"
	})
}
