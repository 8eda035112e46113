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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/executor"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
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
	// retryDelay is after how long a Cleaner is looked at again when that failed, or when it changed under our hands:
	// twice as long each time in a row, up to maxRetryDelay, so that no Cleaner waits long when an outage is over.
	retryDelay    = 50 * time.Millisecond
	maxRetryDelay = 30 * time.Second
	// checkDelay is after how long a Cleaner is looked at again whose turn to be checked has not come, and up to twice
	// that: all come at once when an operator sees a cluster for the first time.
	checkDelay = 2 * time.Second
)

var (
	errPanicked = errors.New(fault.Words)
	errNotNow   = errors.New("too many Cleaners are being checked")
	// errRecordDeleted is of a run whose record somebody deleted after the attempt ended, and before it was read.
	errRecordDeleted = errors.New("somebody deleted the CleanerRun before this status was written")
	errBehind        = errors.New("the cache is behind")
)

// Attempt is how an attempt at a run ended. What became of the run is what its record says; its name follows from the
// Cleaner and the time of the request.
type Attempt struct {
	// Recorded says that there was a record when the attempt ended: the run must not begin once more if it is gone.
	Recorded bool
	// Err says why there is no record, or none any more.
	Err error
}

// Executor is what carries out the runs.
type Executor = executor.Executor[Attempt]

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
	// Cleaners lists all of them.
	Cleaners Cleaners
	// CheckClock says what is wrong with the Clock: then the schedules stand still.
	CheckClock func() error
	// CheckSchema says which fields of Cleaners the API server does not keep: then nothing runs. An error means that
	// nobody knows.
	CheckSchema func(ctx context.Context) (lacks string, err error)
	// Weight says how much room a Cleaner's run takes.
	Weight func(cleaner *v1alpha1.Cleaner) int64
	// WhyOff says why acting is off, so that every run is a Scan. Empty when it is on.
	WhyOff func() string
	// RequireServiceAccount says that Cleaners without a ServiceAccount are refused.
	RequireServiceAccount bool
	// AccountRefused reports whether the operator was last seen not to be allowed to act as the account. Then the Cleaner
	// is checked.
	AccountRefused func(account v1alpha1.ServiceAccountRef) bool
	// JitterWindow is by how much scheduled runs may start later than they are due, each Cleaner's by a time of its own.
	JitterWindow time.Duration
	// ShowAfter is after how long a scheduled run that only reports is shown in status as going on: most are over by then,
	// which saves one of the writes of each run. Zero shows it at once.
	ShowAfter time.Duration

	// checks are the Cleaners that may be checked at once. A check takes long when a script is hard to compile or an API
	// is slow, and Cleaners that need none must not wait for it. Nil is no limit.
	checks *semaphore.Weighted
	// queue is nil until the controller starts: then every Cleaner is looked at.
	queue atomic.Pointer[workqueue.TypedRateLimitingInterface[reconcile.Request]]
	// firstLook is when this process looked at a Cleaner first. Nil until then.
	firstLook atomic.Pointer[time.Time]
	// memories are what is remembered of each Cleaner, by name.
	memories sync.Map
	// acting are the Cleaners that act.
	acting acting
}

// +kubebuilder:rbac:groups=apps.projectsveltos.io,resources=cleaners,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=apps.projectsveltos.io,resources=cleaners/status,verbs=patch
// +kubebuilder:rbac:groups=apps.projectsveltos.io,resources=cleanerruns,verbs=get;list;create;delete
// +kubebuilder:rbac:groups=apps.projectsveltos.io,resources=cleanerruns/status,verbs=update;patch
// +kubebuilder:rbac:groups=apps.projectsveltos.io,resources=cleanerapprovals,verbs=get;list;create
// +kubebuilder:rbac:groups=apps.projectsveltos.io,resources=reports,verbs=get;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingadmissionpolicies;validatingadmissionpolicybindings,verbs=list

// SetupWithManager makes the manager call Reconcile for Cleaners that change and for runs that end.
func (r *CleanerReconciler) SetupWithManager(mgr ctrl.Manager, concurrency int) error {
	r.checks = semaphore.NewWeighted(int64(concurrency+1) / 2)
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.Cleaner{}, builder.WithPredicates(worthALook())).
		Watches(&v1alpha1.Cleaner{}, r.foreignWrites()).
		WatchesRawSource(source.Func(func(_ context.Context,
			queue workqueue.TypedRateLimitingInterface[reconcile.Request],
		) error {
			r.queue.Store(&queue)
			return nil
		})).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency, RateLimiter: newLimiter()}).
		Complete(r)
}

// worthALook is true of Cleaners that a person changed, and of all that are looked at again after --sync-period: these
// come as they were. What changes otherwise is mostly their status, which this process writes itself. After a watch
// broke, one that was deleted and created again comes as an update.
func worthALook() predicate.Predicate {
	return predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{},
		predicate.Not(predicate.ResourceVersionChangedPredicate{}), predicate.Funcs{UpdateFunc: isAnother})
}

func isAnother(e event.UpdateEvent) bool { return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() }

func newLimiter() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryDelay, maxRetryDelay)
}

// Finished is called by the executor when the run of the named Cleaner has ended.
func (r *CleanerReconciler) Finished(name string) {
	if queue := r.queue.Load(); queue != nil {
		(*queue).Add(reconcile.Request{NamespacedName: client.ObjectKey{Name: name}})
	}
}

// Reconcile folds in the finished result, decides what is due, writes the status once, and submits what is due.
func (r *CleanerReconciler) Reconcile(
	ctx context.Context,
	request reconcile.Request,
) (result reconcile.Result, err error) {
	r.begun()
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
		return r.retry(cleaner.Name, r.release(ctx, &cleaner))
	}
	// What an earlier Cleaner of the name left behind ends.
	r.Executor.Keep(cleaner.Name, string(cleaner.UID), journal.ErrDeleted)
	r.stopAtOnce(&cleaner)
	switch lacks, err := r.CheckSchema(ctx); {
	case err != nil:
		return reconcile.Result{}, err
	case lacks != "":
		return r.outdated(ctx, &cleaner, lacks)
	}
	if err := r.dropLegacyFinalizer(ctx, &cleaner); err != nil {
		return r.retry(cleaner.Name, err)
	}
	stored := cleaner.DeepCopy()
	round, err := r.round(ctx, &cleaner)
	if err != nil {
		return r.again(cleaner.Name, err)
	}
	if err := r.showOrWait(ctx, stored, &cleaner, round); err != nil {
		return r.retry(cleaner.Name, err)
	}
	r.afterwards(ctx, &cleaner, round)
	return reconcile.Result{RequeueAfter: round.sleep}, nil
}

// again says when a Cleaner is looked at again whose round failed.
func (r *CleanerReconciler) again(name string, err error) (reconcile.Result, error) {
	switch {
	case errors.Is(err, errNotNow):
		return reconcile.Result{RequeueAfter: wait.Jitter(checkDelay, 1)}, nil
	case errors.Is(err, errBehind):
		return r.retry(name, err)
	}
	return reconcile.Result{}, err
}

// showOrWait writes what the round computed, unless that may wait.
func (r *CleanerReconciler) showOrWait(ctx context.Context, stored, cleaner *v1alpha1.Cleaner, round *round) error {
	if r.mayShowLater(stored, cleaner, round) {
		round.memory.unshown = cleaner.Status.DeepCopy()
		round.sleep = r.ShowAfter
		return nil
	}
	if err := r.show(ctx, stored, cleaner, round.memory); err != nil {
		return err
	}
	if err := r.keepStamp(ctx, cleaner); err != nil { // the status says the same
		klog.FromContext(ctx).V(1).Info("Could not annotate the Cleaner with the spec that was seen", "cause", err.Error())
		round.sleep = min(cmp.Or(round.sleep, recheck), recheck)
	}
	return nil
}

// forget stops what a deleted Cleaner left behind in this process.
func (r *CleanerReconciler) forget(name string) {
	r.Executor.Forget(name, journal.ErrDeleted)
	r.Metrics.Forget(name)
	r.memories.Delete(name)
	r.lookAgain(r.acting.forget(name))
}

// lookAgain reconciles Cleaners of which something else may have to be said now.
func (r *CleanerReconciler) lookAgain(names []string) {
	for _, name := range names {
		r.Finished(name)
	}
}
