// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/jmespath"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
)

// excludesAll says that a policy deletes nothing, because its exclude is there and is empty.
func (p *policy) excludesAll(m *matching) bool {
	if m == nil || len(m.Any)+len(m.All) > 0 {
		return false
	}
	p.lost(p.d, "spec.exclude", "is empty, and Kyverno then excludes everything: "+
		"the policy deletes nothing, so no Cleaner was written",
		"if it is to delete, remove exclude, or write into exclude.any what is to stay")
	return true
}

// without takes what exclude names out of the selectors.
func (p *policy) without(selectors []v1alpha1.ResourceSelector, m *matching) (left []v1alpha1.ResourceSelector) {
	alternatives := slices.DeleteFunc(m.filters("spec.exclude"), func(alternative []placed) bool {
		return slices.ContainsFunc(alternative, func(f placed) bool { return f.isEmpty() && len(f.Resources.Asked) == 0 })
	})
	p.sayWhatExcludesNothing(alternatives)
	for _, s := range selectors {
		whole := false
		for i, alternative := range alternatives {
			if p.leaveOutNamespaces(&s, alternative) {
				continue
			}
			name := "not-excluded" // the same in all selectors: hints name it
			if i > 0 {
				name = fmt.Sprintf("%s-%d", name, i+1)
			}
			condition, applies := p.excluded(&s, alternative, name)
			whole = whole || applies && condition == ""
			if applies && condition != "" {
				s.MatchConditions = append(s.MatchConditions, v1alpha1.MatchCondition{
					Name:       name,
					Expression: "!(" + condition + ")",
				})
			}
		}
		if whole {
			p.differs(p.d, "spec.exclude", "the Cleaner does not select "+s.Kind+" objects: exclude names all of them", "")
			continue
		}
		left = append(left, s)
	}
	return left
}

// sayWhatExcludesNothing names the subresources of exclude, by which Kyverno keeps no object.
func (p *policy) sayWhatExcludesNothing(alternatives [][]placed) {
	for _, f := range slices.Concat(alternatives...) {
		for _, name := range f.Resources.Kinds {
			if k := parseKindPattern(name); !isLike(k.subresource, "") {
				p.differs(p.d, f.at+".resources.kinds",
					fmt.Sprintf("%q names the subresource %q: it excludes no object, as in Kyverno", name, k.subresource), "")
			}
		}
	}
}

// leaveOutNamespaces takes namespaces with a label out of a selector, where an alternative of exclude says just that of
// them.
func (p *policy) leaveOutNamespaces(s *v1alpha1.ResourceSelector, alternative []placed) bool {
	if len(alternative) != 1 || isClusterScoped(s) || p.namespace != "" {
		return false
	}
	if is, doubtful := ofKind(s, alternative[0].Resources.Kinds); !is || doubtful != "" {
		return false
	}
	rest := alternative[0].filter
	not := negated(rest.Resources.NamespaceSelector)
	rest.Resources.Kinds, rest.Resources.NamespaceSelector, rest.Resources.Asked = nil, nil, nil
	if not == "" || !reflect.DeepEqual(rest, filter{}) {
		return false
	}
	all := []string{not}
	if s.NamespaceSelector != "" {
		all = append([]string{s.NamespaceSelector}, all...)
	}
	if s.Namespace != "" { // it is united with the selector of namespaces, and would not be narrowed by it
		all = append([]string{"kubernetes.io/metadata.name in (" + s.Namespace + ")"}, all...)
		s.Namespace = ""
	}
	s.NamespaceSelector = strings.Join(all, ",")
	return true
}

// negated is the opposite of a label selector of one requirement. Empty for any other.
func negated(selector *metav1.LabelSelector) string {
	if selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) != 1 {
		return ""
	}
	for key, value := range selector.MatchLabels {
		if anyWildcard([]string{key, value}) {
			return ""
		}
		return key + "!=" + value
	}
	e := selector.MatchExpressions[0]
	e.Operator = map[metav1.LabelSelectorOperator]metav1.LabelSelectorOperator{
		metav1.LabelSelectorOpIn: metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpNotIn: metav1.LabelSelectorOpIn,
		metav1.LabelSelectorOpExists:       metav1.LabelSelectorOpDoesNotExist,
		metav1.LabelSelectorOpDoesNotExist: metav1.LabelSelectorOpExists,
	}[e.Operator]
	text := metav1.FormatLabelSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{e}})
	if strings.HasPrefix(text, "<") || anyWildcard([]string{text}) ||
		e.Operator == metav1.LabelSelectorOpIn { // NotIn is also true without the label
		return ""
	}
	return text
}

// excluded is the condition, which a selector has by a name, under which an object is excluded by all filters of an
// alternative. It is empty when all of its objects are. What is unknown of an object excludes it: then the Cleaner
// selects less.
func (p *policy) excluded(
	s *v1alpha1.ResourceSelector,
	alternative []placed,
	name string,
) (condition string, applies bool) {
	var all []string
	before := len(p.problems)
	for _, f := range alternative {
		is, doubtful := ofKind(s, f.Resources.Kinds)
		if !is {
			return "", false
		}
		if doubtful != "" {
			p.lost(p.d, f.at+".resources.kinds",
				fmt.Sprintf("%q is taken for the version %s, which match selects", doubtful, s.Version),
				"remove the version from exclude, or the whole name")
			before = len(p.problems) // what is lost besides has a hint of its own
		}
		part := v1alpha1.ResourceSelector{Group: s.Group, Kind: s.Kind}
		within := p.narrowExcluded(&part, f, name)
		for _, c := range part.MatchConditions {
			all = append(all, "("+c.Expression+")")
		}
		for _, l := range part.LabelFilters {
			all = append(all, labelCondition(l))
		}
		if len(within) > 0 {
			all = append(all, within...)
		}
	}
	if !slices.ContainsFunc(all, func(c string) bool { return strings.Trim(c, "()") != "true" }) {
		for i := range p.problems[before:] {
			p.problems[before+i].Hint = "so everything that match selects counts as excluded, and the Cleaner selects nothing until you replace its condition " +
				name + " with one in CEL"
		}
	}
	return strings.Join(all, " && "), true
}

func labelCondition(l v1alpha1.LabelFilter) string {
	switch l.Operation {
	case v1alpha1.OperationHas:
		return "(has(object.metadata.labels) && " + jmespath.Quote(l.Key) + " in object.metadata.labels)"
	case v1alpha1.OperationDoesNotHave:
		return "!(has(object.metadata.labels) && " + jmespath.Quote(l.Key) + " in object.metadata.labels)"
	}
	return "(" + textOfKey("labels", l.Key, *l.Value) + ")"
}

// ofKind reports whether names of kinds are those of a selector, or there are none. A name of a subresource is that of
// no object. Doubtful is a name by which it is not known, because its version is another one.
func ofKind(s *v1alpha1.ResourceSelector, names []string) (is bool, doubtful string) {
	for _, name := range names {
		k := parseKindPattern(name)
		switch {
		case !k.isOf(s), !isLike(k.subresource, ""):
		case isLike(k.version, s.Version):
			return true, ""
		default:
			doubtful = name
		}
	}
	return len(names) == 0 || doubtful != "", doubtful
}

// narrowExcluded is narrow for a filter of exclude: a condition that is lost becomes true, so that the object is
// excluded, and namespaces are conditions.
func (p *policy) narrowExcluded(s *v1alpha1.ResourceSelector, f placed, name string) (within []string) {
	if f.Resources.NamespaceSelector != nil {
		p.lost(p.d, f.at+".resources.namespaceSelector",
			"is not carried over: conditions do not see labels of namespaces; all namespaces count as excluded",
			"change the condition "+name+" of the Cleaner, or use namespaceSelector in match, which is carried over")
		f.Resources.NamespaceSelector = nil
		within = append(within, "true")
	}
	if names := f.Resources.Namespaces; len(names) > 0 && !guard.IsNamespace(s.Group, s.Kind) { // narrow does those
		within = append(within, "(has(object.metadata.namespace) && ("+matchesAny("object.metadata.namespace", names)+"))")
		f.Resources.Namespaces = nil
	}
	before := len(p.problems)
	p.narrow(s, f)
	for i := range s.MatchConditions {
		if strings.HasPrefix(s.MatchConditions[i].Name, "not-carried-over") {
			s.MatchConditions[i].Expression = "true"
		}
	}
	for i := range p.problems[before:] {
		p.problems[before+i].Hint = "everything else that this part of exclude matches counts as excluded; change the condition " +
			name + " of the Cleaner"
	}
	return within
}
