// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// complete fills in the outcomes that were not saved, once the run has ended: what the record lists counts. Of any
// other object it is unknown whether the run touched it: it may have left it alone, and somebody else deleted it since.
func complete(run *v1alpha1.CleanerRun, intents []journal.Intent, outcomes map[int]journal.SavedOutcome) {
	if !run.Status.Phase.Final() {
		return
	}
	listed := map[types.UID]v1alpha1.OutcomeResult{}
	for i := range run.Status.Objects {
		listed[run.Status.Objects[i].UID] = run.Status.Objects[i].Outcome
	}
	for i := range intents {
		if saved := outcomes[i]; saved.Outcome == "" {
			saved.Outcome = cmp.Or(listed[intents[i].UID], unknown)
			outcomes[i] = saved
		}
	}
}
