// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// one is one victim in hand, or what all of a run have in common.
type one struct {
	runner      *Runner
	cleaner     *v1alpha1.Cleaner
	record      *v1alpha1.CleanerRun
	expressions *expressions
	plan        *plan
	ledger      *journal.Ledger
	victim      journal.Victim
}

// actOn deletes or changes the object. A panic is this object's failure.
func (o *one) actOn(ctx context.Context, verdict object.Verdict) (outcome object.Outcome) {
	log := klog.FromContext(ctx).WithValues("kind", verdict.Kind.Kind, "object", objectName(verdict.Object))
	defer func() {
		if p := recover(); p != nil {
			log.Error(fmt.Errorf("%v", p), "Acting on an object panicked", "stack", string(debug.Stack()))
			outcome = object.Outcome{Verdict: verdict, Result: v1alpha1.OutcomeFailed, Detail: "a fault of KubeCleaner; please report it with the operator's log"}
		}
	}()
	switch {
	case !verdict.Act: // protected since it was judged
		return object.Outcome{Verdict: verdict, Result: verdict.Skip, Detail: verdict.Reason}
	case o.record.Spec.Action == v1alpha1.ActionTransform:
		outcome = o.plan.who.actor.Transform(ctx, verdict, o.victim.Patch, o.again)
		outcome.Message = cmp.Or(o.expressions.messageOf(verdict.Object), outcome.Message)
	case o.record.Spec.Action == v1alpha1.ActionDelete:
		outcome = o.plan.who.actor.Delete(ctx, verdict, o.cleaner.Spec.DeleteOptions, o.again)
	default: // nothing is ever deleted because nothing else was asked for
		return action.Failed(verdict, noSuchAction(o.record))
	}
	stopped := context.Cause(ctx)
	switch {
	case stopped != nil && errors.Is(outcome.Err, stopped): // its script had not come to an end: nothing was sent
		outcome.Result, outcome.Err = v1alpha1.OutcomePlanned, nil
	case errors.Is(outcome.Err, journal.ErrTaken): // nor here: this operator may not write any more
		outcome.Result = v1alpha1.OutcomePlanned
	case outcome.Err != nil:
		log.Error(errors.New(outcome.Detail), "Could not act on resource", "action", o.record.Spec.Action)
	case outcome.Handled(o.record.Spec.Action):
		log.Info("Acted on resource", "outcome", outcome.Result, "message", outcome.Message)
	default:
		log.Info("Left resource alone", "outcome", outcome.Result, "reason", outcome.Detail)
	}
	return outcome
}

// again judges the live object as the run judged it before, protection included, and copies it as it is now. The patch is what a
// Transform sends to it.
func (o *one) again(ctx context.Context, live object.Object) (object.Verdict, map[string]any, error) {
	before := o.victim.Candidate
	next := object.Verdict{Candidate: object.Candidate{Object: live, Selector: before.Selector, Message: before.Message}}
	next.Skip = v1alpha1.OutcomeChanged
	if o.plan.aggregated {
		next.Reason = "it changed since it was judged together with the others; the next run judges it again"
		return next, nil, nil
	}
	scope := o.plan.selections[before.Selector].Scope
	matches, message, err := o.plan.selectors[before.Selector].Again(ctx, live, scope)
	if err != nil {
		return next, nil, err
	}
	if !matches {
		next.Reason = "it changed since it was judged, and does not match any more"
		return next, nil, nil
	}
	klog.FromContext(ctx).V(1).Info("Resource changed and still matches", "object", objectName(live))
	next.Act, next.Skip, next.Message = true, "", message
	// Its namespace may have changed, too, in what it protects and in what selects it.
	namespaces, err := o.runner.Reader.Namespaces(ctx, slices.DeleteFunc([]string{live.Namespace}, func(name string) bool { return name == "" }))
	if err != nil {
		return next, nil, fmt.Errorf("finding out whether the namespace is protected: %w", err)
	}
	if err := o.runner.protectOne(o.plan, &next, namespaces[live.Namespace]); err != nil || !next.Act {
		return next, nil, err
	}
	victim := journal.Victim{Candidate: next.Candidate}
	if o.record.Spec.Action == v1alpha1.ActionTransform {
		victim.Patch, err = o.expressions.change(ctx, live)
		if err != nil || len(victim.Patch) == 0 {
			return next, nil, err
		}
		if reason := guard.Consent(live.Kind, victim.Patch, o.cleaner.Spec.TransformOptions); reason != "" {
			next.Act, next.Skip, next.Reason = false, v1alpha1.OutcomeProtected, reason
			return next, nil, nil
		}
	}
	return next, victim.Patch, o.ledger.CopyAgain(ctx, victim)
}

// noSuchAction is of a record that asks for nothing that a run can do.
func noSuchAction(record *v1alpha1.CleanerRun) error {
	return fmt.Errorf("a fault of KubeCleaner, please report it: the run's action is %q", record.Spec.Action)
}
