// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
)

// OverlapWayOut is what to do about two Cleaners that can act on the same objects.
const OverlapWayOut = "narrow one of the two, for example with labelFilters, or make one Cleaner of them"

// OverlapWords says that a Cleaner and another one can act on the same objects of a kind: on all that this one selects,
// or on some.
func OverlapWords(kind, other string, all bool) string {
	if all {
		return fmt.Sprintf("every %s that this selects, %s selects too, and both act", kind, other)
	}
	return fmt.Sprintf("some objects of kind %s that this selects, %s can select too, and both act", kind, other)
}

// Overlaps warns of Cleaners that can act on the same objects, at the one that selects less. Two of one name are two
// versions of one Cleaner, such as those of overlays.
func Overlaps(results []*Result) (found []manifest.Problem) {
	results = slices.DeleteFunc(slices.Clone(results), func(r *Result) bool { return r.anyBelow("") }) // these do not run
	for i, one := range results {
		for _, other := range results[i+1:] {
			kind, wide := v1alpha1.Overlap(one.Cleaner, other.Cleaner)
			if kind == "" || one.Cleaner.Name == other.Cleaner.Name {
				continue
			}
			at, second := one.Document, other.Document
			if wide == one.Cleaner {
				at, second = other.Document, one.Document
			}
			name := fmt.Sprintf("Cleaner %s (%s:%d)", second.Name(), second.File, second.Line)
			found = append(found, at.At(selectorsField, codes.Overlap, OverlapWords(kind, name, wide != nil), OverlapWayOut))
		}
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
