// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package explain asks the selectors of a Cleaner about one object, and says which part of them refuses it.
package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// Judge is a Cleaner whose selectors are asked about single objects, and for their reasons.
type Judge struct {
	Cleaner   *v1alpha1.Cleaner
	Selectors []*selector.Selector
	Finds     survey.Lookup
	Session   *sandbox.Session
	Now       time.Time
	// Namespaces are the labels of those that are known; nil for one that is being deleted.
	Namespaces map[string]labels.Set
	// Explaining is true while scripts run once more, only to find out why they refused.
	Explaining atomic.Bool
}

// Subject is an object that selectors are asked about.
type Subject struct {
	object.Object
	Metadata metav1.ObjectMeta
	// Anywhere is whether it counts as in each namespace that is selected.
	Anywhere bool
}

// Verdict is what the selectors of a Cleaner say of one object.
type Verdict struct {
	Matches bool
	// Because says which selector the object matches and what its message is; refusals say why each one refused it.
	Because  string
	Refusals []string
	Err      error
}

// Open makes the Cleaner's selectors ready. inputs has what a selector takes its inputs from.
func (j *Judge) Open(inputs func(v1alpha1.ResourceSelector) (selector.Judge, error)) error {
	programs, err := expr.Conditions(j.Cleaner)
	if err != nil {
		return err
	}
	for i, spec := range j.Cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		judge, err := inputs(spec)
		if err != nil {
			return err
		}
		judge.Script, judge.Session, judge.Finding = spec.Evaluate, j.Session, j.Finds(i)
		if programs[i] != nil {
			judge.Conditions = programs[i].NewRun(j.Now)
		}
		s, err := selector.New(i, spec, judge, j.Now)
		if err != nil {
			return err
		}
		j.Selectors = append(j.Selectors, s)
	}
	return nil
}

// ReadNamespace reads the labels of a namespace. They stay unknown when it cannot be read.
func (j *Judge) ReadNamespace(ctx context.Context, reader *selector.Reader, name string) {
	if name == "" {
		return
	}
	found, err := reader.Namespaces(ctx, []string{name})
	if err == nil && found[name] != nil {
		j.Namespaces[name] = found[name].Labels
	}
}

// Verdict asks the selectors one after the other.
func (j *Judge) Verdict(ctx context.Context, o *Subject) Verdict {
	var v Verdict
	for i := range j.Selectors {
		j.Ask(ctx, i, o, &v)
		if v.Matches || v.Err != nil {
			break
		}
	}
	return v
}

// Ask asks the i-th selector, as a run does when it judges an object again.
func (j *Judge) Ask(ctx context.Context, i int, o *Subject, v *Verdict) {
	spec := j.Cleaner.Spec.ResourcePolicySet.ResourceSelectors[i]
	selectorName := fmt.Sprintf("resourceSelectors[%d]", i)
	if o.Kind.Group != spec.Group || o.Kind.Version != spec.Version || o.Kind.Kind != spec.Kind {
		return
	}
	scope := j.Scope(spec, o)
	matches, message, err := j.Selectors[i].Again(ctx, o.Object, scope)
	switch {
	case err != nil:
		v.Err = fmt.Errorf("%s: %w", selectorName, err)
	case matches:
		v.Matches, v.Because = true, Said(selectorName+" selects it", message)
	default:
		v.Refusals = append(v.Refusals, selectorName+": "+j.explain(ctx, i, o, scope))
	}
}

// Why are the refusals or, when no selector selects the kind, that.
func (j *Judge) Why(o *Subject, refusals []string) []string {
	if len(refusals) > 0 {
		return refusals
	}
	var kinds []string
	for _, spec := range j.Cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		kinds = append(kinds, kindName(spec.Group, spec.Version, spec.Kind))
	}
	slices.Sort(kinds)
	return []string{
		fmt.Sprintf("no resourceSelector selects %s; they select %s", kindName(o.Kind.Group, o.Kind.Version, o.Kind.Kind),
			strings.Join(slices.Compact(kinds), ", ")),
	}
}

func kindName(group, version, kind string) string {
	if group == "" {
		return version + " " + kind
	}
	return group + "/" + version + " " + kind
}

// BeingDeleted is why an object is refused that is on its way out.
const BeingDeleted = "it is being deleted (deletionTimestamp), and excludeDeleted is true"

// explain finds the first part of a selector that refuses an object, by asking for each part alone.
func (j *Judge) explain(ctx context.Context, of int, o *Subject, scope selector.Scope) string {
	spec := j.Cleaner.Spec.ResourcePolicySet.ResourceSelectors[of]
	if !scope.Contains(o.Namespace) {
		return j.explainNamespace(spec, o)
	}
	if why := j.explainMetadata(ctx, spec, o); why != "" {
		return why
	}
	if ask := j.Finds(of); ask != nil {
		if _, ok := ask(o.Object); !ok {
			return fmt.Sprintf(
				"finding (%s): the object does not have this finding, or has it with a lower confidence than minConfidence (%s)",
				spec.Finding.Type,
				spec.Finding.Least(),
			)
		}
	}
	data, err := j.Selectors[of].Data(ctx, o.Object)
	if err != nil {
		return err.Error()
	}
	for i, condition := range spec.MatchConditions {
		if j.isFalse(ctx, condition, o, data, cel.InputsOf(&spec)) {
			return fmt.Sprintf("matchConditions[%d] (%s) is false: %s", i, condition.Name, condition.Expression)
		}
	}
	j.Explaining.Store(true)
	defer j.Explaining.Store(false)
	match, err := j.Session.EvaluateWith(ctx, spec.Evaluate+reportAnyway, o.Object, data)
	if err != nil {
		return "evaluate returned matching=false"
	}
	return Said("evaluate returned matching=false", object.Mask(match.Message, o.Object))
}

// explainMetadata finds the first part of a selector that refuses the labels, the deletion or the age of an object. It
// is empty when none does.
func (j *Judge) explainMetadata(ctx context.Context, spec v1alpha1.ResourceSelector, o *Subject) string {
	anything := v1alpha1.ResourceSelector{ExcludeDeleted: ptr.To(false)}
	for i, filter := range spec.LabelFilters {
		part := anything
		part.LabelFilters = []v1alpha1.LabelFilter{filter}
		if j.refuses(ctx, part, selector.Judge{}, o) {
			words := strings.TrimSpace(fmt.Sprintf("%s %s %s", filter.Key, filter.Operation, ptr.Deref(filter.Value, "")))
			return fmt.Sprintf("labelFilters[%d] (%s) does not hold: %s", i, words, labelWords(o, filter.Key))
		}
	}
	part := anything
	if part.ExcludeDeleted = ptr.To(spec.SkipsDeleted()); j.refuses(ctx, part, selector.Judge{}, o) {
		return BeingDeleted
	}
	part = anything
	if part.MinAgeSeconds = spec.MinAgeSeconds; j.refuses(ctx, part, selector.Judge{}, o) {
		if o.Created.IsZero() {
			return fmt.Sprintf("minAgeSeconds (%d): it has no creationTimestamp", *spec.MinAgeSeconds)
		}
		return fmt.Sprintf("minAgeSeconds (%d): it is %s old", *spec.MinAgeSeconds, j.Now.Sub(o.Created).Round(time.Second))
	}
	return ""
}

// reportAnyway makes a script return its message also when nothing matches: a run would not show it.
const reportAnyway = `
do
  local original = evaluate
  function evaluate(...)
    local result = original(...)
    return {matching = true, message = result.message}
  end
end`

func (j *Judge) isFalse(
	ctx context.Context,
	condition v1alpha1.MatchCondition,
	o *Subject,
	data object.JSON,
	inputs []cel.Input,
) bool {
	program, err := cel.Compile([]v1alpha1.MatchCondition{condition}, inputs...)
	if err != nil {
		return false
	}
	holds, _, err := program.NewRun(j.Now).EvaluateWith(ctx, o.Object, data)
	return err == nil && !holds
}

// refuses asks for one part of a selector.
func (j *Judge) refuses(ctx context.Context, part v1alpha1.ResourceSelector, judge selector.Judge, o *Subject) bool {
	s, err := selector.New(0, part, judge, j.Now)
	if err != nil {
		return false
	}
	matches, _, err := s.Again(ctx, o.Object, selector.Scope{Cluster: true})
	return err == nil && !matches
}

func labelWords(o *Subject, key string) string {
	value, ok := o.Metadata.Labels[key]
	if !ok {
		return "the object has no such label"
	}
	return "the label is " + terminal.Quoted(value)
}

// Said adds the message of a script.
func Said(what, message string) string {
	if strings.TrimSpace(message) == "" {
		return what
	}
	return fmt.Sprintf("%s: %s", what, message)
}
