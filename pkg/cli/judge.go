// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// verdict is what the selectors of a Cleaner say of one object.
type verdict struct {
	matches bool
	// because says which selector the object matches and what its message is; refusals say why each one refused it.
	because  string
	refusals []string
	err      error
}

// judge asks the selectors one after the other.
func (t *trial) judge(ctx context.Context, o *testObject) verdict {
	var v verdict
	for i := range t.selectors {
		t.ask(ctx, i, o, &v)
		if v.matches || v.err != nil {
			break
		}
	}
	return v
}

// ask asks the i-th selector, as a run does when it judges an object again.
func (t *trial) ask(ctx context.Context, i int, o *testObject, v *verdict) {
	spec := t.cleaner.Spec.ResourcePolicySet.ResourceSelectors[i]
	selectorName := fmt.Sprintf("resourceSelectors[%d]", i)
	if o.Kind.Group != spec.Group || o.Kind.Version != spec.Version || o.Kind.Kind != spec.Kind {
		return
	}
	scope := t.scope(spec, o)
	matches, message, err := t.selectors[i].Again(ctx, o.Object, scope)
	switch {
	case err != nil:
		v.err = fmt.Errorf("%s: %w", selectorName, err)
	case matches:
		v.matches, v.because = true, said(selectorName+" selects it", message)
	default:
		v.refusals = append(v.refusals, selectorName+": "+t.explain(ctx, i, o, scope))
	}
}

// why are the refusals or, when no selector selects the kind, that.
func (t *trial) why(o *testObject, refusals []string) []string {
	if len(refusals) > 0 {
		return refusals
	}
	var kinds []string
	for _, spec := range t.cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		kinds = append(kinds, kindName(spec.Group, spec.Version, spec.Kind))
	}
	slices.Sort(kinds)
	return []string{fmt.Sprintf("no resourceSelector selects %s; they select %s", kindName(o.Kind.Group, o.Kind.Version, o.Kind.Kind),
		strings.Join(slices.Compact(kinds), ", "))}
}

func kindName(group, version, kind string) string {
	if group == "" {
		return version + " " + kind
	}
	return group + "/" + version + " " + kind
}

// scope is where the selector looks, as far as it matters to one object.
func (t *trial) scope(spec v1alpha1.ResourceSelector, o *testObject) selector.Scope {
	if o.anywhere || spec.Namespace == "" && spec.NamespaceSelector == "" {
		return selector.Scope{Cluster: true}
	}
	var scope selector.Scope
	if spec.Namespace != "" {
		scope.Namespaces = append(scope.Namespaces, spec.Namespace)
	}
	if spec.NamespaceSelector != "" && o.Namespace != "" && t.selectsNamespace(spec.NamespaceSelector, o.Namespace) {
		scope.Namespaces = append(scope.Namespaces, o.Namespace)
	}
	return scope
}

// selectsNamespace asks a namespaceSelector. Of a namespace that is not among the objects only the name is known, and what is
// not known counts as satisfied.
func (t *trial) selectsNamespace(text, namespace string) bool {
	parsed, err := labels.Parse(text)
	if err != nil {
		return false // selector.New said so before
	}
	if known, ok := t.namespaces[namespace]; ok {
		return known != nil && parsed.Matches(known)
	}
	const nameLabel = "kubernetes.io/metadata.name"
	requirements, _ := parsed.Requirements()
	for _, r := range requirements {
		if r.Key() == nameLabel && !r.Matches(labels.Set{nameLabel: namespace}) {
			return false
		}
	}
	return true
}

// beingDeleted is why an object is refused that is on its way out.
const beingDeleted = "it is being deleted (deletionTimestamp), and excludeDeleted is true"

// explain finds the first part of a selector that refuses an object, by asking for each part alone.
func (t *trial) explain(ctx context.Context, of int, o *testObject, scope selector.Scope) string {
	spec := t.cleaner.Spec.ResourcePolicySet.ResourceSelectors[of]
	if !scope.Contains(o.Namespace) {
		return t.explainNamespace(spec, o)
	}
	anything := v1alpha1.ResourceSelector{ExcludeDeleted: ptr.To(false)}
	for i, filter := range spec.LabelFilters {
		part := anything
		part.LabelFilters = []v1alpha1.LabelFilter{filter}
		if t.refuses(ctx, part, selector.Judge{}, o) {
			words := strings.TrimSpace(fmt.Sprintf("%s %s %s", filter.Key, filter.Operation, ptr.Deref(filter.Value, "")))
			return fmt.Sprintf("labelFilters[%d] (%s) does not hold: %s", i, words, labelWords(o, filter.Key))
		}
	}
	part := anything
	if part.ExcludeDeleted = spec.ExcludeDeleted; t.refuses(ctx, part, selector.Judge{}, o) {
		return beingDeleted
	}
	part = anything
	if part.MinAgeSeconds = spec.MinAgeSeconds; t.refuses(ctx, part, selector.Judge{}, o) {
		if o.Created.IsZero() {
			return fmt.Sprintf("minAgeSeconds (%d): it has no creationTimestamp", *spec.MinAgeSeconds)
		}
		return fmt.Sprintf("minAgeSeconds (%d): it is %s old", *spec.MinAgeSeconds, t.now.Sub(o.Created).Round(time.Second))
	}
	if ask := t.finds(of); ask != nil {
		if _, ok := ask(o.Object); !ok {
			return fmt.Sprintf("finding (%s): it is not %s, or not as surely as %s", spec.Finding.Type, spec.Finding.Type, spec.Finding.Least())
		}
	}
	data, err := t.selectors[of].Data(ctx, o.Object)
	if err != nil {
		return err.Error()
	}
	for i, condition := range spec.MatchConditions {
		if t.isFalse(ctx, condition, o, data, cel.InputsOf(&spec)) {
			return fmt.Sprintf("matchConditions[%d] (%s) is false: %s", i, condition.Name, condition.Expression)
		}
	}
	t.explaining.Store(true)
	defer t.explaining.Store(false)
	match, err := t.session.EvaluateWith(ctx, spec.Evaluate+tellAnyway, o.Object, data)
	if err != nil {
		return "evaluate returned matching=false"
	}
	return said("evaluate returned matching=false", object.Mask(match.Message, o.Object))
}

// tellAnyway makes a script tell its message also when nothing matches: in a run nobody would hear it.
const tellAnyway = `
do
  local original = evaluate
  function evaluate(...)
    local result = original(...)
    return {matching = true, message = result.message}
  end
end`

func (t *trial) isFalse(ctx context.Context, condition v1alpha1.MatchCondition, o *testObject, data object.JSON, inputs []cel.Input) bool {
	program, err := cel.Compile([]v1alpha1.MatchCondition{condition}, inputs...)
	if err != nil {
		return false
	}
	holds, _, err := program.NewRun(t.now).EvaluateWith(ctx, o.Object, data)
	return err == nil && !holds
}

// refuses asks for one part of a selector.
func (t *trial) refuses(ctx context.Context, part v1alpha1.ResourceSelector, judge selector.Judge, o *testObject) bool {
	s, err := selector.New(0, part, judge, t.now)
	if err != nil {
		return false
	}
	matches, _, err := s.Again(ctx, o.Object, selector.Scope{Cluster: true})
	return err == nil && !matches
}

func (t *trial) explainNamespace(spec v1alpha1.ResourceSelector, o *testObject) string {
	place := "the namespace " + o.Namespace
	if o.Namespace == "" {
		place = "an object without namespace"
	}
	wanted := "namespace " + terminal.Quoted(spec.Namespace)
	switch {
	case spec.NamespaceSelector != "" && spec.Namespace != "":
		wanted += ", namespaceSelector " + terminal.Quoted(spec.NamespaceSelector)
	case spec.NamespaceSelector != "":
		wanted = "namespaceSelector " + terminal.Quoted(spec.NamespaceSelector)
	}
	if known, ok := t.namespaces[o.Namespace]; ok && known == nil {
		place += ", which is being deleted"
	}
	return wanted + " does not select " + place
}

func labelWords(o *testObject, key string) string {
	value, ok := o.metadata.Labels[key]
	if !ok {
		return "the object has no such label"
	}
	return "the label is " + terminal.Quoted(value)
}
