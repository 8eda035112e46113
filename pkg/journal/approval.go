// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// NotApprovedError says why an approval does not count. Only a person can do something about it.
type NotApprovedError struct{ Why string }

// Error implements error.
func (e *NotApprovedError) Error() string { return e.Why }

func notApproved(format string, args ...any) error {
	return &NotApprovedError{fmt.Sprintf(format, args...)}
}

// Decision is what a person said of a plan of the Cleaner. It is nil when nobody did in time, or it cannot be read.
// A NotApprovedError says that what was said does not count, or that the operator may not read it.
func (j *Journal) Decision(
	ctx context.Context,
	cleaner string,
	plan *v1alpha1.WaitingPlan,
) (*v1alpha1.CleanerApproval, error) {
	var said v1alpha1.CleanerApproval
	err := j.client.Get(ctx, client.ObjectKey{Name: plan.Run}, &said)
	switch {
	case apiserver.IsAbsent(err, plan.Run):
		return nil, nil
	case err != nil && !apiserver.MayPass(err):
		return nil, notApproved("the operator cannot read CleanerApproval %s: %s", plan.Run, err)
	case err != nil:
		return nil, wrap("reading CleanerApproval "+plan.Run, err)
	case said.Name != plan.Run || said.UID == "":
		return nil, wrap("reading CleanerApproval "+plan.Run, errUnproved)
	case said.CreationTimestamp.After(plan.ExpirationTime.Time):
		return nil, nil
	case said.Spec.Cleaner != cleaner || said.Spec.PlanHash != plan.Hash:
		return &said, notApproved("CleanerApproval %s is not of this plan: its cleaner is %s and its planHash %s, and the plan's are %s and %s",
			said.Name, said.Spec.Cleaner, said.Spec.PlanHash, cleaner, plan.Hash)
	}
	if err := j.CheckApprovals(ctx); err != nil {
		return &said, err
	}
	return &said, j.checkAge(ctx, &said)
}

// Approved is the plan that a run of the Cleaner may carry out: the one that a record has, that a person approved, and
// that no other run has carried out. From then on, this one does. A NotApprovedError says that it may not.
func (j *Journal) Approved(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	plan *v1alpha1.ApprovedPlan,
	run string,
) (*Plan, error) {
	record, err := j.Find(ctx, plan.Run)
	switch {
	case err != nil:
		return nil, err
	case record == nil || record.Spec.CleanerUID != cleaner.UID || record.Status.Plan == nil:
		return nil, notApproved("there is no plan of CleanerRun %s any more", plan.Run)
	case record.Spec.CleanerSpecHash != cleaner.Spec.Hash():
		return nil, notApproved("the Cleaner was edited since CleanerRun %s made the plan; the next run makes another", plan.Run)
	}
	approved, waits := PlanOf(record), record.Status.Plan
	if hash := PlanHash(approved.entries); hash != plan.Hash || waits.Hash != plan.Hash {
		return nil, notApproved("the plan of CleanerRun %s is not the one that was approved", plan.Run)
	}
	said, err := j.Decision(ctx, cleaner.Name,
		&v1alpha1.WaitingPlan{PlanRef: plan.PlanRef, ExpirationTime: waits.ExpirationTime})
	switch {
	case err != nil:
		return nil, err
	case said == nil || said.Spec.Decision != v1alpha1.DecisionApprove:
		return nil, notApproved("nobody has approved the plan of CleanerRun %s", plan.Run)
	}
	return approved, j.take(ctx, record, &said.Spec, run)
}

// take makes a run the one that carries out the plan of a record.
func (j *Journal) take(
	ctx context.Context, record *v1alpha1.CleanerRun, said *v1alpha1.CleanerApprovalSpec, run string,
) error {
	switch plan := record.Status.Plan; {
	case plan.CarriedOutBy == run:
		return nil
	case plan.CarriedOutBy != "":
		return notApproved("CleanerRun %s has carried out the plan of CleanerRun %s", plan.CarriedOutBy, record.Name)
	case record.Status.Phase != v1alpha1.RunAwaitingApproval:
		return notApproved("the plan of CleanerRun %s does not wait any more: %s", record.Name, record.Status.Message)
	}
	record.Status.Plan.CarriedOutBy = run
	why := ""
	if said.Reason != "" {
		why = " (" + said.Reason + ")"
	}
	return j.endPlan(ctx, record, v1alpha1.ReasonApproved,
		fmt.Sprintf("%s approved the plan%s; CleanerRun %s carries it out.", said.By, why, run))
}

// ClosePlan ends the waiting of a record's plan, if it waits, for a reason. One that is gone does not wait.
func (j *Journal) ClosePlan(ctx context.Context, run, reason, message string) error {
	record, err := j.Find(ctx, run)
	if err != nil || record == nil || record.Status.Phase != v1alpha1.RunAwaitingApproval {
		return err
	}
	return j.endPlan(ctx, record, reason, message)
}

// endPlan is to be tried again when the record changed meanwhile.
func (j *Journal) endPlan(ctx context.Context, record *v1alpha1.CleanerRun, reason, message string) error {
	record.Status.Phase, record.Status.Reason = v1alpha1.RunCompleted, reason
	record.Status.Message = v1alpha1.Truncate(message, maxPlanText)
	record.Status.Conditions = record.EndConditions()
	return wrap("writing CleanerRun "+record.Name, j.changeStatus(ctx, record))
}

// IsNotApproved reports whether an error says that an approval does not count.
func IsNotApproved(err error) bool {
	var not *NotApprovedError
	return errors.As(err, &not)
}
