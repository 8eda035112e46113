// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

const selectorsField = "spec.resourcePolicySet.resourceSelectors"

// selectors checks label selectors, matchConditions and mergePatch.
func (r *Result) selectors(now time.Time) {
	for i, spec := range r.Cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		field := fmt.Sprintf("%s[%d]", selectorsField, i)
		if _, err := selector.New(i, spec, selector.Judge{}, now); err != nil {
			for _, err := range terminal.Unjoined(err) {
				r.labels(field, err.Error())
			}
		}
		for _, err := range inputs.Check(&spec) {
			r.inputs(field, err.Error())
		}
		if err := finding.CheckSelector(&spec, r.Cleaner.EffectiveAction()); err != nil {
			r.inputs(field, err.Error())
		}
		if len(spec.MatchConditions) == 0 {
			continue
		}
		if _, err := cel.Compile(spec.MatchConditions, cel.InputsOf(&spec)...); err != nil {
			for _, err := range terminal.Unjoined(err) {
				r.condition(field, err.Error())
			}
		}
	}
	r.mergePatch()
}

// labels places an error that begins with the field's name: `namespaceSelector "env=" ...` or `labelFilters[0]: ...`.
func (r *Result) labels(field, message string) {
	name := message[:strings.IndexAny(message+" ", " :")]
	if place := manifest.Join(field, name); !r.anyBelow(place) {
		text := strings.TrimPrefix(strings.TrimPrefix(message, name), ":")
		what, hint := twoParts(strings.TrimSpace(text))
		r.add(place, codes.SelectorWrong, what, hint)
	}
}

// inputs places an error that begins with the field's name: `metricSource.url must begin with ...`.
func (r *Result) inputs(field, message string) {
	name := message[:strings.IndexAny(message, " :")]
	place := manifest.Join(field, name)
	if first, _, _ := strings.Cut(name, "."); r.anyBelow(place) || r.has(field) || r.has(manifest.Join(field, first)) {
		return // the schema said so
	}
	what, hint := twoParts(strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(message, name), ":")))
	r.add(place, codes.FieldValue, what, hint)
}

// anyBelow reports whether a field, or one in it, already has an error.
func (r *Result) anyBelow(field string) bool {
	for _, p := range r.Problems {
		if strings.HasPrefix(p.Field, field) && p.Code.Severity() == codes.SeverityError {
			return true
		}
	}
	return false
}

var (
	// conditionError is `matchConditions[2] (unused): line 1, column 8: undeclared reference ...`.
	conditionError = regexp.MustCompile(`(?s)^matchConditions\[(\d+)\][^:]*: (.*)$`)
	placeError     = regexp.MustCompile(`(?s)^line (\d+), column (\d+): (.*)$`)
)

func (r *Result) condition(field, message string) {
	path := field + ".matchConditions"
	if found := conditionError.FindStringSubmatch(message); found != nil {
		path, message = fmt.Sprintf("%s[%s].expression", path, found[1]), found[2]
	}
	if r.has(path) {
		return
	}
	line, column := 0, 0
	if found := placeError.FindStringSubmatch(message); found != nil {
		line, _ = strconv.Atoi(found[1])
		column, _ = strconv.Atoi(found[2])
		message = found[3]
	}
	r.inText(path, codes.CELSyntax, message, line, column)
	if _, node := r.Document.Find(path); node != nil {
		r.Problems[len(r.Problems)-1].Hint = conditionHint(message, node.Value)
	}
}

// inText adds a problem at a place in the text of a field. line and column are counted from 1 in that text; 0 means the
// field. Where the file's line can be shown below the message, the message goes without; where the lines of the file
// are not those of the text, it has the text's.
func (r *Result) inText(field string, code codes.Code, message string, line, column int) {
	p := r.Document.At(field, code, message, "")
	if _, node := r.Document.Find(field); node != nil && line > 0 {
		p.Line, p.Column = r.Document.Within(node, line, column)
		p.Text = r.Document.Lines[p.Line-1]
		if lines := strings.Split(node.Value, "\n"); line <= len(lines) {
			quote := ": " + strings.TrimSpace(lines[line-1])
			p.Message = strings.TrimSuffix(message, quote)
			if p.Column == 0 {
				p.Message, p.Text = p.Message+quote, ""
			}
		}
	}
	r.Problems = append(r.Problems, p)
}

func (r *Result) mergePatch() {
	if r.Cleaner.Spec.MergePatch == nil || r.has("spec.mergePatch") {
		return
	}
	_, err := StaticPatch(r.Cleaner)
	if err == nil {
		return
	}
	for one := range strings.SplitSeq(err.Error(), "\n") { // joined errors
		message, hint := twoParts(one)
		r.add("spec.mergePatch", codes.PatchWrong, message, hint)
	}
}

// StaticPatch reads spec.mergePatch.
func StaticPatch(cleaner *v1alpha1.Cleaner) (map[string]any, error) {
	patch, err := object.JSON(cleaner.Spec.MergePatch.Raw).Decode()
	if err != nil {
		return nil, err
	}
	fields, ok := patch.(map[string]any)
	if !ok || len(fields) == 0 {
		return nil, errors.New("it changes nothing; write what to change, for example {spec: {replicas: 0}}")
	}
	return fields, object.CheckPatch(fields)
}

// scripts compiles the Lua scripts.
func (r *Result) scripts(ctx context.Context, pool *sandbox.Pool) error {
	var scripts []sandbox.Script
	add := func(field, function, source string) {
		if source != "" && !r.has(field) {
			scripts = append(scripts, sandbox.Script{Field: field, Function: function, Source: source})
		}
	}
	spec := r.Cleaner.Spec
	for i, sel := range spec.ResourcePolicySet.ResourceSelectors {
		add(fmt.Sprintf("%s[%d].evaluate", selectorsField, i), "evaluate", sel.Evaluate)
	}
	add("spec.resourcePolicySet.aggregatedSelection", "evaluate", spec.ResourcePolicySet.AggregatedSelection)
	add("spec.transform", "transform", spec.Transform)
	if len(scripts) == 0 {
		return nil
	}
	problems, err := pool.Compile(ctx, scripts)
	if err != nil {
		return terminal.Fail(codes.LuaChild, fmt.Errorf("compiling scripts: %w", err), "")
	}
	for i, problem := range problems {
		if problem != nil {
			r.script(scripts[i].Field, problem)
		}
	}
	return nil
}

func (r *Result) script(field string, err error) {
	var syntax *lua.SyntaxError
	var budget *sandbox.BudgetError
	switch {
	case errors.As(err, &syntax):
		r.inText(field, codes.LuaSyntax, syntax.Msg, syntax.Line, syntax.Column)
	case errors.As(err, &budget):
		message, hint := twoParts(err.Error())
		r.add(field, codes.LuaBudget, message, hint)
	default:
		message, hint := twoParts(err.Error())
		r.add(field, codes.LuaSyntax, message, hint)
	}
}
