// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// expressions are what a Cleaner selects and changes objects with, for one run. It is safe for concurrent use.
type expressions struct {
	cleaner    *v1alpha1.Cleaner
	conditions []*cel.Run // nil where a selector has none
	queries    *inputs.Metrics
	// metadataOnly says for which selectors the objects' metadata is all that is needed. Nil is none.
	metadataOnly []bool
	// leaveOutData says that the aggregated script is given Secrets without their data, if it does not look at that.
	leaveOutData bool
	// memory is what all that is selected may take.
	memory  *selector.Share
	session *sandbox.Session
	// lighten, if not nil, is called when the scripts need no more than a small process.
	lighten func()
	// aggregate is nil without an aggregatedSelection.
	aggregate *sandbox.Aggregate
	// patch is the static merge patch. Nil when a script changes the objects, or nothing does.
	patch map[string]any
	// mask cleans what the aggregated script says of the values of the Secrets that it was given.
	mask func(string) string
}

// open makes a Cleaner's expressions ready for a run that begins now. The errors are for the user to correct: they name
// the field. It starts nothing: a script that does not compile fails when it is used. The caller closes what it gets.
func open(
	cleaner *v1alpha1.Cleaner, pool *sandbox.Pool, memory *selector.Share, queries *inputs.Metrics,
	clk clock.PassiveClock, options sandbox.Options,
) (*expressions, error) {
	var errs []error
	programs, err := expr.Conditions(cleaner)
	errs = append(errs, err)
	patch, err := expr.MergePatch(cleaner)
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	e := &expressions{
		cleaner: cleaner, patch: patch, memory: memory, queries: queries, session: pool.Open(options),
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

func (e *expressions) close() {
	e.session.Close()
	e.memory.Release()
}

// rest gives memory back before the run acts. That may take long, and seldom needs a script: when an object has
// changed. An aggregated script may be asked again about everything.
func (e *expressions) rest() {
	if e.session.Rest(); e.lighten != nil && e.aggregate == nil {
		e.lighten()
	}
}

// judge is how the i-th selector judges.
func (e *expressions) judge(i int) selector.Judge {
	return selector.Judge{
		Conditions: e.conditions[i],
		Script:     e.cleaner.Spec.ResourcePolicySet.ResourceSelectors[i].Evaluate, Session: e.session,
		Metrics:      e.queries.For(e.cleaner.Spec.ServiceAccountRef),
		MetadataOnly: e.metadataOnly != nil && e.metadataOnly[i],
		Aggregated:   e.aggregate != nil,
	}
}

// change is what a Transform does to an object, as a merge patch of only what changes, and what its script said.
func (e *expressions) change(ctx context.Context, o object.Object) (patch object.JSON, message string, err error) {
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

// changesManagedFields reports whether what changes the objects may look at metadata.managedFields.
func (e *expressions) changesManagedFields() bool {
	const field = "managedFields"
	patch := e.cleaner.Spec.MergePatch
	return strings.Contains(e.cleaner.Spec.Transform, field) || patch != nil && bytes.Contains(patch.Raw, []byte(field))
}

// metadataEnough says for which selectors a run needs no more of the objects than their metadata, which is a fraction
// of them. It is so only in a Scan: what deletes and changes objects copies and judges them whole, and so does an
// aggregated script. And it is so only where nobody looks further: neither the conditions nor the script, nor the
// guards, nor what keeps Secrets' values out of messages. A preview, which shows objects, does not ask.
func (e *expressions) metadataEnough(ctx context.Context, pool *sandbox.Pool, action v1alpha1.Action) []bool {
	spec := e.cleaner.Spec
	enough := make([]bool, len(spec.ResourcePolicySet.ResourceSelectors))
	if action != v1alpha1.ActionScan || e.aggregate != nil || e.cleaner.CopyStorage() == v1alpha1.StorageReport {
		return enough
	}
	for i, selector := range spec.ResourcePolicySet.ResourceSelectors {
		isSecret := selector.Group == "" && selector.Kind == "Secret"
		enough[i] = !isSecret && selector.LogSource == nil && !guard.ReadsBody(selector.Group, selector.Kind) &&
			expr.ReadMetadataOnly(ctx, e.conditions[i], pool, selector.Evaluate)
	}
	return enough
}
