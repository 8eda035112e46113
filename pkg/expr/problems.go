// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package expr reads and checks what a Cleaner selects and changes objects with: conditions, scripts and patches. The
// languages are in the packages below it.
package expr

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Conditions compiles the matchConditions of each selector; nil where there are none.
func Conditions(cleaner *v1alpha1.Cleaner) ([]*cel.Program, error) {
	var programs []*cel.Program
	var errs []error
	for i, sel := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		var program *cel.Program
		if len(sel.MatchConditions) > 0 {
			var err error
			if program, err = cel.Compile(sel.MatchConditions, cel.InputsOf(&sel)...); err != nil {
				errs = append(errs, InField(fmt.Sprintf("resourceSelectors[%d].", i), err)...)
			}
		}
		programs = append(programs, program)
	}
	return programs, errors.Join(errs...)
}

// InField puts a field before each of joined errors.
func InField(field string, err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var errs []error
		for _, inner := range joined.Unwrap() {
			errs = append(errs, fmt.Errorf("%s%w", field, inner))
		}
		return errs
	}
	return []error{fmt.Errorf("%s%w", field, err)}
}

// MergePatch reads spec.mergePatch. Nil when there is none.
func MergePatch(cleaner *v1alpha1.Cleaner) (map[string]any, error) {
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
		return nil, errors.Join(InField("mergePatch: ", err)...)
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

// Problems are what in a Cleaner's spec keeps it from running and can be found out without the cluster, each with its
// field. The error means that the scripts could not be compiled, for a cause that is not theirs.
func Problems(ctx context.Context, cleaner *v1alpha1.Cleaner, pool *sandbox.Pool) (problems []error, err error) {
	for i, spec := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		for _, err := range inputs.Check(&spec) {
			problems = append(problems, fmt.Errorf("resourceSelectors[%d].%w", i, err))
		}
	}
	_, conditionsErr := Conditions(cleaner)
	_, patchErr := MergePatch(cleaner)
	for _, err := range []error{conditionsErr, patchErr} {
		if err != nil {
			problems = append(problems, InField("", err)...)
		}
	}
	scripts := scriptsOf(cleaner)
	compiled, err := pool.Compile(ctx, scripts)
	for i, problem := range compiled {
		if problem != nil {
			problems = append(problems, fmt.Errorf("%s: %w", scripts[i].Field, problem))
		}
	}
	if cleaner.EffectiveAction() == v1alpha1.ActionTransform &&
		(cleaner.Spec.Transform == "") == (cleaner.Spec.MergePatch == nil) {
		problems = append(
			problems,
			errors.New("transform: action Transform needs a script in transform, or a mergePatch, and not both"),
		)
	}
	if cleaner.Spec.OnPartialView == v1alpha1.PartialViewSkip && cleaner.Spec.ResourcePolicySet.AggregatedSelection != "" {
		problems = append(
			problems,
			errors.New(
				"onPartialView: Skip cannot be used with aggregatedSelection, because that script needs all objects; remove onPartialView",
			),
		)
	}
	return problems, err
}

// SelectsSecrets reports whether the scripts of a Cleaner see Secrets.
func SelectsSecrets(cleaner *v1alpha1.Cleaner) bool {
	return slices.ContainsFunc(cleaner.Spec.ResourcePolicySet.ResourceSelectors, func(s v1alpha1.ResourceSelector) bool {
		return s.Group == "" && s.Kind == "Secret"
	})
}
