// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// overlaps looks for Cleaners that certainly act on the same objects.
func (p *patient) overlaps(context.Context) (lines []Line, well string) {
	if lines := p.cleanersUnread(); lines != nil {
		return lines, ""
	}
	for i := range p.cleaners {
		for j := range p.cleaners[i+1:] {
			wide, narrow, kind := v1alpha1.Overlap(&p.cleaners[i], &p.cleaners[i+1+j])
			if wide == nil {
				continue
			}
			lines = append(lines, Line{
				Status:  Warn,
				Object:  ref("Cleaner", narrow.Name),
				Message: fmt.Sprintf("every %s that this selects, Cleaner %s selects too, and both act", kind, wide.Name),
				WayOut:  "narrow one of the two, for example with labelFilters, or make one Cleaner of them",
			})
		}
	}
	return lines, "no Cleaner is known to act on the objects of another"
}
