// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cancel

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// find finds the Cleaner whose active run has the name, or that has the name itself and a run to cancel.
func find(ctx context.Context, api *cluster.Client, name string) (*v1alpha1.Cleaner, error) {
	var found, named *v1alpha1.Cleaner
	var active []string
	err := cluster.List[v1alpha1.CleanerList](ctx, api, cluster.CleanerPath(""), func(c *v1alpha1.Cleaner) {
		run := ptr.Deref(c.Status.ActiveRun, v1alpha1.ActiveRun{}).Name
		if run != "" {
			active = append(active, run)
		}
		switch {
		case run != "" && means(name, c, run), takesBack(c, name):
			found = c
		case means(name, c, ptr.Deref(c.Status.Plan, v1alpha1.WaitingPlan{}).Run):
			named = c // another run of it may be going on
		}
	})
	switch {
	case apierrors.IsNotFound(err):
		return nil, api.NoCleaner(ctx, "")
	case err != nil:
		return nil, cluster.RequestError("listing the Cleaners", err)
	case found != nil:
		return found, nil
	case named != nil:
		return nil, nothingGoesOn(named)
	}
	if run, err := api.CleanerRun(ctx, name); err == nil {
		return nil, hasEnded(run)
	}
	return nil, terminal.Fail(
		codes.RunNotFound,
		fmt.Errorf("there is no run %q that is going on", name),
		activeHint(name, active),
	)
}

// means reports whether a name is that of a Cleaner, or of a run of it.
func means(name string, c *v1alpha1.Cleaner, run string) bool { return name == c.Name || name == run }

// hasEnded says that a run has ended, and how.
func hasEnded(run *v1alpha1.CleanerRun) error {
	hint := ""
	if run.Status.Acted > 0 {
		hint = "to undo what it did: " + terminal.Program + " restore " + run.Name
	}
	return terminal.Fail(
		codes.RunNotFound,
		fmt.Errorf("run %s has ended: %s", run.Name, terminal.OneLine(run.Status.Message)),
		hint,
	)
}

// nothingGoesOn says that a Cleaner has no run to cancel. One that made a plan has ended; the plan can be refused.
func nothingGoesOn(c *v1alpha1.Cleaner) error {
	if plan := c.Status.Plan; plan != nil {
		return terminal.Fail(
			codes.RunNotFound,
			fmt.Errorf("run %s is not going on: its plan waits for approval, and it touched nothing", plan.Run),
			"to refuse the plan: "+terminal.Program+" reject "+plan.Run,
		)
	}
	return terminal.Fail(
		codes.RunNotFound,
		fmt.Errorf("cleaner %q has no run that is going on or waits", c.Name),
		"its runs: "+terminal.Program+" runs "+c.Name,
	)
}

// activeHint says which active run a name that no run has may be meant for.
func activeHint(name string, active []string) string {
	if near := suggest.Nearest(name, active); near != "" {
		return "did you mean " + terminal.Quoted(near) + "?"
	}
	if len(active) > 0 {
		return "these are going on or wait: " + terminal.Shortened(active, 10)
	}
	return "no run is going on"
}
