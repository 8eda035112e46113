// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

// overlaps looks for Cleaners that certainly act on the same objects. What does not run acts on nothing.
func (p *patient) overlaps(context.Context) (lines []Line, well string) {
	if lines := p.cleanersUnread(); lines != nil {
		return lines, ""
	}
	var acting []*v1alpha1.Cleaner
	for i := range p.cleaners {
		if why, _ := cluster.Unready(&p.cleaners[i]); why == "" && !p.cleaners[i].IsSuspended() {
			acting = append(acting, &p.cleaners[i])
		}
	}
	for i, one := range acting {
		for _, other := range acting[i+1:] {
			wide, narrow, kind := v1alpha1.Overlap(one, other)
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
