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

// Overlaps warns of Cleaners that act on the same objects, at the one that selects less. Two of one name are two
// versions of one Cleaner, such as those of overlays.
func Overlaps(results []*Result) (found []manifest.Problem) {
	results = slices.DeleteFunc(slices.Clone(results), func(r *Result) bool { return r.anyBelow("") }) // these do not run
	for i, one := range results {
		for _, other := range results[i+1:] {
			covering, _, kind := v1alpha1.Overlap(one.Cleaner, other.Cleaner)
			if covering == nil || one.Cleaner.Name == other.Cleaner.Name {
				continue
			}
			wide, narrow := one, other
			if covering == other.Cleaner {
				wide, narrow = other, one
			}
			d := wide.Document
			found = append(found, narrow.Document.At(
				selectorsField,
				codes.Overlap,
				fmt.Sprintf(
					"every %s that this selects, Cleaner %s (%s:%d) selects too, and both act",
					kind,
					d.Name(),
					d.File,
					d.Line,
				),
				"narrow one of the two, for example with labelFilters, or make one Cleaner of them",
			))
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
