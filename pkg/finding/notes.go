// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// notes are what is kept of objects for the rows of other kinds. What rows leave out counts here all the same: exceptions are for findings.
type notes struct {
	// endpoints are the Services that have endpoints, ready or not, by namespace and name.
	endpoints map[[2]string]bool
	// scaled are workloads that something scales to zero and up again, and asleep are namespaces whose workloads sleep by a calendar.
	scaled map[graph.Name]bool
	asleep map[string]bool
	// busy are Nodes that run more than the Pods of DaemonSets and the Node's own.
	busy map[string]bool
	// inhabited are namespaces that hold something, and kinds those that have an object.
	inhabited map[string]bool
	kinds     map[schema.GroupKind]bool
}

func newNotes() notes {
	return notes{
		endpoints: map[[2]string]bool{}, scaled: map[graph.Name]bool{}, asleep: map[string]bool{},
		busy: map[string]bool{}, inhabited: map[string]bool{}, kinds: map[schema.GroupKind]bool{},
	}
}

// scalers are kinds that scale workloads to zero, and up again when they are needed.
var scalers = []schema.GroupKind{autoscalers, scaledObjects, sleepInfos}

var (
	scaledObjects = schema.GroupKind{Group: "keda.sh", Kind: "ScaledObject"}
	sleepInfos    = schema.GroupKind{Group: "kube-green.com", Kind: "SleepInfo"}
)

// noteOf says what is kept of the objects of a kind, when a row reads them.
var noteOf = map[schema.GroupKind]func(*notes, object.Object){
	autoscalers:    (*notes).autoscaler,
	scaledObjects:  (*notes).scaledObject,
	sleepInfos:     func(n *notes, o object.Object) { n.asleep[o.Namespace] = true },
	endpointSlices: (*notes).endpointSlice,
	pods:           (*notes).pod,
}

// notedByMetadata are the kinds of which the metadata is enough.
var notedByMetadata = []schema.GroupKind{sleepInfos}

func (n *notes) autoscaler(o object.Object) {
	if raw(o).At("spec", "minReplicas").String() == "0" {
		n.scaled[targetOf(o, raw(o).At("spec", "scaleTargetRef"))] = true
	}
}

// scaledObject takes note of what KEDA scales: to zero, unless it says otherwise.
func (n *notes) scaledObject(o object.Object) {
	spec := raw(o).Field("spec")
	if least := spec.Field("minReplicaCount").String(); least != "" && least != "0" && spec.Field("idleReplicaCount").String() != "0" {
		return
	}
	n.scaled[targetOf(o, spec.Field("scaleTargetRef"))] = true
}

// targetOf is the workload that something scales: a Deployment, unless it says otherwise.
func targetOf(o object.Object, reference object.JSON) graph.Name {
	kind := deployments
	if named := reference.Field("kind").Text(); named != "" {
		gv, _ := schema.ParseGroupVersion(reference.Field("apiVersion").Text())
		kind = schema.GroupKind{Group: gv.Group, Kind: named}
		if reference.Field("apiVersion").Text() == "" {
			kind.Group = deployments.Group
		}
	}
	return graph.Name{GroupKind: kind, Namespace: o.Namespace, Name: reference.Field("name").Text()}
}

// endpointSlice takes note of one of the slices of a Service: another may be empty.
func (n *notes) endpointSlice(o object.Object) {
	for range raw(o).Field("endpoints").Elements() {
		n.endpoints[[2]string{o.Namespace, label(o, "kubernetes.io/service-name")}] = true
		return
	}
}

// pod takes note of a Node that runs more than what runs on each.
func (n *notes) pod(o object.Object) {
	node := raw(o).At("spec", "nodeName").Text()
	if node == "" || hasEnded(o) {
		return
	}
	owner, owned := graph.Controller(o)
	if !owned || owner.GroupKind != daemonSets && owner.GroupKind != nodes {
		n.busy[node] = true
	}
}

// hasEnded reports whether a Pod runs no more.
func hasEnded(pod object.Object) bool {
	phase := corev1.PodPhase(raw(pod).At("status", "phase").Text())
	return slices.Contains([]corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed}, phase)
}

// count takes note that there is an object of the kind, and in the namespace. What each namespace has, and what the platform makes, does not count.
func (n *notes) count(o object.Object) {
	n.kinds[o.Kind.GroupKind()] = true
	if inhabits(o.Kind) && !n.inhabited[o.Namespace] && !isStock(o) && label(o, "olm.copiedFrom") == "" {
		n.inhabited[o.Namespace] = true
	}
}
