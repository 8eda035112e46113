// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// Of a run that was taken over all victims are counted, however many namespaces they are in, and what had been left alone.
func TestCountedOfARunThatWasTakenOver(t *testing.T) {
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	outcomes := make([]stage.Outcome, 3002)
	for i := range outcomes {
		o := &outcomes[i]
		o.Kind.GroupVersionKind, o.Namespace, o.Name, o.Result = kind, fmt.Sprint("n", i%300), fmt.Sprint("o", i), v1alpha1.OutcomePlanned
		if i >= 3000 {
			o.Result = v1alpha1.OutcomeProtected
		}
	}
	record := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete}}
	journal.Describe(record, 3002, outcomes)
	victims := outcomes[:3000]
	for i := range victims {
		victims[i].Result = v1alpha1.OutcomeDeleted
	}
	got := counted(record, victims)[kind]
	if got[v1alpha1.OutcomeDeleted] != 3000 || got[v1alpha1.OutcomeProtected] != 2 || len(got) != 2 {
		t.Errorf("counted are %v", got)
	}
}
