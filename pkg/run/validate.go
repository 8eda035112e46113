// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// Validate says what in the Cleaner's spec keeps it from running: a reason of the condition Ready and all the problems, or
// nothing. An error means that the cluster could not be asked.
func (r *Runner) Validate(ctx context.Context, cleaner *v1alpha1.Cleaner) (reason, message string, err error) {
	problems, err := Problems(ctx, cleaner, r.Scripts)
	homeless := r.copyProblems(cleaner)
	if lacks := r.lacksAccount(cleaner.Spec.ServiceAccountRef); lacks != "" { // so that nothing more is asked in its name
		return v1alpha1.ReasonServiceAccountRequired, oneLine(errors.Join(slices.Concat([]error{errors.New(lacks)}, problems, homeless)...)), nil
	}
	who, fault := r.identity(cleaner.Spec.ServiceAccountRef)
	if fault != nil {
		return "", "", fault
	}
	faults := []error{err}
	var unknown []error
	published := who.reader.Published(r.Schemas)
	for i, spec := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		field := fmt.Sprintf("resourceSelectors[%d]", i)
		s, err := selector.New(i, spec, selector.Judge{}, r.Clock.Now())
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", field, err))
			continue
		}
		if err := r.metricsAllowed(&spec); err != nil {
			problems = append(problems, fmt.Errorf("%s.%w", field, err))
		}
		var kind *selector.UnknownKindError
		if _, err := s.Resolve(ctx, who.reader); errors.As(err, &kind) {
			unknown = append(unknown, fmt.Errorf("%s: %w", field, err))
			continue
		} else if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", field, err))
			continue
		}
		wrong, err := checkTypes(ctx, published, spec)
		if wrong != nil {
			problems = append(problems, inField(field+".", wrong)...)
		}
		faults = append(faults, err)
	}
	if all := errors.Join(slices.Concat(problems, homeless, unknown)...); all != nil {
		reason = v1alpha1.ReasonUnknownKind
		switch {
		case len(problems) > 0:
			reason = v1alpha1.ReasonInvalidExpression
		case len(homeless) > 0:
			reason = v1alpha1.ReasonInvalidStorage
		}
		return reason, oneLine(all), nil
	}
	fault = errors.Join(faults...)
	if account := cleaner.Spec.ServiceAccountRef; account != nil && forbidden(fault) {
		fault = fmt.Errorf("%w. %s", fault, forbiddenHint(fault.Error(), account))
	}
	return "", "", fault
}

// metricsAllowed says why the source of a selector may not be asked. What is wrong with it in any case was said already.
func (r *Runner) metricsAllowed(spec *v1alpha1.ResourceSelector) error {
	if r.Queries == nil || len(inputs.Check(spec)) > 0 {
		return nil
	}
	return r.Queries.Allow(spec)
}

// copyProblems are those of where the copies are to be kept. A preview copies nothing.
func (r *Runner) copyProblems(cleaner *v1alpha1.Cleaner) []error {
	if r.Journal == nil {
		return nil
	}
	return r.Journal.CopyProblems(cleaner)
}
