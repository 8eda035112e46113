// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// begin reads the Cleaner and takes the lock. With an error, the record is one that could not be written, or another operator's.
func (r *Runner) begin(ctx context.Context, request Request) (*v1alpha1.Cleaner, *v1alpha1.CleanerRun, error) {
	now := metav1.NewTime(r.Clock.Now())
	record := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{
		Cleaner: request.Cleaner, CleanerUID: request.UID,
		NominalTime: metav1.NewTime(request.Nominal), Trigger: request.Trigger, Action: v1alpha1.ActionScan,
	}}
	record.Name = v1alpha1.RunName(request.Cleaner, request.Nominal)
	record.Status.StartTime = &now
	cleaner, err := r.live(ctx, request)
	if err != nil {
		return nil, r.unrecorded(ctx, record, err), err
	}
	record.Spec.CleanerUID, record.Spec.CleanerGeneration = cleaner.UID, cleaner.Generation
	record.Spec.Action, record.Spec.ServiceAccountRef = cleaner.EffectiveAction(), cleaner.Spec.ServiceAccountRef
	if r.DryRun && record.Spec.Action != v1alpha1.ActionScan {
		record.Spec.Action, record.Spec.DryRun = v1alpha1.ActionScan, true
	}
	begun, err := r.Journal.Begin(ctx, cleaner, record.Spec)
	if err != nil {
		return nil, r.unrecorded(ctx, record, err), err
	}
	return cleaner, begun, r.takeOver(ctx, cleaner, begun, record, cleaner.IsSuspended() && !request.WhileSuspended)
}

// takeOver looks at a record that may be another operator's. What it had only planned goes on, unless it would be done differently
// now: the record must say what is done. What it had begun to carry out is gone on with, or closed. An error says that the run is
// another operator's.
func (r *Runner) takeOver(ctx context.Context, cleaner *v1alpha1.Cleaner, begun, wanted *v1alpha1.CleanerRun, suspended bool) error {
	same := begun.Spec.Action == wanted.Spec.Action && begun.Spec.DryRun == wanted.Spec.DryRun && begun.Spec.CleanerGeneration == wanted.Spec.CleanerGeneration &&
		ptr.Equal(begun.Spec.ServiceAccountRef, wanted.Spec.ServiceAccountRef)
	switch {
	case begun.Status.Phase.Final():
	case begun.Status.Phase == v1alpha1.RunExecuting && suspended:
		r.Recover(ctx, begun, cleaner, "the Cleaner was suspended")
	case begun.Status.Phase == v1alpha1.RunExecuting && !same:
		r.Recover(ctx, begun, cleaner, "the Cleaner, or the operator's --dry-run, has changed since")
	case begun.Status.Phase == v1alpha1.RunExecuting:
		r.Recover(ctx, begun, cleaner, "")
	case !same:
		ended := r.end(ctx, cleaner, begun, v1alpha1.RunInterrupted, v1alpha1.ReasonFailed,
			"The operator went away before the run touched anything, and the Cleaner or the operator's --dry-run has changed since; the next run goes by that.")
		if !ended {
			return journal.ErrTaken
		}
		r.tell(ctx, cleaner, begun, nil)
	case begun.Status.StartTime == nil || cleaner.Spec.ActiveDeadlineSeconds == nil: // else its time counts from the first try
		begun.Status.StartTime = wanted.Status.StartTime
	}
	return nil
}

// live reads the Cleaner that was asked for, if it may still run.
func (r *Runner) live(ctx context.Context, request Request) (*v1alpha1.Cleaner, error) {
	var cleaner v1alpha1.Cleaner
	if err := r.Client.Get(ctx, client.ObjectKey{Name: request.Cleaner}, &cleaner); err != nil {
		return nil, fmt.Errorf("reading Cleaner %s: %w", request.Cleaner, err)
	}
	if cleaner.Name != request.Cleaner || cleaner.UID == "" {
		return nil, fmt.Errorf("reading Cleaner %s: the answer is not an API server's: is there something between the operator and the API server?", request.Cleaner)
	}
	switch late := r.Clock.Since(request.Nominal); {
	case request.UID != "" && request.UID != cleaner.UID:
		return nil, fmt.Errorf("the Cleaner %s was created again since the run was asked for", request.Cleaner)
	case !cleaner.DeletionTimestamp.IsZero():
		return nil, fmt.Errorf("the Cleaner %s is being deleted", request.Cleaner)
	case request.Trigger == v1alpha1.TriggerSchedule && cleaner.Spec.StartingDeadlineSeconds != nil && late.Seconds() > float64(*cleaner.Spec.StartingDeadlineSeconds):
		return r.lateButBegun(ctx, &cleaner, request, late)
	}
	return &cleaner, nil
}

// lateButBegun lets a run go on that began in time, under another operator, and no other.
func (r *Runner) lateButBegun(ctx context.Context, cleaner *v1alpha1.Cleaner, request Request, late time.Duration) (*v1alpha1.Cleaner, error) {
	record, err := r.Journal.Find(ctx, v1alpha1.RunName(request.Cleaner, request.Nominal))
	if err == nil && record == nil {
		err = fmt.Errorf("it is %s late, which startingDeadlineSeconds (%d) does not allow; were as many runs going on as may (--max-parallel-runs)?",
			late.Round(time.Second), *cleaner.Spec.StartingDeadlineSeconds)
	}
	return cleaner, err
}

// unrecorded ends a record that could not be written.
func (r *Runner) unrecorded(ctx context.Context, record *v1alpha1.CleanerRun, err error) *v1alpha1.CleanerRun {
	if stopped := context.Cause(ctx); stopped != nil {
		err = stopped
		if errors.Is(stopped, r.Stopping) {
			return record // the next leader carries the run out
		}
	}
	if errors.Is(err, journal.ErrTaken) {
		return record // so does the leader that there is by now
	}
	// It may have begun, under another operator, and touched things.
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	message := "The run could not begin, nothing was touched: " + err.Error()
	switch found, findErr := r.Journal.Find(looking, record.Name); {
	case findErr != nil && mayPass(findErr):
		return record // it is looked at again
	case findErr != nil:
		message = fmt.Sprintf("The run could not begin: %s. Whether it had begun before is not known: %s", err, findErr)
	case found != nil && found.Spec.CleanerUID == record.Spec.CleanerUID && found.Status.Phase != "":
		return found // executing, or even at its end
	}
	reason := v1alpha1.ReasonFailed
	if apierrors.IsForbidden(err) {
		reason = v1alpha1.ReasonForbidden
	}
	r.Journal.End(record, v1alpha1.RunFailed, reason, message)
	return record
}
