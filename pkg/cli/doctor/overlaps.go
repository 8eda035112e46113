// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	manifests "github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

// overlaps looks for Cleaners that can act on the same objects. What does not run acts on nothing.
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
			kind, wide := v1alpha1.Overlap(one, other)
			if kind == "" {
				continue
			}
			narrow, second := one, other
			if wide == one {
				narrow, second = other, one
			}
			lines = append(lines, Line{
				Status:  Warn,
				Object:  ref("Cleaner", narrow.Name),
				Message: manifests.OverlapWords(kind, "Cleaner "+second.Name, wide != nil),
				WayOut:  manifests.OverlapWayOut,
			})
		}
	}
	return lines, "no two Cleaners are known to act on the same objects"
}
