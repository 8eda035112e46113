// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// since is the first time from which on each run found an object so, or an earlier one that the API server proves.
func (f *Findings) since(uid types.UID, found *finding.Finding) time.Time {
	since := f.now
	if counted := Counted(f.counts, uid, found); !counted.IsZero() {
		since = counted
	}
	if found.IsSinceProved() && found.Since.Before(since) {
		since = found.Since
	}
	return since
}

// Counted is since when the counts of earlier runs have an object found so. Zero when they do not.
func Counted(counts guard.Counts, uid types.UID, found *finding.Finding) time.Time {
	if seconds, ok := counts[sinceKey(uid, found)]; ok {
		return time.Unix(seconds, 0)
	}
	return time.Time{}
}

// sinceKey is under which key the counts have since when an object is found so, in Unix seconds, and runsKey that of in
// how many runs in a row.
func sinceKey(uid types.UID, found *finding.Finding) string {
	return guard.CountKey(object.Object{Kind: found.Kind, UID: uid}) + "__" + string(found.Type)
}

func runsKey(uid types.UID, found *finding.Finding) string { return sinceKey(uid, found) + "__runs" }

// Adds is how many counts Count adds.
func (f *Findings) Adds() int {
	if f == nil {
		return 0
	}
	return 2 * len(f.asked)
}

// Count adds to the counts what this run found. What it did not find begins anew, and so does what it does not know.
func (f *Findings) Count(counts guard.Counts) {
	if f == nil {
		return
	}
	for _, key := range f.asked {
		since, runs := sinceKey(key.uid, f.found[key]), runsKey(key.uid, f.found[key])
		first, before := f.counts[since]
		if !before {
			first = f.now.Unix()
		}
		counts[since], counts[runs] = first, min(f.counts[runs]+1, v1alpha1.MinFindingRuns)
	}
}

// Forget takes from the counts what a second survey did not find again.
func (f *Findings) Forget(counts guard.Counts, again *Findings) {
	if f == nil || counts == nil {
		return
	}
	for _, key := range f.asked {
		if !again.isKnown(key) {
			delete(counts, sinceKey(key.uid, f.found[key]))
			delete(counts, runsKey(key.uid, f.found[key]))
		}
	}
}

// Waits reports whether a candidate has not been found so for as long as its selector asks, by the counts with this
// run.
func (f *Findings) Waits(counts guard.Counts, c stage.Candidate) bool {
	found := f.of(c.Object, c.Selector)
	if found == nil {
		return false
	}
	long, runs := f.selectors[c.Selector].Finding.Waits()
	return counts[runsKey(c.UID, found)] < runs || f.now.Sub(f.since(c.UID, found)) < long
}
