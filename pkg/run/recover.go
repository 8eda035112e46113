// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// Recover takes over a run whose operator went away while it touched objects, and brings it to its end. Of every victim whose
// outcome is not known it looks at the live object: of one that is gone nobody knows who deleted it; one that is still as it was
// judged is dealt with now; any other is left alone. With a reason to close, or without the Cleaner, nothing more is touched.
func (r *Runner) Recover(ctx context.Context, record *v1alpha1.CleanerRun, cleaner *v1alpha1.Cleaner, closing string) {
	err := guarded(ctx, func() error {
		r.finish(ctx, &remainder{runner: r, cleaner: cleaner, tells: cleaner, record: record, closing: closing, cause: "The operator went away while the run was acting"})
		return nil
	})
	if err != nil { // it is taken over again
		klog.FromContext(ctx).Error(err, "Could not bring a run to its end that was cut off", "run", record.Name)
	}
}

// finish takes the run over, and brings it to its end.
func (r *Runner) finish(ctx context.Context, rest *remainder) {
	cleaner, record := rest.cleaner, rest.record
	log := klog.FromContext(ctx)
	if err := r.Journal.TakeOver(ctx, record); err != nil {
		log.Error(err, "Could not take over a run that was cut off", "run", record.Name)
		return
	}
	log.Info("Took over a run that was cut off", "run", record.Name)
	if cleaner != nil && rest.closing == "" {
		rest.closing = cmp.Or(r.lacksAccount(record.Spec.ServiceAccountRef), r.wrongClock(), r.tooLate(cleaner, record))
	}
	ctx, stop := rest.limit(ctx)
	defer stop()
	who, fault := r.identity(record.Spec.ServiceAccountRef)
	ledger, intents, known, err := r.resume(ctx, record)
	if err != nil && mayPass(err) {
		log.Error(err, "Could not read what a run that was cut off was going to touch; it is taken up again", "run", record.Name)
		return
	}
	if err = errors.Join(fault, err); err != nil {
		r.endAndTell(ctx, rest.tells, record, v1alpha1.RunInterrupted, v1alpha1.ReasonFailed, v1alpha1.Truncate(fmt.Sprintf(
			"%s, and what it was going to touch cannot be read: %s. The objects listed as %s may have been dealt with or not.",
			rest.cause, oneLine(err), v1alpha1.OutcomePlanned), maxMessage))
		return
	}
	rest.who, rest.progress = who, r.startProgress(ctx, record, metrics.StageAct, len(intents))
	defer rest.progress.end()
	outcomes, err := rest.settleAll(ctx, ledger, intents, known)
	rest.progress.stop()
	rest.progress.enter(metrics.StageRecord, 0)
	if err != nil {
		log.Info("Left a run that was cut off to the next leader", "run", record.Name, "cause", err.Error())
		return
	}
	r.flush(ctx, ledger)
	found := counted(record, outcomes)
	journal.Settle(record, outcomes)
	phase, reason, message := rest.conclude(outcomes)
	switch unsaved := r.close(ctx, rest.tells, record, phase, reason, message); {
	case unsaved == nil:
		r.Metrics.ObjectsHandled(record, found)
		r.Metrics.ObjectsFound(record, found)
	case errors.Is(unsaved, journal.ErrTaken):
		return
	}
	rest.progress.enter(metrics.StageTell, 0)
	r.tell(ctx, rest.tells, record, outcomes)
}

// Close brings a run that was cut off, and that its Cleaner does not wait for any more, to its end without touching anything more.
func (r *Runner) Close(ctx context.Context, record *v1alpha1.CleanerRun) {
	ctx, cancel := r.limit(forCleaner(ctx, record.Spec.Cleaner), MaxDuration, &deadlineError{MaxDuration})
	defer cancel()
	if record.Status.Phase == v1alpha1.RunExecuting {
		r.Recover(ctx, record, nil, "its Cleaner was deleted, or does not wait for it any more")
		return
	}
	r.end(ctx, nil, record, v1alpha1.RunInterrupted, v1alpha1.ReasonFailed, "The operator went away before the run touched anything.")
}

// remainder is what is left of a run that was cut off.
type remainder struct {
	runner   *Runner
	who      identity
	progress *progress
	cleaner  *v1alpha1.Cleaner
	record   *v1alpha1.CleanerRun
	// tells is the Cleaner by whose notifications the end is told. Nil when it is gone.
	tells *v1alpha1.Cleaner
	// cause is the beginning of a sentence: why the run was cut off.
	cause string
	// failed is true when it was by a fault of the operator's.
	failed bool
	// closing says why nothing more is touched; closingErr is the same of a fault. With neither, the run goes on.
	closing    string
	closingErr error
	// late is set when that is because the run took too long.
	late       *deadlineError
	namespaces map[string]*metav1.ObjectMeta
}

func (m *remainder) outcome(intent *journal.Intent, result v1alpha1.OutcomeResult, detail string) object.Outcome {
	return object.Outcome{
		Verdict: object.Verdict{Candidate: object.Candidate{Object: intent.Object(), Message: intent.Message}},
		Result:  result, Detail: detail,
	}
}

// settle finds out what became of a victim, and deals with it if nothing did.
func (m *remainder) settle(ctx context.Context, intent *journal.Intent) object.Outcome {
	live, err := m.who.actor.Live(ctx, intent.Object())
	switch {
	case err != nil:
		return m.unread(ctx, intent, err)
	case m.record.Spec.Action == v1alpha1.ActionDelete && (live == nil || live.UID != intent.UID):
		return m.outcome(intent, v1alpha1.OutcomeFoundGone, recovered)
	case m.record.Spec.Action == v1alpha1.ActionDelete && live.Deleting:
		return m.outcome(intent, v1alpha1.OutcomeTerminating, recovered+"; "+action.Ending(*live))
	case live == nil:
		return m.outcome(intent, v1alpha1.OutcomeGone, "")
	case live.UID != intent.UID:
		return m.outcome(intent, v1alpha1.OutcomeReplaced, "it was created again under the same name")
	}
	if m.record.Spec.Action == v1alpha1.ActionTransform {
		holds, err := object.Holds(*live, intent.Patch)
		if err == nil && holds {
			return m.outcome(intent, v1alpha1.OutcomeTransformed, recovered)
		}
	}
	if live.ResourceVersion != intent.ResourceVersion {
		return m.outcome(intent, v1alpha1.OutcomeAbandoned, changedAway)
	}
	return m.resume(ctx, intent, *live)
}

const (
	// recovered is the detail of an outcome that was found out from the live object.
	recovered = "found out after the run had been cut off"
	// changedAway is why an object was left alone that is not as it was judged.
	changedAway = "it changed while the operator was away; the next run judges it again"
)

// resume deals with a victim that is as it was judged.
func (m *remainder) resume(ctx context.Context, intent *journal.Intent, live object.Object) object.Outcome {
	switch {
	case m.closingErr != nil:
		return m.outcome(intent, v1alpha1.OutcomeAbandoned, m.closingErr.Error())
	case m.closing != "":
		return m.outcome(intent, v1alpha1.OutcomeAbandoned, m.closing)
	}
	verdict := object.Verdict{Candidate: object.Candidate{Object: live, Message: intent.Message}, Act: true}
	reason, err := m.runner.Protection.Reason(live, m.namespaces[live.Namespace])
	switch {
	case err != nil:
		return m.outcome(intent, v1alpha1.OutcomeAbandoned, err.Error())
	case reason != "":
		return m.outcome(intent, v1alpha1.OutcomeProtected, reason)
	case !m.inScope(live):
		return m.outcome(intent, v1alpha1.OutcomeAbandoned, "namespace "+live.Namespace+" is not selected any more")
	}
	changed := func(_ context.Context, now object.Object) (object.Verdict, map[string]any, error) {
		return object.Verdict{
			Candidate: object.Candidate{Object: now, Message: intent.Message}, Skip: v1alpha1.OutcomeAbandoned,
			Reason: changedAway,
		}, nil, nil
	}
	if m.record.Spec.Action == v1alpha1.ActionTransform {
		return m.who.actor.Transform(ctx, verdict, intent.Patch, changed)
	}
	if m.record.Spec.Action != v1alpha1.ActionDelete {
		return action.Failed(verdict, noSuchAction(m.record))
	}
	return m.who.actor.Delete(ctx, verdict, m.cleaner.Spec.DeleteOptions, changed)
}

// inScope reports whether the object's namespace is still one that the Cleaner selects.
func (m *remainder) inScope(live object.Object) bool {
	if live.Namespace == "" {
		return true
	}
	return slices.ContainsFunc(m.cleaner.Spec.ResourcePolicySet.ResourceSelectors, func(spec v1alpha1.ResourceSelector) bool {
		if spec.Kind != live.Kind.Kind || spec.Group != live.Kind.Group {
			return false
		}
		s, err := selector.New(0, spec, selector.Judge{}, m.runner.Clock.Now())
		return err == nil && s.SelectsNamespace(live.Namespace, labelsOf(m.namespaces[live.Namespace]))
	})
}

// conclude says how the run ended.
func (m *remainder) conclude(outcomes []object.Outcome) (v1alpha1.RunPhase, string, string) {
	what := "and the run was gone on with"
	left := slices.ContainsFunc(outcomes, func(o object.Outcome) bool { return o.Result == v1alpha1.OutcomeAbandoned })
	if closing := m.closing; closing != "" && !left && !m.failed {
		what = "when it had dealt with everything"
	} else if closing != "" {
		what = "and the run was not gone on with: " + closing
	} else if m.closingErr != nil {
		what = "and the run could not be gone on with: " + oneLine(m.closingErr)
	}
	if m.late != nil && left {
		what += "; " + m.late.wayOut(selectLess)
	}
	message := fmt.Sprintf("%s, %s. %s", m.cause, what, touchedWords(m.record, outcomes))
	phase, reason := v1alpha1.RunCompleted, v1alpha1.ReasonCompleted
	if m.failed {
		return v1alpha1.RunFailed, v1alpha1.ReasonFailed, v1alpha1.Truncate(message, maxMessage)
	}
	for i := range outcomes {
		switch {
		case outcomes[i].Result.IsFailure():
			phase, reason = v1alpha1.RunFailed, reasonOf(outcomes[i], v1alpha1.ReasonPartiallyFailed)
			message += fmt.Sprintf(" The first failure was on %s: %s", outcomes[i].Object, outcomes[i].Detail)
			return phase, reason, v1alpha1.Truncate(message, maxMessage)
		case outcomes[i].Detail == changedAway: // left alone as in any run
		case outcomes[i].Result == v1alpha1.OutcomeAbandoned, outcomes[i].Result == v1alpha1.OutcomeInterrupted:
			phase = v1alpha1.RunInterrupted
			if reason != v1alpha1.ReasonForbidden {
				reason = reasonFor(outcomes[i].Err, m.stopReason())
			}
		}
	}
	return phase, reason, v1alpha1.Truncate(message, maxMessage)
}
