// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package action carries out one verdict on one live object: it deletes or changes it. A delete carries the UID and the
// resourceVersion that were judged, a patch the resourceVersion, which no re-created object has: the API server itself
// refuses whatever changed since. Then the live object is judged again.
package action

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// attempts is how often an object that keeps changing is judged anew before it is left alone.
const attempts = 3

// Again judges an object anew, as it is now. A verdict with Act false says why it is left alone. The patch is what a
// Transform sends to the object as it is now; an empty one leaves it as it is.
type Again func(ctx context.Context, live object.Object) (verdict stage.Verdict, patch object.JSON, err error)

// Actor deletes and changes objects through one REST client.
type Actor struct {
	client rest.Interface
	flow   *flow
	final  func(error) bool
	permit Permit
}

// Permit allows an object to be touched for some time. A request may have to wait, for example until the API server is
// back, and what was right before may not be right any more.
type Permit interface {
	// IsValid reports whether a request may be sent now. It is quick.
	IsValid() bool
	// Renew finds out whether the object may be touched still, which may take long. why says why it is left alone. An
	// error says that nobody can know.
	Renew(ctx context.Context) (why string, err error)
}

// NewActor returns an Actor whose client needs no more than absolute paths, such as rest.UnversionedRESTClientFor
// makes. It acts for no run yet.
func NewActor(client rest.Interface) *Actor { return &Actor{client: client} }

// ForRun returns the Actor of one run: all its requests wait together while the API server is away, and share a limit.
// final reports whether an error forbids the run any further request.
func (a *Actor) ForRun(clk clock.PassiveClock, final func(error) bool) *Actor {
	return &Actor{client: a.client, flow: newFlow(clk), final: final}
}

// While returns the Actor of one object, which is changed only while the permit is valid.
func (a *Actor) While(permit Permit) *Actor {
	one := *a
	one.permit = permit
	return &one
}

// Delete deletes the object of a verdict. An object that is gone already is a success.
func (a *Actor) Delete(
	ctx context.Context,
	verdict stage.Verdict,
	options *v1alpha1.DeleteOptions,
	again Again,
) stage.Outcome {
	ending := func(ctx context.Context, live object.Object) (stage.Verdict, object.JSON, error) {
		if !live.Deleting || verdict.Deleting {
			return again(ctx, live)
		}
		// A delete that came late or twice, or somebody else's: there is nothing left to do.
		return stage.Verdict{Candidate: verdict.Candidate, Skip: v1alpha1.OutcomeTerminating, Reason: Ending(live)}, nil, nil
	}
	var lost error
	outcome := a.carryOut(
		ctx,
		verdict,
		nil,
		ending,
		func(ctx context.Context, o object.Object, _ object.JSON) (v1alpha1.OutcomeResult, string, error) {
			result, detail, err := a.delete(ctx, o, options)
			if lost != nil && (isGone(err, o) || isConflict(err)) { // the delete before may have come late
				if result, detail, err := a.observe(ctx, o, 0, lost); !isUndone(err) {
					return result, detail, err
				}
			}
			lost = cmp.Or(whyUndone(err), lost)
			return result, detail, err
		},
	)
	outcome.Unclear = lost != nil
	return outcome
}

// Transform changes the object of a verdict by a merge patch.
func (a *Actor) Transform(ctx context.Context, verdict stage.Verdict, patch object.JSON, again Again) stage.Outcome {
	var lost error
	outcome := a.carryOut(
		ctx,
		verdict,
		patch,
		again,
		func(ctx context.Context, o object.Object, patch object.JSON) (v1alpha1.OutcomeResult, string, error) {
			result, detail, err := a.transform(ctx, o, patch)
			if lost != nil && isConflict(err) { // the patch before may have come late: a script would build on what it made
				result, detail, err = a.afterUnclear(ctx, o, patch, lost)
			}
			lost = cmp.Or(whyUndone(err), lost)
			return result, detail, err
		},
	)
	outcome.Unclear = lost != nil
	return outcome
}

// attempt tries once, on the object as it was judged. An error is the API server's.
type attempt func(ctx context.Context, o object.Object, patch object.JSON) (result v1alpha1.OutcomeResult,
	detail string, err error)

// carryOut tries, and after each conflict judges the live object before it tries again.
func (a *Actor) carryOut(
	ctx context.Context,
	verdict stage.Verdict,
	patch object.JSON,
	again Again,
	try attempt,
) stage.Outcome {
	persistent := a.persist(try)
	for range attempts {
		result, detail, err := persistent(ctx, verdict.Object, patch)
		if err == nil {
			return stage.Outcome{Verdict: verdict, Result: result, Detail: detail}
		}
		if stopped := context.Cause(ctx); !isConflict(err) || stopped != nil {
			return ended(verdict, patch, err, stopped)
		}
		next, change, outcome := a.judgeAgain(ctx, verdict, patch, again)
		stopped := context.Cause(ctx)
		switch {
		case stopped != nil && (outcome == nil || outcome.Err != nil): // it is not begun anew
			return failed(verdict, patch, stopped)
		case outcome != nil:
			return *outcome
		}
		verdict, patch = next, change
	}
	return stage.Outcome{
		Verdict: verdict,
		Result:  v1alpha1.OutcomeConflict,
		Detail:  "it kept changing; the next run judges it again",
	}
}

// ended is the outcome of an object that is not tried again after an error. stopped is the cause of a run that was
// stopped, else nil.
func ended(verdict stage.Verdict, patch object.JSON, err, stopped error) stage.Outcome {
	switch {
	case isGone(err, verdict.Object):
		return stage.Outcome{Verdict: verdict, Result: v1alpha1.OutcomeGone}
	case stopped != nil && isUndone(err):
		return failed(
			verdict,
			patch,
			fmt.Errorf(
				"the request was sent, but the object had not changed when it was read again, and then the run was stopped: %s; %w",
				stopped.Error(),
				err,
			),
		)
	case stopped != nil && isNothing(err): // it is not begun anew
		return failed(verdict, patch, stopped)
	}
	return failed(verdict, patch, err)
}

// judgeAgain reads the live object. It returns the verdict and the patch to go on with, or the outcome if there is
// nothing to go on with.
func (a *Actor) judgeAgain(
	ctx context.Context,
	verdict stage.Verdict,
	sent object.JSON,
	again Again,
) (stage.Verdict, object.JSON, *stage.Outcome) {
	live, err := a.Live(ctx, verdict.Object)
	switch {
	case err != nil:
		return verdict, nil, ref(failed(verdict, sent, fmt.Errorf("reading it again after a conflict: %w", err)))
	case live == nil:
		return verdict, nil, &stage.Outcome{Verdict: verdict, Result: v1alpha1.OutcomeGone}
	case live.UID != verdict.UID:
		return verdict, nil, &stage.Outcome{Verdict: verdict, Result: v1alpha1.OutcomeReplaced, Detail: replaced}
	}
	if isOurs(*live, sent) {
		// It was sent twice on its way, and the first one was carried out. Judged anew, the object may not match because of
		// just that.
		return verdict, nil, &stage.Outcome{
			Verdict: verdict,
			Result:  v1alpha1.OutcomeTransformed,
			Detail:  "it was so when it was read again after a conflict",
		}
	}
	next, patch, err := again(ctx, *live)
	if err != nil {
		return verdict, nil, ref(failed(verdict, sent, fmt.Errorf("judging it again after a conflict: %w", err)))
	}
	if !next.Act {
		return verdict, nil, &stage.Outcome{Verdict: next, Result: next.Skip, Detail: next.Reason}
	}
	return next, patch, nil
}

// replaced is the detail of OutcomeReplaced.
const replaced = "it was created again under the same name"

func ref(o stage.Outcome) *stage.Outcome { return &o }
