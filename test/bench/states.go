// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// compaction is how often the API server here forgets old revisions, so that the bench need not wait for ten minutes
	// until the load is no longer new to it. The default is 5 minutes.
	compaction = 30 * time.Second
	// quietPatience is how long the load may take to become quiet.
	quietPatience = 5 * time.Minute
)

// inTurn measures what reads the API server in the two states that a kind can be in, which differ in what the floor
// costs: while its objects change, the API server's cache holds the state at which a list began, and answers for all
// its pages; from the compaction after the last change on, only for the first page, and each other one is read from
// etcd (storage/cacher: watchCacheStorage.Compact). The rest comes after that.
func (t *trial) inTurn(ctx context.Context) error {
	all := t.chosen()
	isReader := func(v variant) bool { return v.floor == "" }
	readers := slices.DeleteFunc(slices.Clone(all), func(v variant) bool { return !isReader(v) })
	others := slices.DeleteFunc(slices.Clone(all), isReader)
	var failed []error
	if len(readers) > 1 || len(readers) == 1 && t.wants(readers[0]) { // without a reader, its floor is not needed
		failed = append(failed, t.inBothStates(ctx, readers))
		printProofs(t.out, readers)
	}
	// Last, because they leave objects behind that readers would have to look at.
	if len(others) > 0 && ctx.Err() == nil {
		fmt.Fprintf(t.out, "\nWhat acts, and streams:\n")
		failed = append(failed, t.inOneState(ctx, others))
		printProofs(t.out, others)
	}
	return errors.Join(failed...)
}

func (t *trial) inBothStates(ctx context.Context, readers []variant) error {
	fmt.Fprintf(t.out, "\nWhile Pods change:\n")
	t.before = t.touch
	err := t.inOneState(ctx, readers)
	t.before = nil
	if ctx.Err() != nil {
		return err
	}
	fmt.Fprintf(t.out, "\nWhen no Pod has changed for a while:\n")
	if errQuiet := t.awaitQuiet(ctx); errQuiet != nil {
		return errors.Join(err, errQuiet)
	}
	return errors.Join(err, t.inOneState(ctx, readers))
}

func (t *trial) inOneState(ctx context.Context, chosen []variant) error {
	found, err := t.measureAll(ctx, chosen)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	printResults(t.out, chosen, found)
	t.bars = append(t.bars, barsOf(chosen, found)...)
	return err
}

// touch changes a Pod.
func (t *trial) touch(ctx context.Context) error {
	namespace, _, _, err := t.load.pod(0)
	if err != nil {
		return err
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"touched":%q}}}`, time.Now().Format(time.RFC3339Nano))
	path := []string{"/api/v1/namespaces", namespace, "pods", podName(0)}
	if err := t.server.client.Patch(types.MergePatchType).AbsPath(path...).Body(patch).Do(ctx).Error(); err != nil {
		return fmt.Errorf("changing a Pod: %w", err)
	}
	return nil
}

// awaitQuiet waits until all pages but the first are read from etcd.
func (t *trial) awaitQuiet(ctx context.Context) error {
	pages := (t.load.Pods + floorPage - 1) / floorPage
	for start := time.Now(); time.Since(start) < quietPatience; {
		did, err := t.server.during(ctx, func() error {
			return pageThrough(floorPage)(ctx, &site{load: t.load, client: t.server.client})
		})
		if err != nil || did.EtcdReads >= pages-1 {
			return err
		}
		if err := pause(ctx, compaction/3); err != nil {
			return err
		}
	}
	return fmt.Errorf("after %s without a change, pages of Pods still come from the API server's cache", quietPatience)
}
