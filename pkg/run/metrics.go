// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/engine"
	"github.com/kubecleaner/kubecleaner/pkg/expr"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// count counts the facts of a run that has ended and whose record says so. One whose record could not be written is
// counted by who brings it to its end: nothing is counted twice.
func (s Record) count(t *task, out *outcomes, stopped error) {
	d := out.decision
	found := tally(out.list, d.view.notEvaluated)
	for outcome := range out.rest {
		found.Add(outcome.Kind.GroupVersionKind, outcome.Result)
	}
	for _, selection := range d.view.selections {
		if selection.Kind.Kind != "" { // else there is no such kind
			found.Selected(selection.Kind.GroupVersionKind)
		}
	}
	s.Metrics.ObjectsHandled(t.record, found)
	s.Metrics.ObjectsFound(t.record, found)
	switch {
	case !t.acts() || stopped != nil:
	case journal.IsCopyFault(out.fault):
		s.Metrics.CopiesFailed(t.record)
	case out.fault != nil:
	case out.whyIncomplete() != nil:
		s.Metrics.RunAborted(t.record, metrics.AbortViewIncomplete)
	case d.limit != nil:
		s.Metrics.RunAborted(t.record, metrics.AbortLimitExceeded)
	}
	s.countEvaluations(t, out)
}

// countEvaluations counts how the expressions and scripts did.
func (s Record) countEvaluations(t *task, out *outcomes) {
	notEvaluated := out.decision.view.notEvaluated
	for i := range notEvaluated {
		by, reason := engine.Fault(&notEvaluated[i])
		s.Metrics.EvaluationFailed(t.record, by, reason)
	}
	if reason := expr.ScriptFault(out.decision.scriptFault); reason != "" {
		s.Metrics.EvaluationFailed(t.record, metrics.EngineLua, reason)
	}
	for i := range out.list { // of what transforms objects, or judges them again
		if reason := expr.ScriptFault(out.list[i].Err); reason != "" {
			s.Metrics.EvaluationFailed(t.record, metrics.EngineLua, reason)
		}
	}
	for by, took := range t.engine.Took() {
		s.Metrics.Evaluated(by, took)
	}
}

// tally counts objects by kind and by what became of them.
func tally(lists ...[]stage.Outcome) metrics.Tally {
	found := metrics.Tally{}
	for _, outcomes := range lists {
		for i := range outcomes {
			found.Add(outcomes[i].Kind.GroupVersionKind, outcomes[i].Result)
		}
	}
	return found
}

// counted counts the objects of a run that was taken over: the victims, whose outcomes are given, and what its record
// says of the others, which the operator before had left alone and counted nowhere that is left.
func counted(record *v1alpha1.CleanerRun, victims []stage.Outcome) metrics.Tally {
	found := tally(victims)
	for _, t := range journal.Tallies(record) {
		if t.Outcome != v1alpha1.OutcomePlanned {
			kind := schema.FromAPIVersionAndKind(t.APIVersion, t.Kind)
			found.Selected(kind)
			found[kind][t.Outcome] += int(t.Count)
		}
	}
	return found
}
