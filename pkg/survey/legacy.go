// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

var definitions = object.Kind{
	GroupVersionKind: schema.GroupVersionKind{
		Group:   "apiextensions.k8s.io",
		Version: "v1",
		Kind:    "CustomResourceDefinition",
	},
	Resource: "customresourcedefinitions",
}

// open makes all that was learned of kinds open whose objects may hold fields that their schemas do not have: those of
// CustomResourceDefinitions of before Kubernetes 1.22 with spec.preserveUnknownFields, which the published schemas do
// not say. Where these cannot be read, any kind may be one.
func (s *Schemas) open(
	ctx context.Context,
	reader *selector.Reader,
	sources []graph.Source,
	kept map[string]document,
) error {
	s.mu.Lock()
	isSame := func(a, b document) bool { return a.url == b.url }
	preserving := s.preserving
	if !maps.EqualFunc(s.kept, kept, isSame) {
		preserving = nil
	}
	s.mu.Unlock()
	if preserving == nil {
		preserving = map[schema.GroupKind]bool{}
		err := reader.Each(ctx, selector.Ask{Kind: definitions}, func(o object.Object) error {
			spec := object.JSON(o.Raw).Field("spec")
			if spec.Field("preserveUnknownFields").String() == "true" {
				preserving[schema.GroupKind{Group: spec.Field("group").Text(), Kind: spec.At("names", "kind").Text()}] = true
			}
			return nil
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			preserving = nil
		}
	}
	for i := range sources {
		if preserving == nil || preserving[schema.ParseGroupKind(sources[i].Kind)] {
			sources[i].Guess = append(slices.Clip(sources[i].Guess), ".")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept, s.preserving = kept, preserving
	return nil
}
