// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// Protected is what a Delete must not take along besides objects that say so themselves: all that is in the namespaces
// of the protection, or in those that are annotated. The operator reads Namespaces.
type Protected struct {
	Protection guard.Protection
	Operator   *selector.Reader
}

// Cascade looks where the cascade says. What cannot be read is an error: a protected object may be in it.
func Cascade(
	ctx context.Context, reader *selector.Reader, memory *selector.Share, cascade *guard.Cascade, also Protected,
) error {
	if err := memory.Take(cascade.Size()); err != nil {
		return fmt.Errorf("looking for protected objects that would be deleted with others: %w", err)
	}
	if err := readContent(ctx, reader, cascade); err != nil {
		return fmt.Errorf("looking for protected objects in the namespaces that would be deleted: %w", err)
	}
	if err := readDependents(ctx, reader, memory, cascade, also); err != nil {
		return fmt.Errorf("looking for protected objects that would be deleted with their owners: %w", err)
	}
	if err := readPods(ctx, reader, cascade); err != nil {
		return fmt.Errorf("looking for protected Pods that would be deleted with their Nodes: %w", err)
	}
	return nil
}

// readContent looks through the namespaces that would be deleted.
func readContent(ctx context.Context, reader *selector.Reader, cascade *guard.Cascade) error {
	scope := selector.Scope{Namespaces: cascade.Namespaces()}
	if len(scope.Namespaces) == 0 {
		return nil
	}
	kinds, err := reader.NamespaceContent(ctx)
	for i := 0; i < len(kinds) && err == nil; i++ {
		err = reader.Metadata(ctx, kinds[i], scope, func(o object.Object) error {
			if why := cascade.Stays(o); why != "" {
				cascade.Found(o, why, nil)
			}
			return nil
		})
	}
	return err
}

// readDependents looks through the kinds that may be owned by what would be deleted.
func readDependents(
	ctx context.Context,
	reader *selector.Reader,
	memory *selector.Share,
	cascade *guard.Cascade,
	also Protected,
) error {
	protected, err := also.namespaces(ctx, memory, cascade)
	if err != nil {
		return err
	}
	scope := selector.Scope{Cluster: cascade.Cluster, Namespaces: cascade.OwnersIn()}
	ancestors := selector.NewAncestors(reader, memory)
	for _, gvk := range cascade.Kinds {
		kind, err := reader.Resolve(ctx, gvk)
		unknown := (*selector.UnknownKindError)(nil)
		if errors.As(err, &unknown) && isGone(ctx, reader, gvk.GroupKind()) {
			continue // so there are none
		}
		if err != nil {
			return err
		}
		err = reader.Metadata(ctx, kind, scope, func(o object.Object) error {
			why, in := cascade.Stays(o), protected[o.Namespace]
			if why == "" && (in == "" || o.Deleting) {
				return nil
			}
			owners, err := ancestors.Of(ctx, o)
			if why != "" {
				cascade.Found(o, why, owners)
			} else {
				cascade.FoundIn(o, in, owners)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// namespaces says why what is in some namespaces must stay, by name. It has none unless owners may have dependents in
// any. Those that are owned themselves it gives to the cascade.
func (p Protected) namespaces(
	ctx context.Context, memory *selector.Share, cascade *guard.Cascade,
) (protected map[string]string, err error) {
	if !cascade.Spreads {
		return nil, nil
	}
	protected = map[string]string{}
	namespace := schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	kind := object.Kind{GroupVersionKind: namespace, Resource: "namespaces"}
	ancestors := selector.NewAncestors(p.Operator, memory)
	return protected, p.Operator.Each(ctx, selector.Ask{Kind: kind, MetadataOnly: true}, func(o object.Object) error {
		metadata, err := apiserver.Metadata(o)
		why := p.Protection.In(metadata.Name, &metadata)
		if err != nil || why == "" || o.Deleting {
			return err
		}
		protected[metadata.Name] = why
		owners, err := ancestors.Of(ctx, o)
		cascade.Found(o, why, owners)
		return err
	})
}

// readPods looks through the Pods of the Nodes that would be deleted. The control plane deletes those soon afterwards.
func readPods(ctx context.Context, reader *selector.Reader, cascade *guard.Cascade) error {
	nodes := cascade.Nodes()
	if len(nodes) == 0 {
		return nil
	}
	kind, err := reader.Resolve(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	if err != nil {
		return err
	}
	for name, uid := range nodes {
		ask := selector.Ask{Kind: kind, Fields: "spec.nodeName=" + name, MetadataOnly: true}
		err := reader.Each(ctx, ask, func(o object.Object) error {
			if why := cascade.Stays(o); why != "" {
				cascade.Found(o, why, []types.UID{uid})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
