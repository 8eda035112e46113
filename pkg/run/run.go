// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package run carries out one run of a Cleaner: read, judge, record, act, record, tell. Each stage takes the value that the
// stage before it made; only acting and recording write to the cluster.
package run

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

const (
	// recordTimeout bounds the writing of a record, also of a run that was stopped; recordRetry is the time between two tries.
	recordTimeout = 10 * time.Second
	recordRetry   = time.Second
	// notifyTimeout bounds the delivery of one notification.
	notifyTimeout = 10 * time.Second
)

// Runner carries out runs with what it is given.
type Runner struct {
	// Client reads Cleaners from the API server, not from a cache: a run must not begin by what is not so any more.
	Client client.Reader
	// Reader and Actor have the operator's own rights. A Cleaner that names a ServiceAccount reads and acts by what As makes;
	// of the operator's then are only the records and the reading of namespaces for protection.
	Reader  *selector.Reader
	Actor   *action.Actor
	As      As
	Journal *journal.Journal
	Metrics *metrics.Metrics
	// Lists are those that runs read together. Nil when each run reads its own.
	Lists *selector.Lists
	// Schemas are what is kept of the kinds' schemas. Nil when each run reads them anew.
	Schemas *cel.Schemas
	// Memory bounds what all runs together select. Nil when each run has a default for itself.
	Memory *selector.Budget
	// Event is the channel of notifications of type Event.
	Event notify.Channel
	// Notify sends the notifications of the types that need a Secret.
	Notify *notify.Sender
	// Outbox sends, in its own time, what a run has to tell. Nil in tests that do not look at that.
	Outbox     func(record *v1alpha1.CleanerRun, outcomes []object.Outcome)
	Protection guard.Protection
	// Queries asks the metricQueries of Cleaners. Nil where there is nobody to ask.
	Queries *inputs.Metrics
	// Scripts are the child processes that run scripts.
	Scripts *sandbox.Pool
	Clock   clock.WithTickerAndDelayedExecution
	// CheckClock says what is wrong with the Clock: then a run touches nothing. Nil when nothing can be known of that.
	CheckClock func() error
	// DryRun makes every run a Scan.
	DryRun bool
	// MaxActions is how many objects a run may act on: one that would act on more touches nothing. Zero means any number.
	MaxActions int
	// RequireServiceAccount refuses the Cleaners that name no ServiceAccount.
	RequireServiceAccount bool
	// Stopping is the cause of a context that is cancelled because the operator stops: a run that has touched nothing is
	// then left for the next leader to carry out.
	Stopping error
	// Denials are what admission denied in the runs so far.
	Denials *Denials
}

// Request says which run to carry out.
type Request struct {
	// Cleaner is the Cleaner's name, and UID the one that was asked for: one that was created again under the name is another.
	Cleaner string
	UID     types.UID
	// Nominal is when the run was due.
	Nominal time.Time
	Trigger v1alpha1.RunTrigger
	// WhileSuspended is true for a run that was asked for although the schedule was stopped.
	WhileSuspended bool
	// Pace is what the last run says of how long the Cleaner's scripts take.
	Pace sandbox.Pace
	// Waiting, if not nil, is told when the run waits for memory for its scripts, as sandbox.Options says.
	Waiting func() (ended func(context.Context))
}

// Run carries out one run and returns its record: ended, unless the operator stops before the run has touched anything.
func (r *Runner) Run(ctx context.Context, request Request) (record *v1alpha1.CleanerRun) {
	ctx, cancel := r.limit(forCleaner(ctx, request.Cleaner), MaxDuration, &deadlineError{MaxDuration})
	defer cancel()
	ctx, traced := traceRun(ctx, request)
	defer func() { traced(record) }()
	defer r.Lists.Enter()()
	cleaner, begun, err := r.begin(ctx, request)
	if err != nil || begun.Status.Phase != "" { // a run that was taken over has an end by now, or another operator has it
		return begun
	}
	record = begun
	ctx, cancel = r.limitRun(ctx, cleaner, record)
	defer cancel()
	ctx = logr.NewContext(ctx, klog.FromContext(ctx).WithValues("cleaner", cleaner.Name, "run", record.Name))
	klog.FromContext(ctx).Info("Run started", "action", record.Spec.Action, "trigger", request.Trigger)
	defer r.recoverRun(ctx, cleaner, record)
	r.carryOut(ctx, cleaner, record, request)
	return record
}

func (r *Runner) carryOut(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, request Request) {
	stop := func(phase v1alpha1.RunPhase, reason, message string) {
		r.endAndTell(ctx, cleaner, record, phase, reason, message)
	}
	if lacks := r.lacksAccount(record.Spec.ServiceAccountRef); lacks != "" {
		stop(v1alpha1.RunFailed, v1alpha1.ReasonServiceAccountRequired, "Nothing was read or touched: "+lacks)
		return
	}
	if cleaner.IsSuspended() && !request.WhileSuspended {
		stop(v1alpha1.RunInterrupted, v1alpha1.ReasonFailed, "The Cleaner was suspended before the run began.")
		return
	}
	who, err := r.identity(record.Spec.ServiceAccountRef)
	if err != nil {
		stop(v1alpha1.RunFailed, v1alpha1.ReasonFailed, "Nothing was read or touched: "+oneLine(err))
		return
	}
	expressions, err := r.prepare(ctx, cleaner, sandbox.Options{Owner: ownerOf(cleaner), Pace: request.Pace, Waiting: request.Waiting})
	if err == nil {
		defer expressions.close()
		err = r.checkConditions(ctx, cleaner, who.reader, record.Spec.Action)
	}
	switch stopped := context.Cause(ctx); {
	case err != nil && stopped != nil && errors.Is(stopped, r.Stopping):
		return // the next leader carries the run out
	case stopped != nil && (err != nil || stopReason(stopped) == v1alpha1.ReasonDeadlineExceeded):
		stop(v1alpha1.RunInterrupted, stopReason(stopped), "Nothing was read or touched: "+stopWords(stopped, "before the run began", selectLess, 0))
		return
	case err != nil:
		r.refuse(ctx, cleaner, record, err)
		return
	}
	r.carryOutStages(ctx, cleaner, record, who, expressions)
}

// carryOutStages is what a run does that may begin.
func (r *Runner) carryOutStages(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, who identity, expressions *expressions) {
	progress := r.startProgress(ctx, record, metrics.StageList, 0)
	defer progress.end()
	progress.showWaiting(expressions.session)
	expressions.metadataOnly = r.metadataOnly(ctx, record.Spec.Action, expressions)
	expressions.keepNames = keepsNames(record.Spec.Action, expressions)
	plan := r.read(ctx, reading{
		cleaner: cleaner, who: who, expressions: expressions, observer: progress.observer(), acts: record.Spec.Action != v1alpha1.ActionScan,
	})
	plan.progress = progress
	progress.enter(metrics.StageJudge, 0)
	r.judge(ctx, record, plan)
	if stopped := context.Cause(ctx); stopped != nil && errors.Is(stopped, r.Stopping) {
		return // nothing was touched: the next leader carries the run out
	}
	expressions.session.Rest() // to act takes long, and seldom needs a script: when an object has changed
	outcomes, err := r.act(ctx, cleaner, record, expressions, plan)
	if errors.Is(err, journal.ErrTaken) {
		return
	}
	r.Denials.note(record, outcomes, r.Clock.Now())
	progress.stop()
	progress.enter(metrics.StageRecord, 0)
	if r.record(ctx, cleaner, record, plan, outcomes, err) {
		progress.enter(metrics.StageTell, 0)
		r.tell(ctx, cleaner, record, plan.scan.toTell(record, outcomes))
	}
}

// prepare checks the Cleaner once more, because it may have been edited since it was found valid, and opens its expressions.
func (r *Runner) prepare(ctx context.Context, cleaner *v1alpha1.Cleaner, options sandbox.Options) (*expressions, error) {
	problems, err := Problems(ctx, cleaner, r.Scripts)
	if err = errors.Join(slices.Concat(problems, r.copyProblems(cleaner), []error{err})...); err != nil {
		return nil, err
	}
	log := klog.FromContext(ctx)
	printed := func(line string) { log.V(1).Info("Script printed", "line", line) }
	if selectsSecrets(cleaner) {
		printed = nil // it may hold their values
	}
	options.Now, options.Print = r.Clock.Now(), printed
	options.Seed = options.Now.Unix()
	return open(cleaner, r.Scripts, r.Memory.Share(), options)
}

// end ends the record and writes it. It returns false when the run is another operator's: then there is nothing to tell of it here.
func (r *Runner) end(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, phase v1alpha1.RunPhase, reason, message string) bool {
	return !errors.Is(r.close(ctx, cleaner, record, phase, reason, message), journal.ErrTaken)
}

// close ends the record and writes it, and returns why it could not be written.
func (r *Runner) close(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, phase v1alpha1.RunPhase, reason, message string) error {
	was := record.Status.Phase
	r.Journal.End(record, phase, reason, message)
	record.Status.Notifications = due(cleaner, record)
	return r.save(ctx, record, was)
}

// endAndTell is end for a run that has no outcomes but those in its record.
func (r *Runner) endAndTell(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, phase v1alpha1.RunPhase, reason, message string) {
	if r.end(ctx, cleaner, record, phase, reason, message) {
		r.tell(ctx, cleaner, record, notify.Message{Run: record}.Told())
	}
}

// flush saves the outcomes, also when the run was stopped.
func (r *Runner) flush(ctx context.Context, ledger *journal.Ledger) {
	log := klog.FromContext(ctx)
	err := wait.PollUntilContextTimeout(context.WithoutCancel(ctx), recordRetry, recordTimeout, true, func(ctx context.Context) (bool, error) {
		err := guarded(ctx, func() error { return ledger.Flush(ctx) })
		if err != nil {
			log.Error(err, "Could not save the outcomes yet")
		}
		return err == nil || errors.Is(err, journal.ErrTaken) || errors.Is(err, journal.ErrGone), nil
	})
	if err != nil {
		log.Error(err, "Gave up saving the outcomes")
	}
}

// save writes the record, also when the run was stopped. It tries for a while: a record that stays behind reads as a run that
// goes on.
func (r *Runner) save(ctx context.Context, record *v1alpha1.CleanerRun, was v1alpha1.RunPhase) error {
	log := klog.FromContext(ctx)
	var err error
	gaveUp := wait.PollUntilContextTimeout(context.WithoutCancel(ctx), recordRetry, recordTimeout, true, func(ctx context.Context) (bool, error) {
		if err = guarded(ctx, func() error { return r.Journal.Save(ctx, record, was) }); err != nil {
			log.Error(err, "Could not write the record of the run yet")
		}
		return err == nil || errors.Is(err, journal.ErrTaken), nil
	})
	if gaveUp != nil {
		log.Error(gaveUp, "Gave up writing the record of the run")
	}
	return err
}

// objectName names an object in logs.
func objectName(o object.Object) klog.ObjectRef { return klog.KRef(o.Namespace, o.Name) }
