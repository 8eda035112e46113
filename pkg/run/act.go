// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// Act is the stage that deletes and changes objects. No other stage writes to objects that are not the operator's own.
type Act struct {
	survey.Protected // as in Read
	// MaxActions is how many objects a run may act on, for runs that are taken over. Zero means any number.
	MaxActions int
	// Denials are what admission denied in the runs so far.
	Denials *action.Denials
	// Stop ends the acting before the next object.
	Stop  *stop.Switch
	Clock clock.PassiveClock
	// Stopping is the cause of a context that is cancelled because the operator stops: then the next leader finishes the
	// run.
	Stopping error
}

// act touches the victims of an intent, unless something came between.
func (s Act) act(ctx context.Context, t *task, in *intent) *outcomes {
	out := &outcomes{
		decision:   in.decision,
		list:       in.outcomes,
		rest:       none,
		fault:      in.fault,
		incomplete: in.incomplete,
		left:       in.left,
		ledger:     in.ledger,
		stored:     in.stored,
		ended:      in.ended,
	}
	switch {
	case out.left:
	case !t.acts():
		out.rest = in.decision.beyond(scanned(t.record))
	case in.plan != nil && in.fault == nil && context.Cause(ctx) == nil:
		out.plan = in.plan
	case in.ledger == nil || in.fault != nil || in.incomplete != nil:
		out.stopped = cmp.Or(context.Cause(ctx), in.stopped)
		out.list = in.settle(ctx, out.list, in.whyNotActed(out.stopped))
	default:
		s.actOn(ctx, t, in, out)
		s.Denials.Note(t.record, out.list, s.Clock.Now())
	}
	return out
}

// actOn touches the victims, and puts what becomes of them into the outcomes.
func (s Act) actOn(ctx context.Context, t *task, in *intent, out *outcomes) {
	if small := t.engine.Rest(); small && t.request.Lighten != nil {
		t.request.Lighten()
	}
	namespaces, err := namespacesOf(ctx, s.Operator, namespacesIn(in.victims)) // once more, after the intent
	if out.left = s.isStopping(ctx); out.left {
		return
	}
	if err != nil {
		out.fault = err
		out.list = in.settle(ctx, out.list, in.whyNotActed(nil))
		return
	}
	t.progress.Enter(metrics.StageAct, len(in.victims))
	a := &acting{
		task:       t,
		protection: s.Protection,
		ledger:     in.ledger,
		victims:    in.victims,
		guards: guards{
			action:     t.action,
			selectors:  in.decision.view.selectors,
			namespaces: namespaces,
			cascade:    in.decision.cascade,
		},
		again:  s.judgeAgain(t, in),
		reread: in.again,
	}
	for _, n := range in.places {
		a.outcomes = append(a.outcomes, in.outcomes[n])
	}
	on, end := s.Stop.WhileActing(ctx)
	out.stopped = a.all(on)
	end()
	out.list = slices.Clone(in.outcomes)
	for i, n := range in.places {
		out.list[n] = a.outcomes[i]
	}
	switch {
	case errors.Is(out.stopped, journal.ErrTaken):
		out.left = true
	case out.stopped != nil && errors.Is(out.stopped, s.Stopping):
		out.left = true
		in.ledger.FlushPatiently(ctx)
	default:
		out.list = in.settle(ctx, out.list, interruptedBy(out.stopped))
	}
}

// isStopping reports whether the operator stops: the next leader finishes the run.
func (s Act) isStopping(ctx context.Context) bool { return isCause(ctx, s.Stopping) }

// isCause reports whether a context was cancelled for a cause.
func isCause(ctx context.Context, cause error) bool {
	stopped := context.Cause(ctx)
	return stopped != nil && errors.Is(stopped, cause)
}

// whyNotActed is the ruling on what was going to be touched, and was not.
func (in *intent) whyNotActed(stopped error) *ruling {
	switch {
	case in.incomplete != nil:
		return &ruling{result: v1alpha1.OutcomeNotActed, detail: notAllRead}
	case in.fault == nil && stopped != nil:
		return interruptedBy(stopped)
	}
	return &ruling{result: v1alpha1.OutcomeNotActed, detail: notActedDetail}
}

// interruptedBy is the ruling on what the run did not come to.
func interruptedBy(cause error) *ruling {
	detail := "the run was stopped before it reached this object"
	if cause != nil {
		detail += ": " + cause.Error()
	}
	return &ruling{result: v1alpha1.OutcomeInterrupted, detail: detail}
}

// settle gives each outcome that is still Planned the ruling, and takes note of what became of every victim.
func (in *intent) settle(ctx context.Context, list []stage.Outcome, of *ruling) []stage.Outcome {
	list = slices.Clone(list)
	for i := range list {
		if list[i].Result == v1alpha1.OutcomePlanned {
			list[i].Result, list[i].Detail = of.result, of.detail
		}
	}
	if in.ledger == nil {
		return list
	}
	for i, n := range in.places {
		_ = fault.Logged(ctx, func() error { return in.ledger.Record(context.WithoutCancel(ctx), i, list[n]) })
	}
	return list
}

// namespacesIn are the names of the victims' namespaces.
func namespacesIn(victims []journal.Victim) []string {
	var names []string
	for i := range victims {
		if victims[i].Namespace != "" {
			names = append(names, victims[i].Namespace)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
