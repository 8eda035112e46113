// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"slices"

	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/recheck"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

// notActedDetail is of what was going to be touched and was not, because of what the run's message says.
const notActedDetail = "nothing was touched in this run; its message says why"

// notAllRead is why nothing was touched when the view of the cluster was not complete.
const notAllRead = "the run could not read or judge everything"

// intent is what the record says that a run is going to touch.
type intent struct {
	decision *decision
	// outcomes are what is known of each object that matches: Planned of the victims. Of a Scan, they are of those
	// that are listed.
	outcomes []stage.Outcome
	// victims are going to be touched, and places are where their outcomes are.
	victims []journal.Victim
	places  []int
	// plan are the victims of a run that touches nothing, because a person must approve that before. Nil when it is no
	// such run, or there are none.
	plan []v1alpha1.ObjectOutcome
	// ledger has the victims, and what becomes of them. Nil when there are none.
	ledger *journal.Ledger
	// stored are the counts that the cluster has, and ended those of them that ended since the decision. Nil when the
	// Cleaner keeps no counts.
	stored *stored
	ended  *ended
	// fault says why the intent could not be written, and incomplete why it could not be decided a second time: then
	// nothing is touched.
	fault, incomplete error
	// stopped says why nothing is touched although it could be. Nil when that is not so.
	stopped error
	// again is the second decision on the victims. Nil when there is none.
	again *recheck.Decision
	// left says that another operator goes on with the run.
	left bool
}

// intend writes down what the run is going to touch, with copies, before anything is touched.
func (s Record) intend(ctx context.Context, t *task, d *decision) *intent {
	if isCause(ctx, s.Stopping) {
		return &intent{left: true}
	}
	in := &intent{decision: d}
	in.stored, in.fault = s.saveEnded(ctx, t, d)
	if in.left = in.fault != nil && isCause(ctx, s.Stopping); in.left {
		return in
	}
	if !t.acts() {
		in.outcomes = found(ctx, t, d)
		return in
	}
	in.collect(ctx, t)
	if t.plans() {
		in.draft(t)
		return in
	}
	if len(in.victims) == 0 || in.fault != nil || context.Cause(ctx) != nil || !s.mayIntend(ctx, t, in) {
		in.left = in.left || isCause(ctx, s.Stopping)
		return in
	}
	t.progress.Enter(metrics.StageRecord, len(in.victims))
	in.ledger, in.fault = s.Journal.Intend(ctx, t.cleaner, t.record, d.view.considered,
		slices.Concat(in.outcomes, d.view.notEvaluated), in.victims)
	in.left = s.leaves(ctx, in.fault)
	return in
}

// collect takes the outcomes from the decision, and the victims.
func (in *intent) collect(ctx context.Context, t *task) {
	for i, outcome := range in.decision.outcomes(v1alpha1.OutcomePlanned) {
		if outcome.Result == v1alpha1.OutcomePlanned {
			outcome.VolumeBytes = apiserver.VolumeBytes(outcome.Object)
			in.victims = append(
				in.victims, journal.Victim{Candidate: outcome.Candidate, Patch: in.decision.changes[i].patch})
			in.places = append(in.places, len(in.outcomes))
		} else if outcome.Err != nil {
			klog.FromContext(ctx).Error(errors.New(outcome.Detail), "Could not act on resource",
				"action", t.action, "kind", outcome.Kind.Kind, "object", objectName(outcome.Object))
		}
		in.outcomes = append(in.outcomes, outcome)
	}
}

// leaves reports whether a fault leaves the run to another operator: one that has taken it, or the next one after this
// one stops.
func (s Record) leaves(ctx context.Context, fault error) bool {
	return errors.Is(fault, journal.ErrTaken) || fault != nil && isCause(ctx, s.Stopping)
}

// mayIntend looks once more for what keeps the run from touching anything, and lets the intent say it.
func (s Record) mayIntend(ctx context.Context, t *task, in *intent) bool {
	if in.fault = s.CheckSchema.intact(ctx); in.fault == nil {
		in.stopped, in.fault = s.lookAgain(ctx, t)
	}
	if in.fault != nil || in.stopped != nil {
		return false
	}
	switch err := s.Stop.Confirm(ctx); {
	case isA[*stop.Error](err):
		in.stopped = err
		return false
	case err != nil:
		in.fault, in.left = err, errors.Is(err, s.Stopping)
		return false
	}
	in.fault = t.rehearse(ctx, in.victims)
	return in.fault == nil
}

// unconfirmed is the intent when it could not be decided a second time: nothing is touched. script is set when that is
// a script's fault.
func (in intent) unconfirmed(err, script error) *intent {
	d := *in.decision
	d.scriptFault = script
	in.decision, in.incomplete = &d, err
	return &in
}

// without is the intent without some of its victims, which have an outcome then.
func (in intent) without(left recheck.Left) *intent {
	in.outcomes = append([]stage.Outcome(nil), in.outcomes...)
	for _, n := range in.places {
		o := &in.outcomes[n]
		if why := left(o.Candidate); why != "" {
			o.Result, o.Detail = v1alpha1.OutcomeChanged, why
		}
	}
	return &in
}

// maxListed is of how many matches of a Scan the outcomes are made at once. It is more than a CleanerRun has room for.
const maxListed = 4_000

// found are the outcomes of a Scan, of which each is logged.
func found(ctx context.Context, t *task, d *decision) []stage.Outcome {
	log := klog.FromContext(ctx)
	isListed, outcomes := listed(scanned(t.record)), make([]stage.Outcome, 0, min(maxListed, d.matched.Len()))
	for _, outcome := range d.outcomes(scanned(t.record)) {
		if outcome.Act { // the line that k8s-cleaner documents for dry runs
			log.Info("resource is a match for cleaner",
				"kind", outcome.Kind.Kind, "object", objectName(outcome.Object), "message", outcome.Message)
		}
		if isListed(outcome) {
			outcomes = append(outcomes, outcome)
		}
	}
	return outcomes
}

// scanned is what becomes of an object that a Scan found.
func scanned(record *v1alpha1.CleanerRun) v1alpha1.OutcomeResult {
	if record.Spec.DryRun {
		return v1alpha1.OutcomeDryRun
	}
	return v1alpha1.OutcomeMatched
}

// objectName names an object in logs.
func objectName(o object.Object) klog.ObjectRef { return klog.KRef(o.Namespace, o.Name) }
