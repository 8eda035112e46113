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
	for _, s := range manifests.Share(acting) {
		lines = append(lines, Line{
			Status:  Warn,
			Object:  ref("Cleaner", acting[s.At].Name),
			Message: s.Words("Cleaner " + acting[s.Other].Name),
			WayOut:  manifests.OverlapWayOut,
		})
	}
	return lines, "no two Cleaners are known to act on the same objects"
}
