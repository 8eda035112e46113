// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// parallel is how many objects a run acts on at once.
const parallel = 16

// act is stages 3 and 4: it writes down what is going to be touched, and touches it. It returns an outcome for each verdict,
// and the cause when nothing was touched because that could not be written down.
func (r *Runner) act(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, expressions *expressions, plan *plan) ([]object.Outcome, error) {
	outcomes := planned(plan)
	if plan.counts != nil && plan.incomplete == nil {
		if err := r.Journal.SaveCounts(ctx, cleaner, plan.counts, record.Name); err != nil {
			return untouched(outcomes, err), err
		}
	}
	if record.Spec.Action == v1alpha1.ActionScan {
		return found(ctx, outcomes), nil
	}
	var victims []int
	for i, verdict := range plan.verdicts {
		if verdict.Act {
			victims = append(victims, i)
		}
	}
	if stopped := context.Cause(ctx); len(victims) == 0 || stopped != nil {
		return untouched(outcomes, stopped), nil
	}
	if err := r.Journal.Intend(ctx, record, plan.considered, outcomes); err != nil {
		return untouched(outcomes, err), err
	}
	if err := r.protect(ctx, plan); err != nil { // once more, after the intent
		return untouched(outcomes, err), err
	}
	workqueue.ParallelizeUntil(ctx, parallel, len(victims), func(i int) {
		n := victims[i]
		outcomes[n] = r.actOn(ctx, cleaner, record, expressions, plan, plan.verdicts[n])
	})
	return untouched(outcomes, context.Cause(ctx)), nil
}

// planned are the outcomes so far: what is left alone, and what is still to be touched.
func planned(plan *plan) []object.Outcome {
	outcomes := make([]object.Outcome, len(plan.verdicts))
	for i, verdict := range plan.verdicts {
		outcomes[i] = object.Outcome{Verdict: verdict, Result: v1alpha1.OutcomePlanned}
		if !verdict.Act {
			outcomes[i].Result, outcomes[i].Detail = verdict.Skip, verdict.Reason
		}
	}
	return outcomes
}

// found are the outcomes of a Scan.
func found(ctx context.Context, outcomes []object.Outcome) []object.Outcome {
	log := klog.FromContext(ctx)
	for i := range outcomes {
		if outcomes[i].Result != v1alpha1.OutcomePlanned {
			continue
		}
		outcomes[i].Result = v1alpha1.OutcomeMatched
		o := outcomes[i]
		// k8s-cleaner documents this line for dry runs.
		log.Info("resource is a match for cleaner", "kind", o.Kind.Kind, "object", objectName(o.Object), "message", o.Message)
	}
	return outcomes
}

// untouched gives every object that the run did not come to the reason why.
func untouched(outcomes []object.Outcome, cause error) []object.Outcome {
	for i := range outcomes {
		if outcomes[i].Result == v1alpha1.OutcomePlanned {
			outcomes[i].Result = v1alpha1.OutcomeInterrupted
			outcomes[i].Detail = "the run was stopped before it came to this object"
			if cause != nil {
				outcomes[i].Detail += ": " + cause.Error()
			}
		}
	}
	return outcomes
}

// actOn deletes or changes one object. A panic is this object's failure.
func (r *Runner) actOn(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, expressions *expressions, plan *plan, verdict object.Verdict) (outcome object.Outcome) {
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
	case record.Spec.Action == v1alpha1.ActionTransform:
		outcome = r.Actor.Transform(ctx, verdict, expressions.change, r.again(plan, verdict))
		outcome.Message = cmp.Or(expressions.messageOf(verdict.Object), outcome.Message)
	default:
		outcome = r.Actor.Delete(ctx, verdict, cleaner.Spec.DeleteOptions, r.again(plan, verdict))
	}
	stopped := context.Cause(ctx)
	switch {
	case stopped != nil && errors.Is(outcome.Err, stopped): // its script had not come to an end: nothing was sent
		outcome.Result, outcome.Err = v1alpha1.OutcomePlanned, nil
	case outcome.Err != nil:
		log.Error(errors.New(outcome.Detail), "Could not act on resource", "action", record.Spec.Action)
	case outcome.Handled(record.Spec.Action):
		log.Info("Acted on resource", "outcome", outcome.Result, "message", outcome.Message)
	default:
		log.Info("Left resource alone", "outcome", outcome.Result, "reason", outcome.Detail)
	}
	return outcome
}

// again judges a live object as the run judged it before, protection included.
func (r *Runner) again(plan *plan, before object.Verdict) action.Again {
	return func(ctx context.Context, live object.Object) (object.Verdict, error) {
		next := object.Verdict{Candidate: object.Candidate{Object: live, Selector: before.Selector, Message: before.Message}}
		next.Skip = v1alpha1.OutcomeChanged
		if plan.aggregated {
			next.Reason = "it changed since it was judged together with the others; the next run judges it again"
			return next, nil
		}
		scope := plan.selections[before.Selector].Scope
		matches, message, err := plan.selectors[before.Selector].Again(ctx, live, scope)
		if err != nil {
			return next, err
		}
		if !matches {
			next.Reason = "it changed since it was judged, and does not match any more"
			return next, nil
		}
		klog.FromContext(ctx).V(1).Info("Resource changed and still matches", "object", objectName(live))
		next.Act, next.Skip, next.Message = true, "", message
		return next, r.protectOne(plan, &next)
	}
}
