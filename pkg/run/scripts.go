// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
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
	// lighten is told that the scripts need no more than a small process. Nil tells nobody.
	lighten func()
	// aggregate is nil without an aggregatedSelection.
	aggregate *sandbox.Aggregate
	// patch is the static merge patch. Nil when a script changes the objects, or nothing does.
	patch map[string]any
	// mask cleans what the aggregated script says of the values of the Secrets that it was given.
	mask func(string) string
}

// open makes a Cleaner's expressions ready for a run that begins now. The errors are the user's to mend: they name the field.
// It starts nothing: a script that does not compile fails when it is used. The caller closes what it gets.
func open(cleaner *v1alpha1.Cleaner, pool *sandbox.Pool, memory *selector.Share, queries *inputs.Metrics, options sandbox.Options) (*expressions, error) {
	var errs []error
	programs, err := conditions(cleaner)
	errs = append(errs, err)
	patch, err := mergePatch(cleaner)
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
			run = program.NewRun(options.Now)
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

// rest gives memory back before the run acts. That may take long, and seldom needs a script: when an object has changed.
func (e *expressions) rest() {
	if e.session.Rest(); e.lighten != nil {
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

// conditions compiles the matchConditions of each selector; nil where there are none.
func conditions(cleaner *v1alpha1.Cleaner) ([]*cel.Program, error) {
	var programs []*cel.Program
	var errs []error
	for i, sel := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		var program *cel.Program
		if len(sel.MatchConditions) > 0 {
			var err error
			if program, err = cel.Compile(sel.MatchConditions, cel.InputsOf(&sel)...); err != nil {
				errs = append(errs, inField(fmt.Sprintf("resourceSelectors[%d].", i), err)...)
			}
		}
		programs = append(programs, program)
	}
	return programs, errors.Join(errs...)
}

// inField puts a field before each of joined errors.
func inField(field string, err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var errs []error
		for _, inner := range joined.Unwrap() {
			errs = append(errs, fmt.Errorf("%s%w", field, inner))
		}
		return errs
	}
	return []error{fmt.Errorf("%s%w", field, err)}
}

// mergePatch reads spec.mergePatch. Nil when there is none.
func mergePatch(cleaner *v1alpha1.Cleaner) (map[string]any, error) {
	if cleaner.Spec.MergePatch == nil {
		return nil, nil
	}
	patch, err := object.JSON(cleaner.Spec.MergePatch.Raw).Decode()
	fields, ok := patch.(map[string]any)
	switch {
	case err != nil:
		return nil, fmt.Errorf("mergePatch: %w", err)
	case !ok || len(fields) == 0:
		return nil, errors.New("mergePatch: it must be a map that says what to change, for example {spec: {replicas: 0}}")
	}
	if err := object.CheckPatch(fields); err != nil {
		return nil, errors.Join(inField("mergePatch: ", err)...)
	}
	return fields, nil
}

// scriptsOf are the Lua scripts of a Cleaner, with their places.
func scriptsOf(cleaner *v1alpha1.Cleaner) []sandbox.Script {
	var scripts []sandbox.Script
	add := func(field, function, source string) {
		if source != "" {
			scripts = append(scripts, sandbox.Script{Field: field, Function: function, Source: source})
		}
	}
	for i, sel := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		add(fmt.Sprintf("resourceSelectors[%d].evaluate", i), "evaluate", sel.Evaluate)
	}
	add("aggregatedSelection", "evaluate", cleaner.Spec.ResourcePolicySet.AggregatedSelection)
	add("transform", "transform", cleaner.Spec.Transform)
	return scripts
}

// Problems are what in a Cleaner's spec keeps it from running and can be found out without the cluster, each with its field.
// The error means that the scripts could not be compiled, for a cause that is not theirs.
func Problems(ctx context.Context, cleaner *v1alpha1.Cleaner, pool *sandbox.Pool) (problems []error, err error) {
	for i, spec := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		for _, err := range inputs.Check(&spec) {
			problems = append(problems, fmt.Errorf("resourceSelectors[%d].%w", i, err))
		}
	}
	_, conditionsErr := conditions(cleaner)
	_, patchErr := mergePatch(cleaner)
	for _, err := range []error{conditionsErr, patchErr} {
		if err != nil {
			problems = append(problems, inField("", err)...)
		}
	}
	scripts := scriptsOf(cleaner)
	compiled, err := pool.Compile(ctx, scripts)
	for i, problem := range compiled {
		if problem != nil {
			problems = append(problems, fmt.Errorf("%s: %w", scripts[i].Field, problem))
		}
	}
	if cleaner.EffectiveAction() == v1alpha1.ActionTransform && (cleaner.Spec.Transform == "") == (cleaner.Spec.MergePatch == nil) {
		problems = append(problems, errors.New("transform: action Transform needs a script in transform, or a mergePatch, and not both"))
	}
	if cleaner.Spec.OnPartialView == v1alpha1.PartialViewSkip && cleaner.Spec.ResourcePolicySet.AggregatedSelection != "" {
		problems = append(problems, errors.New("onPartialView: Skip does not go with aggregatedSelection: that script judges all objects together, and must not miss one; leave onPartialView out"))
	}
	return problems, err
}

// exhausted reports whether an error is that of an expression or a script that used up its time or memory.
func exhausted(err error) bool {
	var budget *sandbox.BudgetError
	var timeout *lua.TimeoutError
	var limit *cel.LimitError
	return errors.As(err, &budget) && budget.Kind != sandbox.BudgetKilled || errors.As(err, &timeout) || errors.As(err, &limit)
}

// selectsSecrets reports whether the scripts of a Cleaner see Secrets.
func selectsSecrets(cleaner *v1alpha1.Cleaner) bool {
	return slices.ContainsFunc(cleaner.Spec.ResourcePolicySet.ResourceSelectors, func(s v1alpha1.ResourceSelector) bool {
		return s.Group == "" && s.Kind == "Secret"
	})
}
