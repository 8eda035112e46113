// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/recheck"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

const (
	// recordTimeout bounds the writing of a record that nobody waits for any more; recordRetry is the time between two
	// tries.
	recordTimeout = 10 * time.Second
	recordRetry   = time.Second
	// maxRefused is how often a record is written that the API server refuses for another cause than that it is away.
	maxRefused = 10
)

// Record is the stage that writes down what a run intends, how far it has come, and what became of it.
type Record struct {
	Journal *journal.Journal
	Metrics *metrics.Metrics
	Clock   clock.WithTicker
	// CheckSchema says which fields of Cleaners the API server does not keep: then nothing is touched.
	CheckSchema CheckSchema
	// Stop says whether acting is off: then nothing is touched.
	Stop *stop.Switch
	// Lacks says why a run as the account must not be told to anybody. Empty if it may.
	Lacks func(account *v1alpha1.ServiceAccountRef) string
	// Stopping is the cause of a context that is cancelled because the operator stops: a run that has touched nothing is
	// then left for the next leader to carry out.
	Stopping error
}

// end writes down what became of every object, and of the run. It returns false when that is not written: then the
// record says what becomes of the run. stopped is why the run was stopped, if it was.
func (s Record) end(ctx context.Context, t *task, out *outcomes, stopped error) bool {
	t.progress.StopShowing()
	t.progress.Enter(metrics.StageRecord, 0)
	record, v := t.record, out.decision.view
	journal.Describe(record, v.considered, slices.Concat(out.list, v.notEvaluated), out.rest)
	record.Status.Exhausted = out.exhausted()
	phase, reason, message := conclude(t, out, stopped)
	if !s.closeWith(ctx, t.cleaner, t, phase, reason, message, func() { s.count(t, out, stopped) }) {
		return false
	}
	log := klog.FromContext(ctx).
		WithValues("reason", reason, "considered", record.Status.Considered, "matched", record.Status.Matched,
			"acted", record.Status.Acted, "skipped", record.Status.Skipped, "failed", record.Status.Failed, "duration",
			record.Status.Duration.Duration.String())
	if phase == v1alpha1.RunCompleted {
		log.Info("Run completed", "action", record.Spec.Action)
	} else {
		log.Info("Run did not complete", "action", record.Spec.Action, "message", message)
	}
	return true
}

// outgrew reports whether an error is that the run's scripts need more memory than it has. Then it begins anew with
// more, and its record says that it waits for that.
func (s Record) outgrew(ctx context.Context, t *task, err error) bool {
	if !isOutgrown(err) || t.request.Outgrown == nil || context.Cause(ctx) != nil {
		return false
	}
	klog.FromContext(ctx).Info("Run needs more memory for its scripts, and begins anew", "had", t.request.Memory)
	t.progress.StopShowing()
	shown := v1alpha1.RunProgress{Phase: v1alpha1.ProgressWaiting, UpdateTime: metav1.NewTime(s.Clock.Now())}
	_ = s.showProgress(ctx, journal.HolderOf(t.record), shown) // whoever looks sees it late
	t.request.Outgrown()
	return true
}

// close ends a run that has no outcomes but those in its record.
func (s Record) close(ctx context.Context, t *task, r *refusal) bool {
	return s.closeWith(ctx, t.cleaner, t, r.phase, r.reason, r.message, func() {
		if r.unread {
			s.Metrics.RunAborted(t.record, metrics.AbortViewIncomplete)
		}
	})
}

// closeWith ends the record and writes it, with the notifications that are due. It calls count when it is written, and
// returns whether it is.
func (s Record) closeWith(
	ctx context.Context,
	tells *v1alpha1.Cleaner,
	t *task,
	phase v1alpha1.RunPhase,
	reason, message string,
	count func(),
) bool {
	was := t.record.Status.Phase
	s.Journal.End(t.record, phase, reason, message)
	if t.record.Status.Notifications = nil; s.Lacks(t.record.Spec.ServiceAccountRef) == "" { // else only status says so
		t.record.Status.Notifications = notify.Due(tells, t.record)
	}
	switch err := s.save(ctx, t.record, was); {
	case errors.Is(err, journal.ErrGone):
		t.gone = err
		return false
	case err != nil:
		return false
	}
	count()
	return true
}

// save writes the record. It tries for as long as somebody waits for the run, and for a while after that: what is not
// written is not told, and is found out anew by the next operator.
func (s Record) save(ctx context.Context, record *v1alpha1.CleanerRun, was v1alpha1.RunPhase) error {
	log := klog.FromContext(ctx)
	patience, cancel := patienceOf(ctx)
	defer cancel()
	var err error
	refused := 0
	gaveUp := wait.PollUntilContextCancel(patience, recordRetry, true, func(ctx context.Context) (bool, error) {
		trying, cancel := context.WithTimeout(ctx, recordTimeout)
		defer cancel()
		err = fault.Logged(ctx, func() error { return s.Journal.Save(trying, record, was) })
		if err == nil || isTaken(err) {
			return true, nil
		}
		log.Error(err, "Could not write the record of the run yet")
		if !mayPass(err) {
			refused++
		}
		return refused == maxRefused, nil
	})
	if gaveUp != nil {
		log.Error(gaveUp, "Gave up writing the record of the run")
	}
	return err
}

// mayPass reports whether an error says something of the API server, or of the way to it, and nothing of what was asked
// for.
func mayPass(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		code := status.Status().Code
		return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
	}
	var way *url.Error
	return errors.As(err, &way) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Save writes the record of a run that has ended, once more. It tries for a while.
func (s Record) Save(ctx context.Context, record *v1alpha1.CleanerRun) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel() // nobody waits for it
	return s.save(ctx, record, record.Status.Phase)
}

// patienceOf is a context that ends some time after another one.
func patienceOf(ctx context.Context) (context.Context, context.CancelFunc) {
	patience, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(recordTimeout, cancel)
		context.AfterFunc(patience, func() { timer.Stop() })
	})
	return patience, func() { stop(); cancel() }
}

// flush saves the outcomes, also when the run was stopped.
func flush(ctx context.Context, ledger *journal.Ledger) {
	log := klog.FromContext(ctx)
	err := wait.PollUntilContextTimeout(
		context.WithoutCancel(ctx),
		recordRetry,
		recordTimeout,
		true,
		func(ctx context.Context) (bool, error) {
			err := fault.Logged(ctx, func() error { return ledger.Flush(ctx) })
			if err != nil {
				log.Error(err, "Could not save the outcomes yet")
			}
			return err == nil || isTaken(err), nil
		},
	)
	if err != nil {
		log.Error(err, "Gave up saving the outcomes")
	}
}

// leftover is what an operator before has left of a run that it had begun to carry out.
type leftover struct {
	ledger  *journal.Ledger
	victims []journal.Victim
	known   map[int]journal.SavedOutcome
	// again decides once more on what was decided by findings. Nil when nothing was.
	again *recheck.Decision
}

// outcome is what is known to have become of the i-th victim.
func (l *leftover) outcome(i int) object.Outcome {
	outcome := object.Outcome{Verdict: object.Verdict{Candidate: l.victims[i].Candidate}, Result: v1alpha1.OutcomePlanned}
	if saved, ok := l.known[i]; ok {
		outcome.Result, outcome.Detail = saved.Outcome, saved.Reason
		if saved.Message != "" {
			outcome.Message = saved.Message
		}
	}
	return outcome
}

// resume opens the ledger of a run that was taken over. It tries for a while: what is not read is never told.
func (s Record) resume(ctx context.Context, record *v1alpha1.CleanerRun, memory *selector.Share) (*leftover, error) {
	l := &leftover{}
	var err error
	_ = wait.PollUntilContextTimeout(ctx, recordRetry, recordTimeout, true, func(ctx context.Context) (bool, error) {
		var intents []journal.Intent
		memory.Release()
		l.ledger, intents, l.known, err = s.Journal.Resume(ctx, record, memory.Intent)
		l.victims = make([]journal.Victim, len(intents))
		for i := range intents {
			l.victims[i] = intents[i].Victim()
		}
		var tooMuch *selector.MemoryError
		return err == nil || errors.Is(err, journal.ErrNoPart) || errors.As(err, &tooMuch), nil
	})
	return l, err
}
