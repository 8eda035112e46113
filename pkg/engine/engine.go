// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package engine is what a Cleaner selects and changes objects with, for one run: its conditions, its scripts and its
// patch, ready to be used.
package engine

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// Engine has all expressions of one Cleaner. It is safe for concurrent use.
type Engine struct {
	// Memory is what all that is selected may take.
	Memory *selector.Share

	cleaner    *v1alpha1.Cleaner
	conditions []*cel.Run // nil where a selector has none
	queries    *inputs.Metrics
	pool       *sandbox.Pool
	session    *sandbox.Session
	// metadataOnly says for which selectors the objects' metadata is all that is needed. Nil is none.
	metadataOnly []bool
	// leaveOutData says that the aggregated script is given Secrets without their data, if it does not look at that.
	leaveOutData bool
	// aggregate is nil without an aggregatedSelection.
	aggregate *sandbox.Aggregate
	// patch is the static merge patch. Nil when a script changes the objects, or nothing does.
	patch map[string]any
}

// Open makes a Cleaner's expressions ready for a run that begins now. The errors are for the user to correct: they name
// the field. It starts nothing: a script that does not compile fails when it is used. The caller closes the Engine.
func Open(
	cleaner *v1alpha1.Cleaner, pool *sandbox.Pool, memory *selector.Share, queries *inputs.Metrics,
	clk clock.PassiveClock, options sandbox.Options,
) (*Engine, error) {
	programs, err := expr.Conditions(cleaner)
	patch, patchErr := expr.MergePatch(cleaner)
	if err := errors.Join(err, patchErr); err != nil {
		return nil, err
	}
	e := &Engine{
		Memory: memory, cleaner: cleaner, queries: queries, patch: patch, pool: pool, session: pool.Open(options),
	}
	for _, program := range programs {
		var run *cel.Run
		if program != nil {
			run = program.NewRun(options.Now).Timed(clk)
		}
		e.conditions = append(e.conditions, run)
	}
	if cleaner.Spec.ResourcePolicySet.AggregatedSelection != "" {
		e.collect()
	}
	return e, nil
}

// ReadLess lets the run read less than whole objects where its action allows that. Without bodies, it needs no more of
// what matches than the name.
func (e *Engine) ReadLess(ctx context.Context, action v1alpha1.Action, bodies bool) {
	e.metadataOnly = e.metadataEnough(ctx, action)
	if e.aggregate != nil && !bodies {
		e.leaveOutData = true
		e.aggregate.LeaveOutData()
	}
}

// Close ends the scripts and gives back the memory. A nil Engine has none.
func (e *Engine) Close() {
	if e == nil {
		return
	}
	e.session.Close()
	e.Memory.Release()
}

// Rest gives memory back before the run acts. That may take long, and seldom needs a script: when an object has
// changed. It reports whether a small process is enough from then on: an aggregated script may be asked again about
// everything.
func (e *Engine) Rest() (small bool) {
	small = e.aggregate == nil
	e.session.Rest(small)
	return small
}

// Judge is how the i-th selector judges.
func (e *Engine) Judge(i int) selector.Judge {
	return selector.Judge{
		Conditions: e.conditions[i],
		Script:     e.cleaner.Spec.ResourcePolicySet.ResourceSelectors[i].Evaluate, Session: e.session,
		Metrics:      e.queries.For(e.cleaner.Spec.ServiceAccountRef),
		MetadataOnly: e.metadataOnly != nil && e.metadataOnly[i],
		Aggregated:   e.aggregate != nil,
	}
}

// Change is what a Transform does to an object, as a merge patch of only what changes, and what its script said.
func (e *Engine) Change(ctx context.Context, o object.Object) (patch object.JSON, message string, err error) {
	if e.patch != nil {
		value, err := o.Value()
		if err != nil {
			return nil, "", err
		}
		patch, err = object.EncodePatch(object.Changes(value, e.patch))
		return patch, "", err
	}
	patch, message, err = e.session.Transform(ctx, e.cleaner.Spec.Transform, o)
	if err != nil {
		return nil, "", object.MaskError(object.Masker(o), "transform", err)
	}
	if message != "" {
		message = object.Mask(message, o, o.Patch(patch))
	}
	return patch, message, nil
}

// ChangesManagedFields reports whether what changes the objects may look at metadata.managedFields.
func (e *Engine) ChangesManagedFields() bool {
	const field = "managedFields"
	patch := e.cleaner.Spec.MergePatch
	return strings.Contains(e.cleaner.Spec.Transform, field) || patch != nil && bytes.Contains(patch.Raw, []byte(field))
}

// metadataEnough says for which selectors a run needs no more of the objects than their metadata, which is a fraction
// of them. It is so only in a Scan: what deletes and changes objects copies and judges them whole, and so does an
// aggregated script. And it is so only where nobody looks further: neither the conditions nor the script, nor the
// guards, nor what keeps Secrets' values out of messages. A preview, which shows objects, does not ask.
func (e *Engine) metadataEnough(ctx context.Context, action v1alpha1.Action) []bool {
	spec := e.cleaner.Spec
	enough := make([]bool, len(spec.ResourcePolicySet.ResourceSelectors))
	if action != v1alpha1.ActionScan || e.aggregate != nil || e.cleaner.CopyStorage() == v1alpha1.StorageReport {
		return enough
	}
	for i, selector := range spec.ResourcePolicySet.ResourceSelectors {
		isSecret := selector.Group == "" && selector.Kind == "Secret"
		enough[i] = !isSecret && selector.LogSource == nil && !guard.ReadsBody(selector.Group, selector.Kind) &&
			expr.ReadMetadataOnly(ctx, e.conditions[i], e.pool, selector.Evaluate)
	}
	return enough
}

// Took is how long the engines that the run used were at work.
func (e *Engine) Took() map[metrics.Engine]time.Duration {
	all := map[metrics.Engine]time.Duration{}
	if took := e.session.Took(); took > 0 {
		all[metrics.EngineLua] = took
	}
	for _, conditions := range e.conditions {
		if conditions != nil {
			all[metrics.EngineCEL] += conditions.Took()
		}
	}
	return all
}

// Fault says in a word why an object could not be judged, and by what.
func Fault(outcome *stage.Outcome) (engine metrics.Engine, reason string) {
	var limit *cel.LimitError
	switch {
	case errors.As(outcome.Err, &limit):
		return metrics.EngineCEL, "limit"
	case strings.HasPrefix(outcome.Detail, "matchConditions: "): // the other errors of conditions have no type
		return metrics.EngineCEL, "error"
	}
	if reason = expr.ScriptFault(outcome.Err); reason == "" {
		reason = "error"
	}
	return metrics.EngineLua, reason
}
