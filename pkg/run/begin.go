// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

// Begin is the stage that reads the Cleaner and creates the record, which is the lock that makes a run happen once.
type Begin struct {
	// Client reads Cleaners from the API server, not from a cache: a run must not begin by what is not so any more.
	Client  client.Reader
	Journal *journal.Journal
	Clock   clock.WithTickerAndDelayedExecution
	// CheckSchema says which fields of Cleaners the API server does not keep: then a run touches nothing. An error means
	// that nobody knows, which is as bad.
	CheckSchema CheckSchema
	// Stop says whether acting is off: then every run is a Scan.
	Stop *stop.Switch
}

// begun is a run that has a record.
type begun struct {
	cleaner *v1alpha1.Cleaner
	record  *v1alpha1.CleanerRun
	// cancelled says that somebody cancelled the run; suspended, that the schedule was stopped before the run began;
	// changed, that what an operator before wrote down would be done differently now.
	cancelled, suspended, changed bool
	// foreign says which other controller may act on the same objects. Nil when there is none.
	foreign error
	// off says why acting is off. Empty when it is on, or for a Cleaner that only reports.
	off string
	// account is that of the request.
	account string
}

// begin reads the Cleaner and takes the lock. With an error there is no record of this run, or it cannot be read.
func (s Begin) begin(ctx context.Context, request Request) (*begun, error) {
	cleaner, err := s.live(ctx, request)
	if err != nil {
		return nil, err
	}
	shown := shownAs(cleaner, request.Nominal)
	spec := v1alpha1.CleanerRunSpec{
		Cleaner:           cleaner.Name,
		CleanerUID:        cleaner.UID,
		CleanerGeneration: cleaner.Generation,
		NominalTime:       metav1.NewTime(request.Nominal),
		Trigger:           triggerOf(cleaner, request),
		Plan:              shown.Plan.DeepCopy(),
		CleanerSpecHash:   cleaner.Spec.Hash(),
		RunRequest:        shown.RunRequest,
		Action:            cleaner.EffectiveAction(),
		ServiceAccountRef: cleaner.Spec.ServiceAccountRef,
	}
	off := s.whyOff(ctx, spec.Action)
	if why := cmp.Or(off, cleaner.Observing(request.Nominal)); why != "" {
		spec.Action, spec.DryRun, spec.DryRunReason = v1alpha1.ActionScan, true, why
	}
	now := metav1.NewTime(s.Clock.Now())
	record, err := s.Journal.Begin(ctx, cleaner, spec)
	if err != nil {
		return nil, err
	}
	b := &begun{
		cleaner:   cleaner,
		record:    record,
		off:       off,
		account:   request.Account,
		cancelled: cleaner.Cancels(record.Name),
		foreign:   foreignController(cleaner, s.Clock.Now()),
		suspended: cleaner.IsSuspended() && !request.WhileSuspended,
		changed:   !isSame(&record.Spec, &spec) || cleaner.LostFields(stampOf(record)) || cleaner.LostFields(request.Spec),
	}
	// The time of a run that an operator before began counts from then, if it is limited.
	if record.Status.Phase == "" && !b.changed &&
		(record.Status.StartTime == nil || cleaner.Spec.ActiveDeadlineSeconds == nil) {
		record.Status.StartTime = &now
	}
	return b, nil
}

// shownAs is what the Cleaner's status says of the run of a nominal time. It is empty if the status shows no such run.
func shownAs(cleaner *v1alpha1.Cleaner, nominal time.Time) *v1alpha1.ActiveRun {
	if active := cleaner.Status.ActiveRun; active != nil && active.NominalTime.Time.Equal(nominal) {
		return active
	}
	return &v1alpha1.ActiveRun{}
}

// triggerOf is what started the run. Who submits it does not know of approvals.
func triggerOf(cleaner *v1alpha1.Cleaner, request Request) v1alpha1.RunTrigger {
	if shownAs(cleaner, request.Nominal).Plan != nil {
		return v1alpha1.TriggerApproval
	}
	return request.Trigger
}

// whyOff says why a run of the action is to be a Scan. What is not known yet is waited for; a run that acts asks again
// before it does.
func (s Begin) whyOff(ctx context.Context, action v1alpha1.Action) string {
	if action == v1alpha1.ActionScan {
		return ""
	}
	if err := s.Stop.Wait(ctx); err != nil {
		klog.FromContext(ctx).V(1).Info("Could not find out whether acting is stopped", "cause", err.Error())
	}
	return s.Stop.Why()
}

// isSame reports whether what an operator before wrote down is what would be done now: a record must say what is done.
func isSame(left, wanted *v1alpha1.CleanerRunSpec) bool {
	return left.Action == wanted.Action && left.DryRun == wanted.DryRun &&
		left.CleanerGeneration == wanted.CleanerGeneration && ptr.Equal(left.Plan, wanted.Plan) &&
		ptr.Equal(left.ServiceAccountRef, wanted.ServiceAccountRef)
}

// closing says why a run that an operator before had begun to carry out is not resumed. Nil if it is.
func (b *begun) closing() error {
	switch {
	case b.cancelled:
		return journal.ErrCancelled
	case b.suspended:
		return journal.ErrSuspended
	case b.changed:
		return b.whatChanged()
	}
	return b.foreign
}

// whatChanged says why what an operator before wrote down is not done.
func (b *begun) whatChanged() error {
	if b.off != "" && b.off != v1alpha1.DryRunByFlag && !b.record.Spec.DryRun {
		return stop.Because(b.off)
	}
	return errors.New("the Cleaner was changed, or acting was stopped or resumed")
}

// live reads the Cleaner that was asked for, if it may still run.
func (s Begin) live(ctx context.Context, request Request) (*v1alpha1.Cleaner, error) {
	var cleaner v1alpha1.Cleaner
	if err := s.Client.Get(ctx, client.ObjectKey{Name: request.Cleaner}, &cleaner); err != nil {
		return nil, fmt.Errorf("reading Cleaner %s: %w", request.Cleaner, err)
	}
	if cleaner.Name != request.Cleaner || cleaner.UID == "" {
		return nil, fmt.Errorf("reading Cleaner %s: the answer is not an API server's: is there something between the operator and the API server?",
			request.Cleaner)
	}
	if err := s.CheckSchema.intact(ctx); err != nil {
		return nil, err
	}
	switch {
	case request.UID != "" && request.UID != cleaner.UID:
		return nil, fmt.Errorf("the Cleaner %s was created again since the run was asked for", request.Cleaner)
	case !cleaner.DeletionTimestamp.IsZero():
		return nil, fmt.Errorf("the Cleaner %s is being deleted", request.Cleaner)
	}
	if why := s.mayNotBegin(&cleaner, request); why != nil {
		return s.ifBegun(ctx, &cleaner, request, why)
	}
	return &cleaner, nil
}

// mayNotBegin says why a run may not begin now. One that has begun is brought to its end.
func (s Begin) mayNotBegin(cleaner *v1alpha1.Cleaner, request Request) error {
	late, limit := s.Clock.Since(request.Nominal), cleaner.StartingDeadline()
	if request.Trigger == v1alpha1.TriggerSchedule && limit != nil && late > *limit {
		return fmt.Errorf(
			"it is %s late, and startingDeadlineSeconds allows %.0f s. Perhaps too many other runs were active: see the operator's flag --max-parallel-runs",
			late.Round(time.Second), limit.Seconds())
	}
	if foreign := foreignController(cleaner, s.Clock.Now()); foreign != nil {
		return foreign
	}
	if cleaner.LostFields(request.Spec) {
		return lostFields(cleaner.Name)
	}
	return nil
}

// ifBegun lets a run go on that began under another operator, and no other: it may not begin now, which otherwise is
// the error.
func (s Begin) ifBegun(ctx context.Context, cleaner *v1alpha1.Cleaner, request Request, otherwise error) (
	*v1alpha1.Cleaner, error,
) {
	record, err := s.Journal.Find(ctx, v1alpha1.RunName(request.Cleaner, request.Nominal))
	if err == nil && record == nil {
		err = otherwise
	}
	return cleaner, err
}

// stampOf is the stamp of the spec that a run goes by. Empty when an operator of an earlier version began it.
func stampOf(record *v1alpha1.CleanerRun) string {
	if record.Spec.CleanerSpecHash == "" {
		return ""
	}
	return v1alpha1.Stamp(record.Spec.CleanerGeneration, record.Spec.CleanerSpecHash)
}

// wasQueuedAsAnother reports whether the Cleaner named another account when the run was queued: whoever asked for it
// did not ask for what this one may do. The status shows a run that was queued by an operator before.
func wasQueuedAsAnother(b *begun) bool {
	queued, account := b.cleaner.Status.ActiveRun, b.record.Spec.ServiceAccountRef
	if b.account != "" && (account == nil || account.String() != b.account) {
		return true
	}
	return queued != nil && queued.Name == b.record.Name &&
		!ptr.Equal(queued.ServiceAccountRef, account)
}
