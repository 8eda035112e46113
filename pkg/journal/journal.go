// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package journal keeps what runs intend and did: CleanerRuns, Reports, and in how many runs each object has matched.
package journal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

var (
	// ErrOtherCleaner says that a run's name is taken by the run of another Cleaner, an earlier one of the same name.
	ErrOtherCleaner = errors.New("a CleanerRun with the name of this run exists already, from a deleted Cleaner of the same name; the next run has another name")
	// ErrCancelled says that somebody cancelled the run (CancelRunAnnotation).
	ErrCancelled = errors.New("it was cancelled (kubectl cleaner cancel)")
	// ErrDeleted says that somebody deleted the Cleaner during the run.
	ErrDeleted = errors.New("the Cleaner was deleted")
	// ErrSuspended says that somebody suspended it during the run.
	ErrSuspended = errors.New("the Cleaner was suspended")
	// ErrBecameScan says that somebody changed it during the run.
	ErrBecameScan = errors.New("the Cleaner was changed to only report")
	// ErrGone says that somebody deleted the run's record while it went on.
	ErrGone = errors.New("somebody deleted the CleanerRun during the run, and with it the list of what it did")
	// ErrTaken says that another operator carries the run out.
	ErrTaken = errors.New("another operator carries the run out")
)

// Stopped says why a Cleaner, as it is, does not allow a run any more: it cancels the run, or is suspended. Nil when it
// allows it. A run that somebody asked for while the Cleaner was suspended is not stopped by that.
func Stopped(cleaner *v1alpha1.Cleaner, run string, whileSuspended bool) error {
	switch {
	case cleaner.Cancels(run):
		return ErrCancelled
	case cleaner.IsSuspended() && !whileSuspended:
		return ErrSuspended
	}
	return nil
}

const (
	// createdAnnotation on a CleanerRun distinguishes the attempt that created it from all others.
	createdAnnotation = "apps.projectsveltos.io/created-by-attempt"
	// dropTimeout bounds the cleaning up after a run that could not write down what it intends.
	dropTimeout = 10 * time.Second
	// readTimeout bounds the reading of a record whose writing was not answered.
	readTimeout = 5 * time.Second
)

// Journal writes records through a client that reads the API server, not a cache.
type Journal struct {
	client    client.Client
	namespace string
	clock     clock.PassiveClock
	// Places are where copies can be kept besides Secrets. They are set before the first use.
	Places Places
	// CheckClock says what is wrong with the clock: then no copies are dropped. Nil when nothing can be known of that.
	CheckClock func() error
	// Dropped, if not nil, is called with the copies that were dropped before their time, and why.
	Dropped func(run *v1alpha1.CleanerRun, why string)

	keepers keepers
}

// New returns a Journal. namespace is the operator's own, where it keeps state.
func New(live client.Client, namespace string, clk clock.PassiveClock) *Journal {
	return &Journal{client: live, namespace: namespace, clock: clk}
}

// Begin creates the record of a run, which is the lock that makes it happen once. When the record is there already,
// begun is what it says: a final phase means that the run has happened, Executing that it was cut off while it touched
// things, anything else that it touched nothing yet and may be carried out under this record. Then its start is that of
// the record.
func (j *Journal) Begin(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	spec v1alpha1.CleanerRunSpec,
) (begun *v1alpha1.CleanerRun, err error) {
	run := &v1alpha1.CleanerRun{
		ObjectMeta: metav1.ObjectMeta{
			Name:   v1alpha1.RunName(cleaner.Name, spec.NominalTime.Time),
			Labels: map[string]string{v1alpha1.CleanerLabel: string(cleaner.UID)},
			// No two attempts have the same: a record that has it was created here.
			Annotations: map[string]string{createdAnnotation: rand.Text()},
		},
		Spec: spec,
	}
	if spec.Action == v1alpha1.ActionScan { // any other may hold copies, which outlive the Cleaner
		run.OwnerReferences = []metav1.OwnerReference{ownedBy(cleaner)}
	}
	err = j.create(ctx, run)
	if apiserver.IsUnclear(err) { // the answer may be lost: then it is there already
		err = j.create(ctx, run)
	}
	if !apierrors.IsAlreadyExists(err) {
		return run, wrap("creating CleanerRun "+run.Name, err)
	}
	found, err := j.Find(ctx, run.Name)
	switch {
	case err != nil:
		return nil, err
	case found == nil || found.Spec.CleanerUID != cleaner.UID:
		return nil, ErrOtherCleaner
	}
	if found.Status.StartTime == nil {
		found.Status.StartTime = ptr.To(found.CreationTimestamp)
	}
	if found.Status.Phase == "" && found.Annotations[createdAnnotation] != run.Annotations[createdAnnotation] {
		err = j.countAttempt(ctx, found)
	}
	return found, err
}

// Find reads a record. It is nil when there is none.
func (j *Journal) Find(ctx context.Context, name string) (*v1alpha1.CleanerRun, error) {
	run, err := j.read(ctx, name)
	if apiserver.IsAbsent(err, name) {
		return nil, nil
	}
	return run, wrap("reading CleanerRun "+name, err)
}

// Save writes the run's status, whatever else changed in the record meanwhile, such as a label. was is the phase that
// this process wrote last. With ErrTaken the run is another operator's: its record stays as it is, and run has no end.
// One that somebody deleted is not written again: the error is ErrGone then.
func (j *Journal) Save(ctx context.Context, run *v1alpha1.CleanerRun, was v1alpha1.RunPhase) error {
	status, name := run.Status, run.Name
	err := j.changeStatus(ctx, run)
	if apierrors.IsConflict(err) {
		var taken bool
		if taken, err = j.saveOver(ctx, run, &status, was); taken {
			return wrap("writing CleanerRun "+name, ErrTaken)
		}
	}
	run.Status = status           // also when the server's answer was not decoded
	if errors.Is(err, ErrTaken) { // it was not sent
		run.Status.Phase = was
	}
	if apiserver.IsAbsent(err, name) {
		return ErrGone
	}
	return wrap("writing CleanerRun "+name, err)
}

// saveOver writes the status over a record that changed meanwhile. When another operator has taken it over, run has
// what that one wrote, or no end if the record was made anew.
func (j *Journal) saveOver(
	ctx context.Context, run *v1alpha1.CleanerRun, status *v1alpha1.CleanerRunStatus, was v1alpha1.RunPhase,
) (taken bool, err error) {
	found, err := j.read(ctx, run.Name)
	if err != nil {
		return false, err
	}
	if found.UID != run.UID { // deleted, and begun anew by another operator
		run.Status.Phase = was
		return true, nil
	}
	found.DeepCopyInto(run)
	switch live := run.Status; {
	case isWritten(&live, status):
		return false, nil
	case live.Phase != was || live.Recoveries != status.Recoveries || live.Attempts != status.Attempts:
		return true, nil
	case status.Copies != nil && live.Copies != nil:
		status.Copies.Dropped = live.Copies.Dropped // by a sweep
	}
	run.Status = *status
	return false, j.changeStatus(ctx, run)
}

// isWritten reports whether a status is the one that was to be written: an answer may have been lost.
func isWritten(live, status *v1alpha1.CleanerRunStatus) bool {
	return live.Phase == status.Phase && live.Recoveries == status.Recoveries &&
		equality.Semantic.DeepEqual(live.Notifications, status.Notifications) && live.CompletionTime != nil &&
		status.CompletionTime != nil &&
		live.CompletionTime.Unix() == status.CompletionTime.Unix()
}

// End sets the fields that every ended run has. What it counts must be set before.
func (j *Journal) End(run *v1alpha1.CleanerRun, phase v1alpha1.RunPhase, reason, message string) {
	now := metav1.NewTime(j.clock.Now())
	run.Status.Phase, run.Status.Reason, run.Status.Message = phase, reason, message
	run.Status.CompletionTime, run.Status.Progress = &now, nil
	if run.Status.StartTime != nil {
		run.Status.Duration = &metav1.Duration{Duration: now.Sub(run.Status.StartTime.Time).Round(time.Millisecond)}
	}
	run.Status.Conditions = run.EndConditions()
}

func ownedBy(cleaner *v1alpha1.Cleaner) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "Cleaner",
		Name: cleaner.Name, UID: cleaner.UID, Controller: ptr.To(true),
	}
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
