// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// VolumeBytes is the capacity of a PersistentVolumeClaim or PersistentVolume, in bytes. It is zero for all other kinds,
// and where the object has none, or its bytes were not kept.
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

// VolumeBytes is what the claim got, what the volume has or, before that, what the claim asks for.
func (o *Parts) VolumeBytes() int64 {
	for _, value := range []JSON{
		o.At("status", "capacity", "storage"),
		o.At("spec", "capacity", "storage"),
		o.At("spec", "resources", "requests", "storage"),
	} {
		if quantity, err := resource.ParseQuantity(value.Text()); err == nil {
			return quantity.Value()
		}
	}
	return 0
}
