// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
)

// Overlaps warns of Cleaners that act on the same objects, at the one that selects less. Two of one name are two
// versions of one Cleaner, such as those of overlays.
func Overlaps(results []*Result) (found []manifest.Problem) {
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
