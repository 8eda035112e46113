// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// VolumeBytes is what the deletion of a PersistentVolumeClaim or PersistentVolume frees, in bytes. It is zero for all
// other kinds, and when the object's bytes were not kept.
func VolumeBytes(o object.Object) int64 {
	switch o.Kind.GroupKind() {
	case schema.GroupKind{Kind: "PersistentVolumeClaim"}, schema.GroupKind{Kind: "PersistentVolume"}:
	default:
		return 0
	}
	if len(o.Raw) == 0 {
		return 0
	}
	return Capacity(o.Parts())
}

// Capacity is what the claim got, or what the volume has, in bytes. A claim that is Pending has nothing yet. Storage
// stays when a volume is deleted whose reclaim policy is Retain.
func Capacity(o *object.Parts) int64 {
	if o.At("spec", "persistentVolumeReclaimPolicy").Text() == "Retain" {
		return 0
	}
	for _, value := range []object.JSON{o.At("status", "capacity", "storage"), o.At("spec", "capacity", "storage")} {
		if quantity, err := resource.ParseQuantity(value.Text()); err == nil {
			return quantity.Value()
		}
	}
	return 0
}
