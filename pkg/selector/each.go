// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Ask is which objects Each reads.
type Ask struct {
	Kind object.Kind
	// Namespace is empty for all.
	Namespace string
	// Labels is a label selector. Empty for all objects.
	Labels string
	// Fields is a field selector. Empty for all objects.
	Fields string
	// MetadataOnly asks for the objects' metadata. They may come whole all the same.
	MetadataOnly bool
	// Brief is for who does without managedFields: Pods, ConfigMaps and metadata come without them, and take half as long.
	Brief bool
}

// Each hands each object to each. The bytes are valid only during the call. An object may come more than once, when the
// list had to begin anew.
func (r *Reader) Each(ctx context.Context, ask Ask, each func(object.Object) error) error {
	q := query{
		kind: ask.Kind, path: ask.Kind.Path(ask.Namespace, ""), labels: ask.Labels, fields: ask.Fields,
		metadataOnly: ask.MetadataOnly, brief: ask.Brief,
	}
	return r.list(ctx, q, func() error { return nil }, func(raw []byte) error {
		o, err := object.New(ask.Kind, raw)
		if err != nil {
			return err
		}
		return each(o)
	})
}
