// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/kinds"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
)

// Lint is Check, and besides finds what a cluster or a run would find out: kinds that do not exist, conditions that do
// not fit their kind or fail on objects that lack a field, and scripts that can never match.
func (c *Checker) Lint(ctx context.Context, d *manifest.Document, known *kinds.Known) (*Result, error) {
	result, err := c.Check(ctx, d)
	if err != nil {
		return nil, err
	}
	for i, spec := range result.Cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		field := fmt.Sprintf("%s[%d]", selectorsField, i)
		result.kind(field, &spec, known)
		result.scope(field, &spec, known)
		result.patchFits(&spec, known)
		result.names(field+".evaluate", spec.Evaluate, "obj")
		result.returns(
			field+".evaluate",
			spec.Evaluate,
			"evaluate",
			"matching",
			"so nothing can ever match",
			"return a table such as {matching = true}",
		)
		result.ends(field+".evaluate", spec.Evaluate, "{matching = false}")
		result.findingFields(field, &spec)
		result.inputsOf(field+".evaluate", &spec)
		result.matching(field+".evaluate", spec.Evaluate)
	}
	set := result.Cleaner.Spec.ResourcePolicySet
	result.returns(
		"spec.resourcePolicySet.aggregatedSelection",
		set.AggregatedSelection,
		"evaluate",
		"resources",
		"so nothing can ever match",
		"return a table such as {resources = {{resource = resources[1]}}}",
	)
	result.returns(
		"spec.transform",
		result.Cleaner.Spec.Transform,
		"transform",
		"resource",
		"so nothing can ever be changed",
		"return a table such as {resource = obj}",
	)
	result.ends("spec.resourcePolicySet.aggregatedSelection", set.AggregatedSelection, "{resources = {}}")
	result.names("spec.resourcePolicySet.aggregatedSelection", set.AggregatedSelection, "resources")
	result.names("spec.transform", result.Cleaner.Spec.Transform, "obj")
	result.Problems = manifest.Sorted(result.Problems)
	return result, nil
}

// kind finds what is wrong with a selector's kind, and with its conditions for objects of that kind.
func (r *Result) kind(field string, spec *v1alpha1.ResourceSelector, known *kinds.Known) {
	gvk := schema.GroupVersionKind{Group: spec.Group, Version: spec.Version, Kind: spec.Kind}
	if spec.Kind == "" || spec.Version == "" || r.has(field+".kind") || r.has(field+".version") {
		return // the schema reports it
	}
	if message, hint := known.Wrong(gvk); message != "" {
		r.add(field+".kind", codes.KindMissing, message, hint)
		r.forget(field, codes.EverythingMatches) // there is nothing that matches
		return
	}
	types := known.Schema(gvk)
	switch {
	case len(spec.MatchConditions) == 0:
	case types == nil:
		r.TypesUnknown = true
	default:
		for _, err := range terminal.Unjoined(cel.Check(spec.MatchConditions, types, cel.InputsOf(spec)...)) {
			if err != nil {
				r.condition(field, err.Error())
			}
		}
		r.missingFields(field, spec, known)
	}
}

// forget takes a problem back that is a consequence of another one.
func (r *Result) forget(field string, code codes.Code) {
	r.Problems = slices.DeleteFunc(r.Problems, func(p manifest.Problem) bool {
		return p.Field == field && p.Code == code
	})
}

// missingFields warns of fields that a condition reads and that objects may lack. One object of the kind without it is
// enough.
func (r *Result) missingFields(field string, spec *v1alpha1.ResourceSelector, known *kinds.Known) {
	types := known.Schema(schema.GroupVersionKind{Group: spec.Group, Version: spec.Version, Kind: spec.Kind})
	missing, err := cel.MissingFields(spec.MatchConditions, types, cel.InputsOf(spec)...)
	if err != nil {
		return // the conditions were compiled already
	}
	for i := range spec.MatchConditions {
		if r.has(fmt.Sprintf("%s.matchConditions[%d].expression", field, i)) {
			continue
		}
		var first *cel.Missing
		var paths []string
		for n := range missing {
			if missing[n].Condition == i && !isFiltered(missing[n].Path, spec.LabelFilters) {
				if paths = append(paths, missing[n].Path); first == nil {
					first = &missing[n]
				}
			}
		}
		if first == nil {
			continue
		}
		message := fmt.Sprintf(
			"%s may be missing in %s; then the condition fails, and %s",
			strings.Join(paths, ", "),
			terminal.WithArticle(spec.Kind),
			r.afterFailure(),
		)
		r.inText(
			fmt.Sprintf("%s.matchConditions[%d].expression", field, i),
			codes.CELMissing,
			message,
			first.Line,
			first.Column,
		)
		r.Problems[len(r.Problems)-1].Hint = askFirst(paths, spec.MatchConditions[i].Expression)
	}
}

// isFiltered reports whether the labelFilters let no object through that lacks the field.
func isFiltered(path string, filters []v1alpha1.LabelFilter) bool {
	const labels = "object.metadata.labels"
	return slices.ContainsFunc(filters, func(f v1alpha1.LabelFilter) bool {
		needsLabel := f.Operation == v1alpha1.OperationHas || f.Operation == v1alpha1.OperationEqual
		return needsLabel && (path == labels || path == labels+"."+f.Key || path == fmt.Sprintf("%s[%q]", labels, f.Key))
	})
}

// askFirst is how to ask whether fields are there: those in the first one, and, if all that the expression says must
// hold, the others too.
func askFirst(paths []string, expression string) string {
	holdsAll := !strings.ContainsAny(expression, "|?")
	var asked []string
	for _, path := range paths {
		isIn := strings.HasPrefix(path, paths[0]+".") || strings.HasPrefix(path, paths[0]+"[")
		isOfObject := strings.HasPrefix(paths[0], "object.") && strings.HasPrefix(path, "object.")
		if path == paths[0] || isIn || holdsAll && isOfObject {
			asked = append(asked, isThere(path))
		}
	}
	return "ask first: " + strings.Join(asked, " && ") + " && ..."
}

// isThere is the condition that a field is there.
func isThere(path string) string {
	const labels, annotations = "object.metadata.labels.", "object.metadata.annotations."
	for _, prefix := range []string{labels, annotations} {
		if key, ok := strings.CutPrefix(path, prefix); ok {
			return fmt.Sprintf("'%s' in %s", key, strings.TrimSuffix(prefix, "."))
		}
	}
	if open := strings.LastIndex(path, `["`); open >= 0 && strings.HasSuffix(path, `"]`) {
		key := path[open+1 : len(path)-1]
		if !strings.ContainsAny(key, `'\\`) {
			key = "'" + strings.Trim(key, `"`) + "'"
		}
		return key + " in " + path[:open]
	}
	return "has(" + path + ")"
}
