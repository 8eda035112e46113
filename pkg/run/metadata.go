// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
)

// metadataEnough says for which selectors a run needs no more of the objects than their metadata, which is a fraction of them. It
// is so only in a Scan: what deletes and changes objects copies and judges them whole, and so does an aggregated script. And it
// is so only where nobody looks further: neither the conditions nor the script, nor the guards, nor what keeps Secrets' values
// out of messages. A preview, which shows objects, does not ask.
func (e *expressions) metadataEnough(ctx context.Context, pool *sandbox.Pool, action v1alpha1.Action) []bool {
	spec := e.cleaner.Spec
	enough := make([]bool, len(spec.ResourcePolicySet.ResourceSelectors))
	if action != v1alpha1.ActionScan || e.aggregate != nil || e.cleaner.CopyStorage() == v1alpha1.StorageReport {
		return enough
	}
	for i, selector := range spec.ResourcePolicySet.ResourceSelectors {
		isSecret := selector.Group == "" && selector.Kind == "Secret"
		enough[i] = !isSecret && selector.LogSource == nil && !guard.ReadsBody(selector.Group, selector.Kind) &&
			e.conditionsReadMetadataOnly(i) && scriptReadsMetadataOnly(ctx, pool, selector.Evaluate)
	}
	return enough
}

func (e *expressions) conditionsReadMetadataOnly(i int) bool {
	return e.conditions[i] == nil || e.conditions[i].ReadsMetadataOnly()
}

// scriptReadsMetadataOnly takes a script that cannot be asked about for one that reads all. Why it cannot is told when it runs.
func scriptReadsMetadataOnly(ctx context.Context, pool *sandbox.Pool, source string) bool {
	if source == "" {
		return true
	}
	only, err := pool.ReadsMetadataOnly(ctx, source)
	if err != nil {
		klog.FromContext(ctx).V(1).Info("Could not find out what a script reads", "err", err)
	}
	return only
}
