// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"hash/fnv"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// jitter is by how much each scheduled run of the Cleaner starts later than it is due: always the same, somewhere in
// the window, so that Cleaners that are due together do not all start at once. It takes at most half of the time in
// which a run may start.
func (r *CleanerReconciler) jitter(cleaner *v1alpha1.Cleaner) time.Duration {
	window := r.JitterWindow
	if deadline := cleaner.StartingDeadline(); deadline != nil {
		window = min(window, *deadline/2)
	}
	if window <= 0 {
		return 0
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(cleaner.UID))
	return time.Duration(hash.Sum64() % uint64(window)).Truncate(time.Millisecond)
}
