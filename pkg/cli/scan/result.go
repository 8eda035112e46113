// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

// Result is what -o json prints.
type Result struct {
	// Findings are what is known, the worst first. Unknown are those of which something could not be read that may use
	// them.
	Findings []search.Finding `json:"findings"`
	Unknown  []search.Finding `json:"unknown"`
	// Unread are the lists that could not be read.
	Unread []search.Unread `json:"unread"`
	// Partial is true when the scan was stopped before its end. Unknown is empty then: nothing was waited for.
	Partial bool `json:"partial,omitempty"`
	// BelowConfidence is how many findings are not shown because they are less sure than --min-confidence.
	BelowConfidence int `json:"belowConfidence,omitempty"`
	// Objects is how many objects were read, of how many Kinds.
	Objects int64 `json:"objects"`
	Kinds   int   `json:"kinds"`
	// Frees is what there would be more if a Cleaner had deleted what was found. NotCounted are how many objects it would
	// leave alone because they are protected or managed, by the cause. Both are empty of a partial scan.
	Frees      search.Frees   `json:"frees"`
	NotCounted map[string]int `json:"notCounted,omitempty"`
	// Requested is what Pods hold that wait for what does not come. Most of them would be made anew if they were deleted.
	Requested *Requests `json:"requested,omitempty"`
}

// Requests is what Pods hold of their Nodes.
type Requests struct {
	CPUMillis   int64 `json:"cpuMillis,omitempty"`
	MemoryBytes int64 `json:"memoryBytes,omitempty"`
}

// result judges what was read. Of a search that was stopped only what is known counts.
func (j *job) result(ctx context.Context, stopped bool) *Result {
	r := &Result{
		Findings: []search.Finding{}, Unknown: []search.Finding{}, Partial: stopped,
		Objects: j.Objects, Kinds: j.Kinds(),
	}
	var requested finding.Requests
	for f := range j.Finder.Findings() {
		excluded := j.isExcluded(f)
		switch known := len(f.Unknown) == 0; {
		case excluded:
		case !known && !stopped:
			r.Unknown = append(r.Unknown, search.NewFinding(f))
		case !known:
		case slices.Index(search.Confidences, f.Confidence) > slices.Index(search.Confidences,
			v1alpha1.FindingConfidence(j.minConfidence)):
			r.BelowConfidence++
		default:
			r.Findings = append(r.Findings, search.NewFinding(f))
			requested = requested.Plus(f.Requests)
		}
	}
	if requested != (finding.Requests{}) {
		r.Requested = &Requests{requested.CPUMillis, requested.MemoryBytes}
	}
	r.Frees, r.NotCounted = j.sum(ctx, r.Findings)
	if !stopped {
		j.noteUnusedPatterns()
	}
	r.Unread = j.unread(r)
	search.SortWorst(r.Findings)
	search.SortWorst(r.Unknown)
	return r
}

// unread describes the lists that could not be read. Those of other namespaces may not matter to the result.
func (j *job) unread(r *Result) []search.Unread {
	unread := []search.Unread{}
	for _, u := range j.Unread {
		if !u.Elsewhere || r.asksForRights() {
			unread = append(unread, j.Describe(u))
		}
	}
	return unread
}

// asksForRights reports whether something is unknown because a list could not be read. Then the lists of other
// namespaces are named, too: who gets the other rights would need them next.
func (r *Result) asksForRights() bool {
	return slices.ContainsFunc(r.Unknown, func(f search.Finding) bool { return len(f.NotReadable) > 0 })
}

// matters reports whether something is unknown because objects of the kind could not be read.
func (r *Result) matters(kind schema.GroupKind) bool {
	return slices.ContainsFunc(r.Unknown, func(f search.Finding) bool {
		return slices.ContainsFunc(
			f.NotReadable,
			func(u search.Unread) bool { return u.Kind == kind.Kind && u.Group == kind.Group && u.Name == "" },
		)
	})
}
