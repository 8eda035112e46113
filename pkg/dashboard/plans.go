// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"k8s.io/client-go/util/workqueue"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/approval"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

// listPlans lists the runs whose plan waits for a person, that which expires first in front.
func (s *Server) listPlans(r *http.Request, p *person) (int, any, error) {
	ctx, query := r.Context(), r.URL.Query()
	all := []Plan{}
	err := eachOf[v1alpha1.CleanerRunList](ctx, p, cluster.RunPath(""), fewLarge, func(run *v1alpha1.CleanerRun) {
		if plan := planOf(run); plan != nil && plan.Waits && isOrAny(query.Get("cleaner"), plan.Cleaner) {
			all = append(all, *plan)
		}
	})
	sortPlans(all)
	page := pageOf(r, all)
	workqueue.ParallelizeUntil(context.WithoutCancel(ctx), 8, len(page.Items), func(i int) {
		page.Items[i].Decide = p.mayDecide(ctx, page.Items[i].Cleaner)
	})
	return http.StatusOK, page, err
}

// planOf is the plan of a run. Nil when it has none.
func planOf(run *v1alpha1.CleanerRun) *Plan {
	plan := run.Status.Plan
	if plan == nil {
		return nil
	}
	ended := run.Status.Reason
	if run.Status.Phase == v1alpha1.RunAwaitingApproval {
		ended = ""
	}
	return &Plan{
		Ended: ended,
		Run:   run.Name, Cleaner: run.Spec.Cleaner, Hash: plan.Hash, Action: run.Spec.Action, Trigger: run.Spec.Trigger,
		Time:  run.Spec.NominalTime.Time,
		Waits: run.Status.Phase == v1alpha1.RunAwaitingApproval, Objects: plan.Objects, Expires: plan.ExpirationTime.Time,
		LeftAlone: run.Status.Skipped + run.Status.Failed, Message: run.Status.Message, CarriedOutBy: plan.CarriedOutBy,
		VolumeBytes: plan.VolumeBytes,
	}
}

// decisions are exactly what the API server asks for when somebody decides about a plan of the Cleaner, or of all
// Cleaners.
func decisions(cleaner string) []call {
	return []call{ours("approve", "cleaners", cleaner), ours("create", "cleanerapprovals", "")}
}

func (p *person) mayDecide(ctx context.Context, cleaner string) Allowed {
	return p.may(ctx, decisions(cleaner)...)
}

// plan is one plan, also one that does not wait any more. Its objects are the outcomes Planned of the run.
func (s *Server) plan(r *http.Request, p *person) (int, any, error) {
	ctx := r.Context()
	run, err := readRun(ctx, p, r.PathValue("name"))
	if err != nil {
		return 0, nil, err
	}
	plan := planOf(run)
	if plan == nil {
		return 0, nil, notFound("run %s has no plan", run.Name)
	}
	plan.Decide = p.mayDecide(ctx, plan.Cleaner)
	if plan.Waits {
		plan.Warnings = p.warnings(ctx, run)
	}
	if said := p.said(ctx, run); said != nil {
		plan.DecidedBy, plan.DecidedAt, plan.DecidedWhy = said.Spec.By, &said.CreationTimestamp.Time, said.Spec.Reason
	}
	return http.StatusOK, plan, nil
}

// said is what ended the plan of the run, if a person did. It is nil, too, for who may not read it: the message of the
// run names the person.
func (p *person) said(ctx context.Context, run *v1alpha1.CleanerRun) *v1alpha1.CleanerApproval {
	decided := []string{v1alpha1.ReasonApproved, v1alpha1.ReasonRejected, v1alpha1.ReasonPlanNotApproved}
	plan := planOf(run)
	if plan == nil || !slices.Contains(decided, plan.Ended) {
		return nil
	}
	said, err := approval.Said(ctx, p.api, run.Name)
	if err != nil || said.Spec.PlanHash != plan.Hash && plan.Ended != v1alpha1.ReasonPlanNotApproved {
		return nil
	}
	return said
}

// decide says in the name of the person what becomes of the plan that the person saw. The CleanerApproval is the trace
// of that: there is no Event.
func (s *Server) decide(decision v1alpha1.ApprovalDecision) answers {
	return func(r *http.Request, p *person) (int, any, error) {
		var given PlanDecision
		if err := read(r, &given); err != nil {
			return 0, nil, err
		}
		given.Reason = strings.TrimSpace(given.Reason)
		switch {
		case given.Hash == "":
			return 0, nil, badRequest("hash must be that of the plan that you saw")
		case decision == v1alpha1.DecisionReject && given.Reason == "":
			return 0, nil, badRequest("give a reason: the record of the run keeps it")
		}
		decided, err := decidePlan(r.Context(), p, r.PathValue("name"), decision, given)
		return http.StatusOK, decided, err
	}
}

func decidePlan(ctx context.Context, p *person, name string, decision v1alpha1.ApprovalDecision,
	given PlanDecision,
) (*Decided, error) {
	user, err := p.review(ctx)
	who := user.Username
	switch {
	case err != nil:
		return nil, err
	case given.User != "" && given.User != who:
		return nil, failure(http.StatusConflict, "you are %s now, not %s: load the page again", who, given.User)
	}
	run, err := approval.Find(ctx, p.api, name)
	if err != nil {
		return nil, usageOf(err)
	}
	if run.Status.Plan.Hash != given.Hash {
		return nil, failure(http.StatusConflict, "the plan of run %s is not the one that you saw: look at it again", run.Name)
	}
	if may := p.mayDecide(ctx, run.Spec.Cleaner); !may.Allowed {
		return nil, &Failure{http.StatusForbidden, Error{
			Error: "you may not decide about the plans of Cleaner " + run.Spec.Cleaner, Missing: may.Missing,
		}}
	}
	said := approval.Decision{Decision: decision, By: who, Reason: given.Reason}
	if _, err := approval.Say(ctx, p.api, run, said); err != nil {
		return nil, usageOf(err)
	}
	return &Decided{run.Name, run.Spec.Cleaner, decision, who}, nil
}
