// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

const (
	// recovered is the detail of an outcome that was found out from the live object.
	recovered = "found out after the run had been cut off"
	// changedAway is why an object was left alone that is not as it was judged.
	changedAway = "it changed while no operator was running; the next run judges it again"
)

// look finds out what an operator before did to a victim: of one that is gone nobody knows who deleted it. It returns
// the live object when that is still as it was judged, and else the outcome.
func (a *acting) look(ctx context.Context, victim journal.Victim, verdict stage.Verdict) (
	*object.Object, *stage.Outcome,
) {
	live, err := a.task.who.Actor.Live(ctx, victim.Object)
	if err != nil {
		return nil, unread(ctx, verdict, err)
	}
	if outcome := a.settledBefore(live, victim, verdict); outcome != nil {
		return nil, outcome
	}
	return live, nil
}

// settledBefore is what an operator before did, by the live object. Nil when that is still as it was judged.
func (a *acting) settledBefore(live *object.Object, victim journal.Victim, verdict stage.Verdict) *stage.Outcome { //nolint:cyclop // a flat list of what it may be
	deletes := a.task.action == v1alpha1.ActionDelete
	outcome := &stage.Outcome{Verdict: verdict}
	replaced := live != nil && live.UID != victim.UID
	switch {
	case deletes && (replaced || live == nil):
		outcome.Result, outcome.Detail = v1alpha1.OutcomeFoundGone, recovered
	case live == nil:
		outcome.Result = v1alpha1.OutcomeGone
	case replaced:
		outcome.Result, outcome.Detail = v1alpha1.OutcomeReplaced, "it was created again under the same name"
	case deletes && live.Deleting:
		outcome.Result, outcome.Detail = v1alpha1.OutcomeTerminating, recovered+"; "+action.Ending(*live)
	case a.holds(*live, victim):
		outcome.Result, outcome.Detail = v1alpha1.OutcomeTransformed, recovered
	case live.ResourceVersion != victim.ResourceVersion:
		outcome.Result, outcome.Detail = v1alpha1.OutcomeAbandoned, changedAway
	default:
		return nil
	}
	return outcome
}

// holds reports whether the live object is as a Transform makes it.
func (a *acting) holds(live object.Object, victim journal.Victim) bool {
	if a.task.action != v1alpha1.ActionTransform {
		return false
	}
	holds, err := object.Holds(live, victim.Patch)
	return err == nil && holds
}

// unread is the outcome of a victim that could not be looked at. When the run was stopped meanwhile there is none yet.
func unread(ctx context.Context, verdict stage.Verdict, err error) *stage.Outcome {
	if stopped := context.Cause(ctx); stopped != nil && apiserver.MayPass(err) {
		return &stage.Outcome{Verdict: verdict, Err: stopped}
	}
	outcome := action.Failed(verdict, err)
	if outcome.Result == v1alpha1.OutcomeFailed {
		outcome.Result, outcome.Detail = v1alpha1.OutcomeAbandoned, "the run was cut off, and the operator could not find out what happened to this object: "+outcome.Detail
	}
	return &outcome
}

// abandonChanged leaves an object alone that changed before a run that was taken over came to it.
func abandonChanged(victim journal.Victim) action.Again {
	return func(_ context.Context, now object.Object) (stage.Verdict, object.JSON, error) {
		return stage.Verdict{
			Candidate: stage.Candidate{Object: now, Message: victim.Message},
			Skip:      v1alpha1.OutcomeAbandoned,
			Reason:    changedAway,
		}, nil, nil
	}
}
