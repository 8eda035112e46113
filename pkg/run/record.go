// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"iter"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/recheck"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
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
	// Lacks says why a run as the account must not be sent to anybody. Empty if it may.
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
	list := slices.Concat(out.list, v.notEvaluated)
	if record.Status.Plan = planned(t, out.plan, s.Clock.Now()); record.Status.Plan != nil {
		journal.DescribePlan(record, v.considered, list, out.plan)
	} else {
		journal.Describe(record, v.considered, list, out.rest)
	}
	unstored := s.Journal.KeepOthers(ctx, record, list, out.rest)
	if out.whyIncomplete() == nil {
		journal.DescribeMissing(record, out.decision.missing)
	}
	record.Status.Exhausted = out.exhausted()
	phase, reason, message := conclude(t, out, stopped)
	message = v1alpha1.Truncate(message+unstored, maxMessage)
	if !s.closeWith(ctx, t.cleaner, t, out.ledger, phase, reason, message, func() { s.count(t, out, stopped) }) {
		return false
	}
	log := klog.FromContext(ctx).
		WithValues("reason", reason, "considered", record.Status.Considered, "matched", record.Status.Matched,
			"acted", record.Status.Acted, "skipped", record.Status.Skipped, "failed", record.Status.Failed, "duration",
			record.Status.Duration.Duration.String())
	if phase.Good() {
		log.Info("Run completed", "action", record.Spec.Action)
	} else {
		log.Info("Run did not complete", "action", record.Spec.Action, "message", message)
	}
	return true
}

// outgrew reports whether an error is that the run's scripts need more memory than it has. Then it begins anew with
// more, and its record says that it waits for that.
func (s Record) outgrew(ctx context.Context, t *task, err error) bool {
	if !t.mayBeginAnew(err) || context.Cause(ctx) != nil {
		return false
	}
	klog.FromContext(ctx).Info("Run needs more memory for its scripts, and starts again", "had", t.request.Memory)
	t.progress.StopShowing()
	shown := v1alpha1.RunProgress{Phase: v1alpha1.ProgressWaiting, UpdateTime: metav1.NewTime(s.Clock.Now())}
	_ = s.showProgress(ctx, journal.HolderOf(t.record), shown) // whoever looks sees it late
	t.request.Outgrown()
	return true
}

// close ends a run that has no outcomes but those in its record.
func (s Record) close(ctx context.Context, t *task, r *refusal) bool {
	return s.closeWith(ctx, t.cleaner, t, nil, r.phase, r.reason, r.message, func() {
		if r.unread {
			s.Metrics.RunAborted(t.record, metrics.AbortViewIncomplete)
		}
	})
}

// closeWith ends the record and writes it after the outcomes, with the notifications that are due. It calls count when
// it is written, and returns whether it is.
func (s Record) closeWith(
	ctx context.Context,
	notifies *v1alpha1.Cleaner,
	t *task,
	ledger *journal.Ledger,
	phase v1alpha1.RunPhase,
	reason, message string,
	count func(),
) bool {
	was := t.record.Status.Phase
	s.Journal.End(t.record, phase, reason, message)
	if t.record.Status.Notifications = nil; s.Lacks(t.record.Spec.ServiceAccountRef) == "" { // else only status says so
		t.record.Status.Notifications = notify.Due(notifies, t.record)
	}
	switch err := s.Journal.SavePatiently(ctx, t.record, was, ledger); {
	case errors.Is(err, journal.ErrGone):
		t.gone = err
		return false
	case err != nil:
		return false
	}
	count()
	return true
}

// leftover is what an operator before has left of a run that it had begun to carry out.
type leftover struct {
	ledger  *journal.Ledger
	victims []journal.Victim
	known   map[int]journal.SavedOutcome
	// decides decide once more on what was decided by more than the victims themselves, and ended are the counts that
	// they end.
	decides []recheck.Decide
	ended   *ended
}

// candidates are the victims.
func (l *leftover) candidates() iter.Seq[stage.Candidate] {
	return func(yield func(stage.Candidate) bool) {
		for i := range l.victims {
			if !yield(l.victims[i].Candidate) {
				return
			}
		}
	}
}

// outcome is what is known to have become of the i-th victim.
func (l *leftover) outcome(i int) stage.Outcome {
	outcome := stage.Outcome{Verdict: stage.Verdict{Candidate: l.victims[i].Candidate}, Result: v1alpha1.OutcomePlanned}
	if saved, ok := l.known[i]; ok {
		outcome.Result, outcome.Detail = saved.Outcome, saved.Reason
		if saved.Message != "" {
			outcome.Message = saved.Message
		}
	}
	return outcome
}

// resume opens the ledger of a run that was taken over. It tries for a while: what is not read is never reported.
func (s Record) resume(ctx context.Context, record *v1alpha1.CleanerRun, memory *selector.Share) (*leftover, error) {
	l := &leftover{}
	var err error
	tried := func(ctx context.Context) (bool, error) {
		var intents []journal.Intent
		memory.Release()
		l.ledger, intents, l.known, err = s.Journal.Resume(ctx, record, memory.Intent)
		l.victims = make([]journal.Victim, len(intents))
		for i := range intents {
			l.victims[i] = intents[i].Victim()
		}
		var tooMuch *selector.MemoryError
		return err == nil || errors.Is(err, journal.ErrNoPart) || errors.As(err, &tooMuch), nil
	}
	_ = wait.PollUntilContextTimeout(ctx, journal.SaveRetry, journal.SaveTimeout, true, tried)
	return l, err
}
