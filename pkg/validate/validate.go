// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validate says what in a Cleaner keeps it from running.
package validate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/identity"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/summary"
)

// Validator asks the cluster what it has to know of a Cleaner.
type Validator struct {
	Identities *identity.Identities
	// Scripts are the child processes that run scripts.
	Scripts *sandbox.Pool
	// Schemas are what is kept of the kinds' schemas. Nil when they are read anew each time.
	Schemas *cel.Schemas
	// Queries asks the metricQueries of Cleaners. Nil where there is nobody to ask.
	Queries *inputs.Metrics
	// CopyProblems says what keeps copies from being kept where a Cleaner wants them. Nil in a preview, which copies
	// nothing.
	CopyProblems func(cleaner *v1alpha1.Cleaner) []error
	Clock        clock.PassiveClock
}

// Validate says what in the Cleaner's spec keeps it from running: a reason of the condition Ready and all the problems,
// or nothing. An error means that the cluster could not be asked.
func (v Validator) Validate(ctx context.Context, cleaner *v1alpha1.Cleaner) (reason, message string, err error) {
	problems, err := v.Problems(ctx, cleaner)
	homeless := v.HomelessCopies(cleaner)
	if lacks := v.Identities.Lacks(cleaner.Spec.ServiceAccountRef); lacks != "" { // nothing more is asked in its name
		return v1alpha1.ReasonServiceAccountRequired,
			summary.OneLine(errors.Join(slices.Concat([]error{errors.New(lacks)}, problems, homeless)...)), nil
	}
	if reason, message, err := v.accountRefused(ctx, cleaner.Spec.ServiceAccountRef, problems, homeless); reason != "" ||
		err != nil {
		return reason, message, err
	}
	who, fault := v.Identities.Of(cleaner.Spec.ServiceAccountRef)
	if fault != nil {
		return "", "", fault
	}
	faults, unknown := []error{err}, []error(nil)
	published := who.Reader.Published(v.Schemas)
	for i := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		wrong, noKind, fault := v.selector(ctx, who.Reader, published, cleaner, i)
		problems, unknown, faults = append(problems, wrong...), append(unknown, noKind), append(faults, fault)
	}
	unknown = slices.DeleteFunc(unknown, func(err error) bool { return err == nil })
	if len(problems)+len(homeless)+len(unknown) > 0 {
		return reasonAmong(problems, homeless, v1alpha1.ReasonUnknownKind),
			summary.OneLine(errors.Join(slices.Concat(problems, homeless, unknown)...)), nil
	}
	fault = errors.Join(faults...)
	if account := cleaner.Spec.ServiceAccountRef; account != nil && summary.Forbidden(fault) {
		fault = fmt.Errorf("%w. %s", fault, summary.Hint(fault.Error(), account))
	}
	return "", "", fault
}

// selector says what is wrong with the i-th selector, that its kind is unknown, or that the cluster could not be asked.
func (v Validator) selector(
	ctx context.Context, reader *selector.Reader, published *cel.Published, cleaner *v1alpha1.Cleaner, i int,
) (wrong []error, noKind, fault error) {
	spec, field := cleaner.Spec.ResourcePolicySet.ResourceSelectors[i], fmt.Sprintf("resourceSelectors[%d]", i)
	sel, err := selector.New(i, spec, selector.Judge{}, v.Clock.Now())
	if err != nil {
		return []error{fmt.Errorf("%s: %w", field, err)}, nil, nil
	}
	if err := v.metricsAllowed(&spec, cleaner.Spec.ServiceAccountRef); err != nil {
		wrong = append(wrong, fmt.Errorf("%s.%w", field, err))
	}
	var kind *selector.UnknownKindError
	switch _, err := sel.Resolve(ctx, reader); {
	case errors.As(err, &kind) && kind.ClusterScoped:
		return append(wrong, fmt.Errorf("%s: %w", field, err)), nil, nil
	case errors.As(err, &kind):
		return wrong, fmt.Errorf("%s: %w", field, err), nil
	case err != nil:
		return wrong, nil, fmt.Errorf("%s: %w", field, err)
	}
	types, fault := expr.CheckTypes(ctx, published, spec)
	if types != nil {
		wrong = append(wrong, expr.InField(field+".", types)...)
	}
	return wrong, nil, fault
}

// accountRefused says that the operator may not act as the account, beside the problems that are known already. Empty
// when it may. These problems are said also when nobody knows whether it may.
func (v Validator) accountRefused(ctx context.Context, account *v1alpha1.ServiceAccountRef, problems,
	homeless []error,
) (reason, message string, err error) {
	if account == nil {
		return "", "", nil
	}
	refusal, err := v.Identities.MayActAs(ctx, *account)
	all := slices.Concat(problems, homeless)
	switch {
	case refusal != "":
		all = append(all, errors.New(refusal))
	case err == nil || len(all) == 0:
		return "", "", err
	}
	return reasonAmong(problems, homeless, v1alpha1.ReasonServiceAccountForbidden), summary.OneLine(errors.Join(all...)),
		nil
}

// reasonAmong is the reason of the condition Ready for several problems: of those that only an edit fixes, if there are
// any.
func reasonAmong(problems, homeless []error, otherwise string) string {
	switch {
	case len(problems) > 0:
		return v1alpha1.ReasonInvalidExpression
	case len(homeless) > 0:
		return v1alpha1.ReasonInvalidStorage
	}
	return otherwise
}

// metricsAllowed says why the source of a selector may not be asked. What is wrong with it in any case was said
// already.
func (v Validator) metricsAllowed(spec *v1alpha1.ResourceSelector, account *v1alpha1.ServiceAccountRef) error {
	if v.Queries == nil || len(inputs.Check(spec)) > 0 {
		return nil
	}
	return v.Queries.For(account).Allow(spec)
}

// Problems are what in a Cleaner's spec keeps it from running, as far as that shows without the cluster.
func (v Validator) Problems(ctx context.Context, cleaner *v1alpha1.Cleaner) ([]error, error) {
	problems, err := expr.Problems(ctx, cleaner, v.Scripts)
	return append(problems, finding.Check(cleaner)...), err
}

// HomelessCopies say what keeps copies from being kept. A preview copies nothing.
func (v Validator) HomelessCopies(cleaner *v1alpha1.Cleaner) []error {
	if v.CopyProblems == nil {
		return nil
	}
	return v.CopyProblems(cleaner)
}
