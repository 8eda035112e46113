// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// VolumeBytes is what the deletion of a PersistentVolumeClaim or PersistentVolume frees, in bytes. It is zero for all
// other kinds, and when the object's bytes were not kept.
func (o Object) VolumeBytes() int64 {
	switch o.Kind.GroupKind() {
	case schema.GroupKind{Kind: "PersistentVolumeClaim"}, schema.GroupKind{Kind: "PersistentVolume"}:
	default:
		return 0
	}
	if len(o.Raw) == 0 {
		return 0
	}
	return o.Parts().VolumeBytes()
}

// VolumeBytes is what the claim got, or what the volume has. A claim that is Pending has nothing yet. Storage stays
// when a volume is deleted whose reclaim policy is Retain.
func (o *Parts) VolumeBytes() int64 {
	if o.At("spec", "persistentVolumeReclaimPolicy").Text() == "Retain" {
		return 0
	}
	for _, value := range []JSON{o.At("status", "capacity", "storage"), o.At("spec", "capacity", "storage")} {
		if quantity, err := resource.ParseQuantity(value.Text()); err == nil {
			return quantity.Value()
		}
	}
	return 0
}
