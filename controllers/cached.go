// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Cleaners lists Cleaners, to look at them and not to change them: they may be the cache's own.
type Cleaners func(ctx context.Context) ([]v1alpha1.Cleaner, error)

// The watchers look every few seconds. With an index, each gets only the Cleaners that it is about: copies of thousands
// of others doubled the operator's memory.
const (
	indexed      = "true"
	planIndex    = "has a plan"
	accountIndex = "has a ServiceAccount"
)

// IndexCleaners makes a cache know which Cleaners WithPlan and WithAccount list. It must be called before the cache
// starts.
func IndexCleaners(ctx context.Context, indexer client.FieldIndexer) error {
	indexes := map[string]func(*v1alpha1.Cleaner) bool{
		planIndex:    func(c *v1alpha1.Cleaner) bool { return c.Status.Plan != nil },
		accountIndex: func(c *v1alpha1.Cleaner) bool { return c.Spec.ServiceAccountRef != nil },
	}
	for name, has := range indexes {
		err := indexer.IndexField(ctx, &v1alpha1.Cleaner{}, name, func(o client.Object) []string {
			if cleaner, ok := o.(*v1alpha1.Cleaner); ok && has(cleaner) {
				return []string{indexed}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("indexing the Cleaners in the cache: %w", err)
		}
	}
	return nil
}

// All lists all Cleaners of a cache.
func All(cache client.Reader) Cleaners { return cached(cache) }

// WithPlan lists the Cleaners of an indexed cache whose plan waits for a person.
func WithPlan(cache client.Reader) Cleaners {
	return cached(cache, client.MatchingFields{planIndex: indexed})
}

// WithAccount lists the Cleaners of an indexed cache that name a ServiceAccount.
func WithAccount(cache client.Reader) Cleaners {
	return cached(cache, client.MatchingFields{accountIndex: indexed})
}

func cached(cache client.Reader, options ...client.ListOption) Cleaners {
	return func(ctx context.Context) ([]v1alpha1.Cleaner, error) {
		var list v1alpha1.CleanerList
		err := cache.List(ctx, &list, append(options, client.UnsafeDisableDeepCopy)...)
		return list.Items, err
	}
}
