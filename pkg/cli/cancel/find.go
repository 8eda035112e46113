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

// candidates are what a name may mean.
type candidates struct {
	// ofRun is the Cleaner whose active run has the name, and named the one that has it itself, or whose plan has it.
	ofRun, named *v1alpha1.Cleaner
	active       []string
}

func (f *candidates) look(name string, c *v1alpha1.Cleaner) {
	run := ptr.Deref(c.Status.ActiveRun, v1alpha1.ActiveRun{}).Name
	if run != "" {
		f.active = append(f.active, run)
	}
	switch {
	case run != "" && name == run:
		f.ofRun = c
	case name == c.Name, name == ptr.Deref(c.Status.Plan, v1alpha1.WaitingPlan{}).Run:
		f.named = c // another run of it may be going on
	}
}

// meant is the Cleaner to write to: a run goes before a Cleaner of the same name. Nil if there is nothing to cancel.
func (f *candidates) meant(name string) *v1alpha1.Cleaner {
	if f.ofRun != nil || f.named == nil {
		return f.ofRun
	}
	if f.named.Name == name && f.named.Status.ActiveRun != nil || takesBack(f.named, name) {
		return f.named
	}
	return nil
}

// find finds the Cleaner whose active run has the name, or that has the name itself and a run to cancel.
func find(ctx context.Context, api *cluster.Client, name string) (*v1alpha1.Cleaner, error) {
	var f candidates
	look := func(c *v1alpha1.Cleaner) { f.look(name, c) }
	err := cluster.List[v1alpha1.CleanerList](ctx, api, cluster.CleanerPath(""), look)
	switch cleaner := f.meant(name); {
	case apierrors.IsNotFound(err):
		return nil, api.NoCleaner(ctx, "")
	case err != nil:
		return nil, cluster.RequestError("listing the Cleaners", err)
	case cleaner != nil:
		return cleaner, nil
	case f.named != nil:
		return nil, nothingGoesOn(f.named)
	}
	if run, err := api.CleanerRun(ctx, name); err == nil {
		return nil, hasEnded(run)
	}
	return nil, terminal.Fail(
		codes.RunNotFound,
		fmt.Errorf("no active run has the name %q", name),
		activeHint(name, f.active),
	)
}

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
			fmt.Errorf("run %s is not active: its plan waits for approval, and it touched nothing", plan.Run),
			"to refuse the plan: "+terminal.Program+" reject "+plan.Run,
		)
	}
	return terminal.Fail(
		codes.RunNotFound,
		fmt.Errorf("cleaner %q has no run that is active or waiting", c.Name),
		"its runs: "+terminal.Program+" runs "+c.Name,
	)
}

// activeHint says which active run a name that no run has may be meant for.
func activeHint(name string, active []string) string {
	if near := suggest.Nearest(name, active); near != "" {
		return "did you mean " + terminal.Quoted(near) + "?"
	}
	if len(active) > 0 {
		return "these runs are active or waiting: " + terminal.Shortened(active, 10)
	}
	return "to list the runs: " + terminal.Program + " runs"
}
