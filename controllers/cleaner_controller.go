// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controllers turns time and results into the status of Cleaners and into runs. It is the only writer of their
// status.
package controllers

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/executor"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/schedule"
)

const (
	// recheck is after how long a kind that the cluster does not serve is looked for again.
	recheck = 15 * time.Second
	// otherPatience is how long an operator that lost its lease may take to end.
	otherPatience = 2 * time.Minute
	// pruneDelay is after how long old records are deleted.
	pruneDelay = 5 * time.Second
	// maxSleep bounds the wait for the next run, so that a clock that was set is noticed.
	maxSleep = 10 * time.Minute
	// conflictDelay is after how long a Cleaner that changed under our hands is read again.
	conflictDelay = 50 * time.Millisecond
	// checkDelay is after how long a Cleaner is looked at again whose turn to be checked has not come, and up to twice that: all
	// come at once when an operator sees a cluster for the first time.
	checkDelay = 2 * time.Second
)

var (
	errDeleted    = errors.New("the Cleaner was deleted")
	errSuspended  = errors.New("the Cleaner was suspended")
	errBecameScan = errors.New("the action was changed to Scan")
	errNoRecord   = errors.New("the run returned no record")
	errNotNow     = errors.New("too many Cleaners are being checked")
)

// Executor is what carries out the runs.
type Executor = executor.Executor[*v1alpha1.CleanerRun]

// CleanerReconciler brings the status of one Cleaner up to date and submits its next run when that is due.
type CleanerReconciler struct {
	// Client reads Cleaners from the cache.
	Client   client.Client
	Executor *Executor
	Journal  *journal.Journal
	Metrics  *metrics.Metrics
	Events   events.EventRecorder
	Clock    clock.PassiveClock
	// Validate says what in the spec keeps a Cleaner from running: a reason of the condition Ready and the problems, or
	// nothing. An error means that the cluster could not be asked.
	Validate func(ctx context.Context, cleaner *v1alpha1.Cleaner) (reason, message string, err error)
	// DryRun says that every run is a Scan.
	DryRun bool
	// RequireServiceAccount says that Cleaners without a ServiceAccount are refused.
	RequireServiceAccount bool
	// JitterWindow is by how much scheduled runs may start later than they are due, each Cleaner's by a time of its own.
	JitterWindow time.Duration

	// checks are the Cleaners that may be checked at once. A check takes long when a script is hard to compile or an API is slow,
	// and Cleaners that need none must not wait for it. Nil is no limit.
	checks *semaphore.Weighted
	// queue is nil until the controller starts: then every Cleaner is looked at.
	queue atomic.Pointer[workqueue.TypedRateLimitingInterface[reconcile.Request]]
	// unpruned are the names of the Cleaners that had a run since their old records were looked at.
	unpruned sync.Map
	// histories are what is known of the Cleaners' records, by name.
	histories sync.Map
	// countless are the UIDs of the Cleaners that have no counts, by name.
	countless sync.Map
	// takenUp are the runs that this process took up from an operator that went away, by the Cleaner's name.
	takenUp sync.Map
	// told are the names of the Cleaners whose notifications have got on.
	told sync.Map
}

// +kubebuilder:rbac:groups=apps.projectsveltos.io,resources=cleaners,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=apps.projectsveltos.io,resources=cleaners/status,verbs=patch
// +kubebuilder:rbac:groups=apps.projectsveltos.io,resources=cleanerruns,verbs=get;list;create;delete
// +kubebuilder:rbac:groups=apps.projectsveltos.io,resources=cleanerruns/status,verbs=update;patch
// +kubebuilder:rbac:groups=apps.projectsveltos.io,resources=reports,verbs=get;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get

// SetupWithManager makes the manager call Reconcile for Cleaners that change and for runs that end.
func (r *CleanerReconciler) SetupWithManager(mgr ctrl.Manager, concurrency int) error {
	r.checks = semaphore.NewWeighted(int64(concurrency+1) / 2)
	changed := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.Cleaner{}, builder.WithPredicates(changed)).
		WatchesRawSource(source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
			r.queue.Store(&queue)
			return nil
		})).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		Complete(r)
}

// Finished is called by the executor when the run of the named Cleaner has ended.
func (r *CleanerReconciler) Finished(name string) {
	if queue := r.queue.Load(); queue != nil {
		(*queue).Add(reconcile.Request{NamespacedName: client.ObjectKey{Name: name}})
	}
}

// Reconcile folds in the finished result, decides what is due, writes the status once, and submits what is due.
func (r *CleanerReconciler) Reconcile(ctx context.Context, request reconcile.Request) (result reconcile.Result, err error) {
	defer func() {
		if ctx.Err() != nil { // the operator stops, which is no fault: the next one looks at every Cleaner
			result, err = reconcile.Result{}, nil
		}
	}()
	var cleaner v1alpha1.Cleaner
	if err := r.Client.Get(ctx, request.NamespacedName, &cleaner); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(request.Name)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, err
	}
	if !cleaner.DeletionTimestamp.IsZero() {
		r.forget(cleaner.Name)
		return retry(r.release(ctx, &cleaner))
	}
	r.Executor.Keep(cleaner.Name, string(cleaner.UID), errDeleted) // what an earlier Cleaner of the name left behind
	if err := r.dropLegacyFinalizer(ctx, &cleaner); err != nil {
		return retry(err)
	}
	stored := cleaner.DeepCopy()
	round, err := r.round(ctx, &cleaner)
	if errors.Is(err, errNotNow) {
		return reconcile.Result{RequeueAfter: wait.Jitter(checkDelay, 1)}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.patch(ctx, stored, &cleaner); err != nil {
		return retry(err)
	}
	r.afterwards(ctx, &cleaner, round)
	return reconcile.Result{RequeueAfter: round.sleep}, nil
}

// retry turns a lost race into a new look at the Cleaner.
func retry(err error) (reconcile.Result, error) {
	switch {
	case err == nil:
		return reconcile.Result{}, nil
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: conflictDelay}, nil
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, err
}

// patch writes what changed in the status, if the Cleaner is still as it was read.
func (r *CleanerReconciler) patch(ctx context.Context, stored, cleaner *v1alpha1.Cleaner) error {
	if equality.Semantic.DeepEqual(stored.Status, cleaner.Status) {
		return nil
	}
	// The cache holds no match lists: without this, the patch would not take an old one away.
	if last := cleaner.Status.LastRun; last != nil && len(last.Matches) == 0 && stored.Status.LastRun != nil && last.Name != stored.Status.LastRun.Name {
		stored.Status.LastRun.Matches = []v1alpha1.ObjectOutcome{{}}
	}
	return r.Client.Status().Patch(ctx, cleaner, client.MergeFromWithOptions(stored, client.MergeFromWithOptimisticLock{}))
}

// afterwards does what must come after the status was written: nothing of it may happen twice when the write is retried.
func (r *CleanerReconciler) afterwards(ctx context.Context, cleaner *v1alpha1.Cleaner, round *round) {
	r.observe(cleaner, round)
	if round.told != nil { // another may have come meanwhile
		r.told.CompareAndDelete(cleaner.Name, round.told)
	}
	if ended := round.ended; ended != nil {
		kind := corev1.EventTypeNormal
		if ended.Status.Phase != v1alpha1.RunCompleted {
			kind = corev1.EventTypeWarning
		}
		r.Events.Eventf(cleaner, ended, kind, ended.Status.Reason, string(ended.Spec.Action), "%s", v1alpha1.Truncate(ended.Status.Message, 1024))
	}
	if round.missed != "" {
		r.Events.Eventf(cleaner, nil, corev1.EventTypeWarning, "MissedRun", "Schedule", "%s", round.missed)
	}
	if round.submit != nil {
		r.Executor.Submit(*round.submit)
	}
	r.prune(ctx, cleaner, round)
}

// forget stops what a deleted Cleaner left behind in this process.
func (r *CleanerReconciler) forget(name string) {
	r.Executor.Forget(name, errDeleted)
	r.Metrics.Forget(name)
	r.unpruned.Delete(name)
	r.histories.Delete(name)
	r.countless.Delete(name)
	r.takenUp.Delete(name)
	r.told.Delete(name)
}

// round is what one Reconcile found out, for after the status is written.
type round struct {
	// ended is the run that ended since the last round.
	ended *v1alpha1.CleanerRun
	// told is the news of delivered notifications that the status has now. Nil when there were none.
	told any
	// soon asks for another look although nothing may happen.
	soon bool
	// unchecked is true when the cluster could not be asked for the Cleaner's kinds: that is tried again soon.
	unchecked bool
	// missed says which runs will not take place, and misses are the same for metrics.
	missed string
	misses []schedule.Decision
	// submit is the run to start.
	submit *executor.Request
	// sleep is after how long to look again. Zero means not before something happens.
	sleep time.Duration
}

// round computes the Cleaner's status, in memory, and what is to be done.
func (r *CleanerReconciler) round(ctx context.Context, cleaner *v1alpha1.Cleaner) (*round, error) {
	round := &round{}
	if err := r.fold(ctx, cleaner, round); err != nil {
		return nil, err
	}
	if err := r.foldDelivery(ctx, cleaner, round); err != nil {
		return nil, err
	}
	plan, err := r.assess(ctx, cleaner, round)
	if err != nil {
		return nil, err
	}
	r.decide(cleaner, plan, round)
	if !round.unchecked {
		cleaner.Status.ObservedGeneration = cleaner.Generation
	}
	if round.soon || round.unchecked {
		round.sleep = min(cmp.Or(round.sleep, recheck), recheck)
	}
	cleaner.Status.Action = cleaner.EffectiveAction()
	if r.DryRun {
		cleaner.Status.Action = v1alpha1.ActionScan
	}
	klog.FromContext(ctx).V(1).Info("Reconciled", "next", cleaner.Status.NextScheduleTime, "active", ptr.Deref(cleaner.Status.ActiveRun, v1alpha1.ActiveRun{}).Name)
	return round, nil
}
