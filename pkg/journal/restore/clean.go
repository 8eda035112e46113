// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// serverMetadata are the fields of metadata that the API server sets.
var serverMetadata = []string{
	"generateName", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
	"deletionGracePeriodSeconds", "managedFields", "selfLink",
}

// path is the way to a field.
type path = []string

// serverFields are fields that the API server or a controller sets, by kind: a new object gets new values.
var serverFields = map[schema.GroupKind][]path{
	{Kind: "Pod"}:     {{"spec", "nodeName"}},
	{Kind: "Service"}: {{"spec", "healthCheckNodePort"}},
	{Kind: "PersistentVolume"}: {
		{"spec", "claimRef", "uid"},
		{"spec", "claimRef", "resourceVersion"},
		annotation("pv.kubernetes.io/bound-by-controller"),
	},
	{Group: "apps", Kind: "Deployment"}: {annotation("deployment.kubernetes.io/revision")},
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: {
		{"spec", "username"},
		{"spec", "uid"},
		{"spec", "groups"},
		{"spec", "extra"},
	},
	{Kind: "PersistentVolumeClaim"}: {
		{"spec", "volumeName"},
		annotation("pv.kubernetes.io/bind-completed"), annotation("pv.kubernetes.io/bound-by-controller"),
		annotation("volume.kubernetes.io/selected-node"), annotation("volume.kubernetes.io/storage-provisioner"),
		annotation("volume.beta.kubernetes.io/storage-provisioner"),
	},
}

// jobFields tie a Job to its Pods by its UID.
var jobFields = []path{
	{"spec", "selector"},
	{"metadata", "labels", "controller-uid"},
	{"metadata", "labels", "batch.kubernetes.io/controller-uid"},
	{"spec", "template", "metadata", "labels", "controller-uid"},
	{"spec", "template", "metadata", "labels", "batch.kubernetes.io/controller-uid"},
}

func annotation(name string) path { return path{"metadata", "annotations", name} }

// setByServer are the fields of this object that the API server or a controller sets.
func setByServer(kind schema.GroupKind, value map[string]any) []path {
	paths := serverFields[kind]
	switch kind {
	case schema.GroupKind{Kind: "Service"}:
		if ip, _ := at(value, "spec", "clusterIP").(string); ip != "None" { // that one a user chose
			paths = append(slices.Clone(paths), path{"spec", "clusterIP"}, path{"spec", "clusterIPs"})
		}
	case schema.GroupKind{Group: "batch", Kind: "Job"}:
		if manual, _ := at(value, "spec", "manualSelector").(bool); !manual {
			paths = jobFields
		}
	case schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:
		if at(value, "aggregationRule") != nil {
			paths = []path{{"rules"}}
		}
	}
	return paths
}

func at(value map[string]any, fields ...string) any {
	found, _, _ := unstructured.NestedFieldNoCopy(value, fields...)
	return found
}

// clean takes out of a decoded object what belongs to that very object and not to another with the same content.
func clean(kind schema.GroupKind, value map[string]any) {
	for _, field := range serverMetadata {
		unstructured.RemoveNestedField(value, "metadata", field)
	}
	for _, field := range setByServer(kind, value) {
		unstructured.RemoveNestedField(value, field...)
	}
	if kind == (schema.GroupKind{Kind: "Service"}) {
		ports, _ := at(value, "spec", "ports").([]any)
		for _, port := range ports {
			if fields, ok := port.(map[string]any); ok {
				delete(fields, "nodePort")
			}
		}
	}
	for _, empty := range []path{{"metadata", "annotations"}, {"metadata", "labels"}} {
		if left, ok := at(value, empty...).(map[string]any); ok && len(left) == 0 {
			unstructured.RemoveNestedField(value, empty...)
		}
	}
}

// dropFinalizers takes the finalizers out: those of a Namespace are in its spec as well.
func dropFinalizers(kind schema.GroupKind, value map[string]any) {
	unstructured.RemoveNestedField(value, "metadata", "finalizers")
	if kind == (schema.GroupKind{Kind: "Namespace"}) {
		unstructured.RemoveNestedField(value, "spec", "finalizers")
		if spec, ok := value["spec"].(map[string]any); ok && len(spec) == 0 {
			delete(value, "spec")
		}
	}
}

// same reports whether two objects of a kind have the same content. What the API server and controllers set does not
// count, nor do status, finalizers, owners, and the mark of a restore.
func same(kind schema.GroupKind, a, b map[string]any) bool {
	sides := [2]map[string]any{runtime.DeepCopyJSON(a), runtime.DeepCopyJSON(b)}
	for _, side := range sides {
		unstructured.RemoveNestedField(side, annotation(v1alpha1.RestoredFromAnnotation)...)
		unstructured.RemoveNestedField(side, "metadata", "ownerReferences")
		delete(side, "status")
		dropFinalizers(kind, side)
		clean(kind, side)
	}
	return equal(sides[0], sides[1])
}

// equal compares JSON values. A field that is null is one that is not there.
func equal(a, b any) bool {
	left, right := withoutNulls(map[string]any{"": a}), withoutNulls(map[string]any{"": b})
	return object.Changes(left, right) == nil && object.Changes(right, left) == nil
}

func withoutNulls(value map[string]any) map[string]any {
	rest := make(map[string]any, len(value))
	for key, field := range value {
		if inner, isMap := field.(map[string]any); isMap {
			rest[key] = withoutNulls(inner)
		} else if field != nil {
			rest[key] = field
		}
	}
	return rest
}

// mark notes on an object from which run it was brought back.
func mark(value map[string]any, run string) {
	metadata, ok := value["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		value["metadata"] = metadata
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations = maps.Clone(annotations); annotations == nil {
		annotations = map[string]any{}
	}
	annotations[v1alpha1.RestoredFromAnnotation] = run
	metadata["annotations"] = annotations
}
