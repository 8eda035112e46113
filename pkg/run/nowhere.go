// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
)

// lookForNowhere finds out which selectors name a namespace that there is not: an API server lists nothing in it, as in an empty one. An
// aggregated script would take everything for unused then: where something is to be touched, the view is not complete.
func (r *Runner) lookForNowhere(ctx context.Context, plan *plan) error {
	var errs []error
	acts, selectors := plan.acts, plan.cleaner.Spec.ResourcePolicySet.ResourceSelectors
	for i, selection := range plan.selections {
		name := selectors[i].Namespace
		if name == "" || selection.Err != nil || selection.Considered > 0 {
			continue
		}
		found, err := r.Reader.Namespaces(ctx, []string{name})
		switch {
		case err != nil && plan.aggregated && acts:
			errs = append(errs, fmt.Errorf("resourceSelectors[%d]: finding out whether there is a namespace %s: %w", i, name, err))
		case err != nil: // nothing is selected, whether it is there or not
			plan.nowhere = append(plan.nowhere, fmt.Sprintf("resourceSelectors[%d]: whether there is a namespace %s could not be found out: %s.", i, name, oneLine(err)))
		case found[name] == nil && plan.aggregated && acts:
			errs = append(errs, fmt.Errorf("resourceSelectors[%d]: there is no namespace %s: correct it, or remove the selector", i, name))
		case found[name] == nil:
			plan.nowhere = append(plan.nowhere, fmt.Sprintf("resourceSelectors[%d]: there is no namespace %s.", i, name))
		}
	}
	return errors.Join(errs...)
}

// nowhereWords draws attention to a selector that looked nowhere.
func nowhereWords(plan *plan) string {
	text := ""
	for i, selection := range plan.selections {
		if !selection.Scope.Cluster && len(selection.Scope.Namespaces) == 0 {
			text += fmt.Sprintf(" resourceSelectors[%d].namespaceSelector matches no namespace.", i)
		}
	}
	for _, words := range plan.nowhere {
		text += " " + words
	}
	return text
}
