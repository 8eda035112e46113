// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// OverlapWayOut is what to do about Cleaners that can act on the same objects.
const OverlapWayOut = "narrow one of the two, for example with labelFilters, or suspend one"

// Shared says that two Cleaners, by their places in a list, can act on the same objects of a kind: on all of them that
// the one at At selects, or on some. One Cleaner stands for all others with which the one at At shares objects.
type Shared struct {
	At, Other int
	Kind      string
	All       bool
	// More is how many others there are.
	More int
}

// Share finds Cleaners that can act on the same objects, with at most one result for each Cleaner: the one that selects
// less, or the first of two that only share some.
func Share(cleaners []*v1alpha1.Cleaner) (found []Shared) {
	reaches := make([]*v1alpha1.Reach, len(cleaners))
	for i, c := range cleaners {
		reaches[i] = c.Reach()
	}
	of := map[int]*Shared{}
	for i, one := range reaches {
		for j := i + 1; j < len(reaches); j++ {
			kind, wide := v1alpha1.Overlap(one, reaches[j])
			if kind == "" || cleaners[i].Name == cleaners[j].Name { // of one name are versions of one Cleaner
				continue
			}
			s := Shared{At: i, Other: j, Kind: kind, All: wide != nil}
			if wide == one {
				s.At, s.Other = j, i
			}
			if known := of[s.At]; known != nil {
				s.More = known.More + 1
				if known.All || !s.All {
					known.More = s.More
					continue
				}
			}
			of[s.At] = &s
		}
	}
	for _, at := range slices.Sorted(maps.Keys(of)) {
		found = append(found, *of[at])
	}
	return found
}

// Words says it at the Cleaner itself, where the other one is called so.
func (s *Shared) Words(other string) string {
	text := fmt.Sprintf("%s can also select some of the %s objects that this selector selects, and both Cleaners act on them", other, s.Kind)
	if s.All {
		text = fmt.Sprintf("%s also selects every %s that this selector selects, and both Cleaners act on them", other, s.Kind)
	}
	if s.More > 0 {
		text += fmt.Sprintf("; it also overlaps with %s", terminal.Counted(s.More, "other Cleaner"))
	}
	return text
}

// Overlaps warns of Cleaners that can act on the same objects.
func Overlaps(results []*Result) (found []manifest.Problem) {
	results = slices.DeleteFunc(slices.Clone(results), func(r *Result) bool { // these do not run
		return r.anyBelow("") || r.Cleaner.IsSuspended()
	})
	cleaners := make([]*v1alpha1.Cleaner, len(results))
	for i, r := range results {
		cleaners[i] = r.Cleaner
	}
	for _, s := range Share(cleaners) {
		d := results[s.Other].Document
		found = append(found, results[s.At].Document.At(selectorsField, codes.Overlap,
			s.Words(fmt.Sprintf("Cleaner %s (%s:%d)", d.Name(), d.File, d.Line)), OverlapWayOut))
	}
	return found
}

// SameNames warns of Cleaners that have the name of another one. Whoever applies them all keeps the last one only.
func SameNames(results []*Result) (found []manifest.Problem) {
	first := map[string]*manifest.Document{}
	for _, one := range results {
		d := one.Document
		earlier := first[d.Name()]
		if earlier == nil {
			first[d.Name()] = d
			continue
		}
		if d.Name() != "" {
			found = append(found, d.At(
				"metadata.name",
				codes.SameName,
				fmt.Sprintf("%s:%d has a Cleaner of this name, too: the one that is applied last replaces the other",
					earlier.File, earlier.Line),
				"give each one a name of its own; check those that belong to different clusters one after the other",
			))
		}
	}
	return found
}
