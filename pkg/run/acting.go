// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/recheck"
)

// parallel is how many objects a run acts on at once.
const parallel = 16

// acting deals with the victims of one run: with those that were judged just now, and with those of a run that is taken
// over.
type acting struct {
	task       *task
	protection guard.Protection
	guards     guards
	ledger     *journal.Ledger
	victims    []journal.Victim
	// outcomes are what became of each victim. What is Planned is still to be dealt with.
	outcomes []stage.Outcome
	// again judges a victim that changed since it was judged.
	again func(victim journal.Victim) action.Again
	// reread is the second decision on the victims. Nil when there is none.
	reread *recheck.Decision
	// looks says that an operator before may have touched the victims: each is looked at first.
	looks bool
	// closing says why nothing more is touched, and the victims are only looked at.
	closing error
}

// all deals with every victim that is still Planned, and returns why it did not come to all.
func (a *acting) all(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	workqueue.ParallelizeUntil(ctx, parallel, len(a.victims), func(i int) {
		if a.outcomes[i].Result != v1alpha1.OutcomePlanned {
			return
		}
		outcome := a.one(ctx, a.victims[i])
		a.outcomes[i].Unclear = outcome.Unclear
		err := outcome.Err
		if outcome.Result != v1alpha1.OutcomePlanned {
			a.outcomes[i] = outcome
			a.task.progress.Did()
			err = fault.Logged(ctx, func() error { return a.ledger.Record(ctx, i, outcome) })
		}
		if journal.IsTaken(err) || recheck.Is(err) {
			stop(err)
		}
	})
	return context.Cause(ctx)
}

// one deals with one victim. What it leaves Planned is untouched: the run was stopped, or is another operator's. A
// panic is the object's failure.
func (a *acting) one(ctx context.Context, victim journal.Victim) (outcome stage.Outcome) {
	log := klog.FromContext(ctx).WithValues("kind", victim.Kind.Kind, "object", objectName(victim.Object))
	verdict := stage.Verdict{Candidate: victim.Candidate, Act: true}
	err := fault.Logged(ctx, func() error { outcome = a.touch(ctx, victim, verdict); return nil })
	stopped := context.Cause(ctx)
	switch {
	case err != nil:
		return stage.Outcome{Verdict: verdict, Result: v1alpha1.OutcomeFailed, Detail: fault.Words}
	case stopped != nil && errors.Is(outcome.Err, stopped),
		journal.IsTaken(outcome.Err),
		recheck.Is(outcome.Err): // nothing was sent
		outcome.Result = v1alpha1.OutcomePlanned
	case outcome.Err != nil:
		log.Error(errors.New(outcome.Detail), "Could not act on resource", "action", a.task.action)
	case outcome.Handled(a.task.action):
		log.Info("Acted on resource", "outcome", outcome.Result, "message", outcome.Message)
	default:
		log.Info("Left resource alone", "outcome", outcome.Result, "reason", outcome.Detail)
	}
	return outcome
}

func (a *acting) touch(ctx context.Context, victim journal.Victim, verdict stage.Verdict) stage.Outcome {
	if a.looks {
		live, settled := a.look(ctx, victim, verdict)
		if settled != nil {
			return *settled
		}
		verdict.Object = *live
		if r := a.ownRuling(*live); r != nil {
			return settledBy(verdict, r)
		}
	}
	if r := a.guards.against(verdict); r != nil {
		return settledBy(verdict, r)
	}
	actor := a.task.who.Actor
	if a.reread != nil {
		hold := a.reread.Hold(verdict.Candidate)
		defer hold.Leave()
		switch why, err := hold.Renew(ctx); {
		case err != nil:
			return stage.Outcome{Verdict: verdict, Err: err}
		case why != "":
			return settledBy(verdict, changed(why))
		}
		actor = actor.While(hold)
	}
	switch again := a.again(victim); a.task.action {
	case v1alpha1.ActionTransform:
		return actor.Transform(ctx, verdict, victim.Patch, again)
	case v1alpha1.ActionDelete:
		return a.foundGone(actor.Delete(ctx, verdict, a.task.cleaner.Spec.DeleteOptions, again))
	}
	// Nothing is ever deleted because nothing else was asked for.
	return action.Failed(
		verdict,
		fmt.Errorf("a fault of KubeCleaner, please report it: the run's action is %q", a.task.action),
	)
}

// foundGone corrects the outcome of a delete in a run that was taken over: an object that is gone may have been deleted
// by the operator before, whose request came late.
func (a *acting) foundGone(outcome stage.Outcome) stage.Outcome {
	if a.looks && (outcome.Result == v1alpha1.OutcomeGone || outcome.Result == v1alpha1.OutcomeReplaced) {
		outcome.Result, outcome.Detail = v1alpha1.OutcomeFoundGone, recovered
	}
	return outcome
}

// ownRuling says why nothing more is touched, or why the live object is protected by what it is itself.
func (a *acting) ownRuling(live object.Object) *ruling {
	if a.closing != nil {
		return &ruling{result: v1alpha1.OutcomeAbandoned, detail: a.closing.Error()}
	}
	switch reason, err := a.protection.Own(a.task.action, live); {
	case err != nil:
		return &ruling{result: v1alpha1.OutcomeAbandoned, detail: err.Error()}
	case reason != "":
		return &ruling{result: v1alpha1.OutcomeProtected, detail: reason}
	}
	return nil
}

func settledBy(verdict stage.Verdict, r *ruling) stage.Outcome {
	verdict.Act, verdict.Skip, verdict.Reason = false, r.result, r.detail
	return stage.Outcome{Verdict: verdict, Result: r.result, Detail: r.detail, Err: r.err}
}

// judgeAgain judges an object that changed as the run judged it before, protection included, and copies it as it is
// now. The patch is what a Transform sends to it.
func (s Act) judgeAgain(t *task, in *intent) func(journal.Victim) action.Again {
	return func(victim journal.Victim) action.Again {
		return func(ctx context.Context, live object.Object) (stage.Verdict, object.JSON, error) {
			next := stage.Verdict{Candidate: victim.Candidate, Act: true}
			next.Object = live
			r, err := s.rejudge(ctx, t, in.decision.view, in.decision.cascade, &next)
			if err != nil || r != nil {
				return withRuling(next, r), nil, err
			}
			klog.FromContext(ctx).V(1).Info("Resource changed and still matches", "object", objectName(live))
			var patch object.JSON
			if t.action == v1alpha1.ActionTransform {
				var message string
				patch, message, err = t.engine.Change(ctx, live)
				if message != "" {
					next.Message = object.WithManager(message, object.ManagerIn(next.Message))
				}
				if err != nil || len(patch) == 0 {
					return next, nil, err
				}
				if r := t.unplanned(&journal.Victim{Candidate: next.Candidate, Patch: patch}); r != nil {
					return withRuling(next, r), nil, nil
				}
				if reason := guard.Consent(live.Kind, patch, t.cleaner.Spec.TransformOptions); reason != "" {
					return withRuling(next, &ruling{result: v1alpha1.OutcomeProtected, detail: reason}), nil, nil
				}
			}
			return next, patch, in.ledger.CopyAgain(ctx, journal.Victim{Candidate: next.Candidate, Patch: patch})
		}
	}
}

// rejudge judges a live object anew, and says why it is left alone, if it is. It gives the verdict its new message.
func (s Act) rejudge(ctx context.Context, t *task, v *view, cascade *guard.Cascade, next *stage.Verdict) (
	*ruling, error,
) {
	if t.engine.Aggregate() != nil || t.cleaner.Spec.ResourcePolicySet.ResourceSelectors[next.Selector].Finding != nil {
		return changed("it changed since it was judged together with the others; the next run judges it again"), nil
	}
	matches, message, err := v.selectors[next.Selector].Again(ctx, next.Object, v.selections[next.Selector].Scope)
	if err != nil {
		return nil, err
	}
	if !matches {
		return changed("it changed since it was judged, and does not match any more"), nil
	}
	next.Message = message
	if reason, err := s.Protection.Own(t.action, next.Object); err != nil || reason != "" {
		return &ruling{result: v1alpha1.OutcomeProtected, detail: reason}, err
	}
	// Its namespace may have changed, too, in what it protects and in what selects it.
	namespaces, err := namespacesOf(ctx, s.Operator, namespacesIn([]journal.Victim{{Candidate: next.Candidate}}))
	if err != nil {
		return nil, err
	}
	return guards{action: t.action, selectors: v.selectors, namespaces: namespaces, cascade: cascade}.against(*next), nil
}

func withRuling(verdict stage.Verdict, r *ruling) stage.Verdict {
	if r != nil {
		verdict.Act, verdict.Skip, verdict.Reason = false, r.result, r.detail
	}
	return verdict
}
