// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// rehearse asks the API server, as a dry run, whether it would take the patches of many objects, before anything is
// written down. When it refuses the first, the last and one between, because what they would make is not valid, one
// failure says so instead of thousands.
func (t *task) rehearse(ctx context.Context, victims []journal.Victim) error {
	n := len(victims)
	if t.action != v1alpha1.ActionTransform || n <= parallel {
		return nil
	}
	var first stage.Outcome
	for i, at := range []int{0, n / 2, n - 1} {
		victim := &victims[at]
		if !action.MayRehearse(victim.Kind) || len(victim.Patch) == 0 {
			return nil
		}
		outcome, _ := t.who.Actor.Rehearse(ctx, stage.Verdict{Candidate: victim.Candidate, Act: true}, victim.Patch, nil)
		if !action.IsRefused(outcome) {
			return nil
		}
		if i == 0 {
			first = outcome
		}
	}
	return fmt.Errorf("the API server would refuse to change the %d objects that match, asked for 3 of them as a dry run; correct transform or mergePatch; of %s it says: %s",
		n, first.Object, first.Detail)
}
