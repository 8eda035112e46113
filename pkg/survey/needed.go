// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// Need is a list that a run reads for the finding of one selector.
type Need struct {
	// Selector is the index of the selector.
	Selector int
	Kind     object.Kind
	// Namespace is the only one that is listed. Empty for the whole cluster.
	Namespace string
	// Definitions is true of the CustomResourceDefinitions. Without them, a run reads all custom resources.
	Definitions bool
}

// Needed are the lists that a run reads for the findings of the Cleaner's selectors. Lists that only add to the reasons
// are left out: a run does without them.
func Needed(ctx context.Context, reader *selector.Reader, cleaner *v1alpha1.Cleaner, options Options) ([]Need, error) {
	if !cleaner.HasFindings() {
		return nil, nil
	}
	_, options.Namespace = wantedOf(cleaner)
	if options.Catalog == nil {
		catalog, err := reader.Catalog(ctx)
		if err != nil {
			return nil, fmt.Errorf("looking for findings: %w", err)
		}
		options.Catalog = &catalog
	}
	if options.Schemas == nil {
		options.Schemas = &Schemas{}
	}
	var needs []Need
	for i, spec := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		if spec.Finding == nil {
			continue
		}
		kind := schema.GroupKind{Group: spec.Group, Kind: spec.Kind}
		options.Wanted = []finding.Want{{Kind: kind, Type: spec.Finding.Type}}
		options.WithUsers = wantsCascading(options.Wanted)
		finder, err := New(ctx, reader, options)
		if err != nil {
			return nil, fmt.Errorf("looking for findings: %w", err)
		}
		for _, list := range finder.Lists() {
			needs = append(needs, Need{Selector: i, Kind: list.Kind, Namespace: namespaceOf(list, options.Namespace)})
		}
		if len(custom(options.Catalog.Kinds)) > 0 {
			needs = append(needs, Need{Selector: i, Kind: definitions, Definitions: true})
		}
	}
	return needs, nil
}
