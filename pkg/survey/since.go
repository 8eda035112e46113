// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// since is the first time from which on each run found an object so, or an earlier one that the API server proves.
func (f *Findings) since(found *finding.Finding, of series) time.Time {
	since := f.now
	if counted := counted(f.counts, found, of); !counted.IsZero() {
		since = counted
	}
	if found.IsSinceProved() && found.Since.Before(since) {
		since = found.Since
	}
	return since
}

// Counted is since when the counts of earlier runs have an object found so as a selector asks. Zero when they do not.
func Counted(
	counts guard.Counts, uid types.UID, found *finding.Finding, asked *v1alpha1.FindingSelector,
) time.Time {
	return counted(counts, found, series{findingKey{uid, found.Type}, countedBy(asked)})
}

func counted(counts guard.Counts, found *finding.Finding, of series) time.Time {
	if seconds, ok := counts[of.sinceKey(found.Kind)]; ok {
		return time.Unix(seconds, 0)
	}
	return time.Time{}
}

// series are runs in a row in which an object was found so. Selectors that ask for less or other findings of the type
// have their own: what one has found for long, the other may have found just now.
type series struct {
	findingKey
	by string
}

// countedBy says which findings of its type a selector asks for. Empty for those that it takes by default.
func countedBy(asked *v1alpha1.FindingSelector) string {
	var by []string
	if least := asked.Least(); least != v1alpha1.ConfidenceLikely {
		by = append(by, string(least))
	}
	for _, dialect := range slices.Sorted(slices.Values(asked.Dialects)) {
		by = append(by, string(dialect))
	}
	return strings.Join(by, ".")
}

// sinceKey is under which key the counts have since when an object is found so, in Unix seconds, and runsKey that of in
// how many runs in a row.
func (s series) sinceKey(kind object.Kind) string {
	key := guard.CountKey(object.Object{Kind: kind, UID: s.uid}) + "__" + string(s.typ)
	if s.by != "" {
		key += "__" + s.by
	}
	return key
}

func (s series) runsKey(kind object.Kind) string { return s.sinceKey(kind) + "__runs" }

// keys are those of the series in the counts.
func (s series) keys(kind object.Kind) []string { return []string{s.sinceKey(kind), s.runsKey(kind)} }

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
		found := f.found[key.findingKey]
		since, runs := key.sinceKey(found.Kind), key.runsKey(found.Kind)
		first, before := f.counts[since]
		if !before {
			first = f.now.Unix()
		}
		counts[since], counts[runs] = first, min(f.counts[runs]+1, v1alpha1.MinFindingRuns)
	}
}

// Ended are the keys of the counts of what a second survey did not find again.
func (f *Findings) Ended(again *Findings) (keys []string) {
	if f == nil {
		return nil
	}
	for _, key := range f.asked {
		if !again.isKnown(key) {
			keys = append(keys, key.keys(f.found[key.findingKey].Kind)...)
		}
	}
	return keys
}

// EndedOf are the keys of the counts of a candidate that this survey does not find as its selector asks.
func (f *Findings) EndedOf(c stage.Candidate) []string {
	if f == nil || f.selectors[c.Selector].Finding == nil {
		return nil
	}
	asked := f.selectors[c.Selector].Finding
	if key := (series{findingKey{c.UID, asked.Type}, countedBy(asked)}); !f.isKnown(key) {
		return key.keys(c.Kind)
	}
	return nil
}

// Waits reports whether a candidate has not been found so for as long as its selector asks, by the counts with this
// run.
func (f *Findings) Waits(counts guard.Counts, c stage.Candidate) bool {
	found := f.of(c.Object, c.Selector)
	if found == nil {
		return false
	}
	asked := f.selectors[c.Selector].Finding
	of := series{findingKey{c.UID, found.Type}, countedBy(asked)}
	long, runs := asked.Waits()
	return counts[of.runsKey(found.Kind)] < runs || f.now.Sub(f.since(found, of)) < long
}
