// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package approve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// patience is how long it is waited for the operator to take the decision up. It needs some seconds.
const patience = 15 * time.Second

// await waits until the operator has taken the decision up, and says what it does about it. It is no error if it takes
// longer: the decision stays.
func (o *options) await(parent context.Context, api *cluster.Client, run *v1alpha1.CleanerRun) error {
	deed := "approved"
	if o.decision == v1alpha1.DecisionReject {
		deed = "rejected"
	}
	fmt.Fprintf(o.ErrOut, "you %s the plan of run %s\n", deed, run.Name)
	ctx, cancel := context.WithTimeout(parent, patience+cluster.Rewatch)
	defer cancel()
	why := "the operator has not seen it yet; is it running?"
	for waited := time.Duration(0); waited <= patience && ctx.Err() == nil; waited += cluster.Rewatch {
		if now, err := api.CleanerRun(ctx, run.Name); err == nil && now.Status.Phase != v1alpha1.RunAwaitingApproval {
			return o.showEnd(now)
		}
		why = cmp.Or(awaits(ctx, api, run), why)
		select {
		case <-o.Clock.After(cluster.Rewatch):
		case <-ctx.Done():
		}
	}
	if parent.Err() != nil {
		return context.Cause(parent)
	}
	o.Note("%s", why)
	return nil
}

// awaits is what the status of the Cleaner says that the plan waits for, besides a person.
func awaits(ctx context.Context, api *cluster.Client, run *v1alpha1.CleanerRun) string {
	cleaner, err := api.Cleaner(ctx, run.Spec.Cleaner)
	if err != nil {
		return ""
	}
	said := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionRunSucceeded)
	if said == nil || said.Reason != v1alpha1.ReasonAwaitingApproval || said.Message == run.Status.Message {
		return ""
	}
	return terminal.OneLine(said.Message)
}

// showEnd says what the record says of the plan. It is an error if the decision does not count.
func (o *options) showEnd(run *v1alpha1.CleanerRun) error {
	if run.Status.Reason == v1alpha1.ReasonPlanNotApproved {
		return terminal.Fail(codes.DecisionNoEffect, errors.New(terminal.OneLine(run.Status.Message)),
			terminal.Program+" doctor looks whether approvals are guarded")
	}
	fmt.Fprintln(o.ErrOut, terminal.OneLine(run.Status.Message))
	if by := run.Status.Plan.CarriedOutBy; by != "" {
		fmt.Fprintf(o.ErrOut, "%s what it does: %s runs %s; to end it before its next object: %s cancel %s\n",
			o.Paint(o.ErrOut).Bold("hint:"), terminal.Program, by, terminal.Program, by)
	}
	return nil
}
