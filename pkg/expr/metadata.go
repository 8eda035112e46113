// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"

	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

// ReadMetadataOnly reports whether neither the conditions, which may be nil, nor the script, which may be empty, look
// at more of an object than its metadata. A script that cannot be asked about is taken for one that reads all: why it
// cannot is reported when it runs.
func ReadMetadataOnly(ctx context.Context, conditions *cel.Run, pool *sandbox.Pool, source string) bool {
	if conditions != nil && !conditions.ReadsMetadataOnly() {
		return false
	}
	if source == "" {
		return true
	}
	only, err := pool.ReadsMetadataOnly(ctx, source)
	if err != nil {
		klog.FromContext(ctx).V(1).Info("Could not find out what a script reads", "err", err)
	}
	return only
}
