// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// memory is what this process remembers of a Cleaner's name.
type memory struct {
	// delivery is the latest news of delivered notifications. Nil when there are none. It may come at any time.
	delivery atomic.Pointer[change]
	// outdated is how the Cleaner was seen first while the API server did not keep all fields, until it was looked at
	// afterwards. It is not a part of ofCleaner, which begins with a status that is whole.
	outdated sight
	// ofCleaner is for the reconciliation of the name, of which there is one at a time.
	ofCleaner
}

// ofCleaner is what is remembered of one Cleaner, and not of another that had its name.
type ofCleaner struct {
	uid types.UID
	// history is what is known of its records, and unpruned is true when it had a run since the old ones were looked at.
	history  journal.History
	unpruned bool
	// countless is true when it has no counts.
	countless bool
	// waited is a request for a run that waited for a run that an operator before may have begun: it is not stale. Empty
	// when there was none.
	waited string
	// takenUp is the run that was taken up last from an operator that went away.
	takenUp takenUp
	// unshown is a status that is not written yet: a run was submitted that may be over before anybody looks. Nil when
	// there is none.
	unshown *v1alpha1.CleanerStatus
	// version is the Cleaner's resourceVersion after this process wrote its status last.
	version string
	// unstamped is true of a Cleaner without a stamp in its status that has no records either, which were listed for that.
	unstamped bool
	// seen is the stamp of the spec as this process saw it last, while the API server kept all fields. Empty before.
	// edited is when that was another than the status had.
	seen   string
	edited time.Time
	// overlap is what was found of other Cleaners that act on the same objects.
	overlap overlap
	// conflicts is how often in a row the Cleaner changed under our hands.
	conflicts int
}

// sight is when a Cleaner was seen first, and in which generation.
type sight struct {
	uid        types.UID
	generation int64
	time       time.Time
}

// takenUp is when a run was taken up last by this process.
type takenUp struct {
	run  string
	time time.Time
}

// memoryOf is what is remembered of the name.
func (r *CleanerReconciler) memoryOf(name string) *memory {
	found, ok := r.memories.Load(name)
	if !ok {
		found, _ = r.memories.LoadOrStore(name, &memory{})
	}
	return found.(*memory) //nolint:errcheck // nothing else is stored
}
