// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/imports/jmespath"
)

// narrow adds to a selector what a filter asks for besides the kind. It returns the requirements of namespaces.
func (p *policy) narrow(s *v1alpha1.ResourceSelector, f placed) (within []string) {
	r, at := &f.Resources, f.at+".resources"
	if len(f.Subjects)+len(f.Roles)+len(f.ClusterRoles) > 0 {
		s.MatchConditions = append(s.MatchConditions, p.lose(f.at, "asks who made the object, which nobody knows later"))
	}
	add := func(name, expression string) {
		if expression != "" {
			s.MatchConditions = append(s.MatchConditions, v1alpha1.MatchCondition{Name: unused(name, s.MatchConditions), Expression: expression})
		}
	}
	add("name", matchesAny("object.metadata.name", r.allNames()))
	if anyWildcard(r.Namespaces) {
		add("namespace", matchesAny("object.metadata.namespace", r.Namespaces))
	} else if len(r.Namespaces) > 0 {
		within = append(within, "kubernetes.io/metadata.name in ("+strings.Join(r.Namespaces, ",")+")")
	}
	for _, key := range slices.Sorted(maps.Keys(r.Annotations)) {
		if anyWildcard([]string{key}) {
			s.MatchConditions = append(s.MatchConditions, p.lose(at+".annotations", fmt.Sprintf("the key %q has a wildcard", key)))
			continue
		}
		add("annotation", textOfKey("annotations", key, r.Annotations[key]))
	}
	if r.Selector != nil {
		filters, expressions := labelsOf(r.Selector)
		s.LabelFilters = append(s.LabelFilters, filters...)
		for _, e := range expressions {
			add("label", e)
		}
	}
	if r.NamespaceSelector != nil {
		text := metav1.FormatLabelSelector(r.NamespaceSelector)
		switch {
		case strings.HasPrefix(text, "<"): // an empty or a wrong one
			s.MatchConditions = append(s.MatchConditions, p.lose(at+".namespaceSelector", "cannot be read as a label selector"))
		case anyWildcard([]string{text}):
			s.MatchConditions = append(s.MatchConditions, p.lose(at+".namespaceSelector", "has a wildcard"))
		default:
			within = append(within, text)
		}
	}
	return within
}

func (r *resources) allNames() []string {
	if r.Name == "" {
		return r.Names
	}
	return append([]string{r.Name}, r.Names...)
}

// unused is a name that no condition has.
func unused(name string, conditions []v1alpha1.MatchCondition) string {
	for n := 1; ; n++ {
		tried := name
		if n > 1 {
			tried = fmt.Sprintf("%s-%d", name, n)
		}
		if !slices.ContainsFunc(conditions, func(c v1alpha1.MatchCondition) bool { return c.Name == tried }) {
			return tried
		}
	}
}

func anyWildcard(texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.ContainsAny(text, "*?") })
}

// matchesAny is a condition that a text is one of the patterns, in which * and ? are wildcards. Empty for no patterns.
func matchesAny(value string, patterns []string) string {
	var exact, all []string
	for _, pattern := range patterns {
		if anyWildcard([]string{pattern}) {
			all = append(all, matches(value, pattern))
		} else {
			exact = append(exact, jmespath.Quote(pattern))
		}
	}
	switch len(exact) {
	case 0:
	case 1:
		all = append(all, value+" == "+exact[0])
	default:
		all = append(all, value+" in ["+strings.Join(exact, ", ")+"]")
	}
	return strings.Join(all, " || ")
}

func matches(value, pattern string) string {
	var re strings.Builder
	for _, c := range pattern {
		switch c {
		case '*':
			re.WriteString(".*")
		case '?':
			re.WriteString(".")
		default:
			re.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return value + ".matches(" + jmespath.Quote("^"+re.String()+"$") + ")"
}

// textOfKey is a condition that an object has a label or annotation of a value, in which there may be wildcards.
func textOfKey(in, key, pattern string) string {
	f, err := jmespath.FieldOf(jmespath.Path{"metadata", in, key})
	if err != nil { // a path of metadata can always be translated
		return "false"
	}
	return strings.TrimSuffix(strings.TrimPrefix(f.When(matchesAny(f.Value, []string{pattern})), "("), ")")
}

// labelsOf is a label selector as labelFilters, and as conditions where these have no word for it.
func labelsOf(selector *metav1.LabelSelector) (filters []v1alpha1.LabelFilter, expressions []string) {
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		value := selector.MatchLabels[key]
		if anyWildcard([]string{key, value}) || value == "" {
			expressions = append(expressions, labelExpression(key, value))
			continue
		}
		filters = append(filters, v1alpha1.LabelFilter{Key: key, Operation: v1alpha1.OperationEqual, Value: &value})
	}
	for _, e := range selector.MatchExpressions {
		switch {
		case e.Operator == metav1.LabelSelectorOpExists:
			filters = append(filters, v1alpha1.LabelFilter{Key: e.Key, Operation: v1alpha1.OperationHas})
		case e.Operator == metav1.LabelSelectorOpDoesNotExist:
			filters = append(filters, v1alpha1.LabelFilter{Key: e.Key, Operation: v1alpha1.OperationDoesNotHave})
		case e.Operator == metav1.LabelSelectorOpIn && len(e.Values) == 1 && e.Values[0] != "":
			filters = append(filters, v1alpha1.LabelFilter{Key: e.Key, Operation: v1alpha1.OperationEqual, Value: &e.Values[0]})
		case e.Operator == metav1.LabelSelectorOpIn:
			expressions = append(expressions, oneOf("labels", e.Key, e.Values))
		default: // NotIn is also true of what has no such label
			expressions = append(expressions, "!("+oneOf("labels", e.Key, e.Values)+")")
		}
	}
	return filters, expressions
}

// labelExpression is a label with wildcards in its key or value.
func labelExpression(key, value string) string {
	if !anyWildcard([]string{key}) {
		return textOfKey("labels", key, value)
	}
	return "has(object.metadata.labels) && object.metadata.labels.exists(k, " + matches("k", key) + " && (" + matchesAny("object.metadata.labels[k]", []string{value}) + "))"
}

func oneOf(in, key string, values []string) string {
	f, err := jmespath.FieldOf(jmespath.Path{"metadata", in, key})
	if err != nil {
		return "false"
	}
	quoted := make([]string, 0, len(values))
	for _, value := range values {
		quoted = append(quoted, jmespath.Quote(value))
	}
	return strings.TrimSuffix(strings.TrimPrefix(f.When(f.Value+" in ["+strings.Join(quoted, ", ")+"]"), "("), ")")
}

// without takes what exclude names out of the selectors.
func (p *policy) without(selectors []v1alpha1.ResourceSelector, m *matching) (left []v1alpha1.ResourceSelector) {
	alternatives := m.filters("spec.exclude")
	for _, s := range selectors {
		whole := false
		for _, alternative := range alternatives {
			if p.leaveOutNamespaces(&s, alternative) {
				continue
			}
			condition, applies := p.excluded(&s, alternative)
			whole = whole || applies && condition == ""
			if applies && condition != "" {
				s.MatchConditions = append(s.MatchConditions, v1alpha1.MatchCondition{Name: unused("not-excluded", s.MatchConditions), Expression: "!(" + condition + ")"})
			}
		}
		if !whole {
			left = append(left, s)
		}
	}
	return left
}

// leaveOutNamespaces takes namespaces with a label out of a selector, where an alternative of exclude says just that of them.
func (p *policy) leaveOutNamespaces(s *v1alpha1.ResourceSelector, alternative []placed) bool {
	if len(alternative) != 1 || slices.Contains(clusterScoped, s.Kind) || p.namespace != "" || !p.ofKind(s, alternative[0].Resources.Kinds) {
		return false
	}
	rest := alternative[0].filter
	not := negated(rest.Resources.NamespaceSelector)
	rest.Resources.Kinds, rest.Resources.NamespaceSelector = nil, nil
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
		metav1.LabelSelectorOpExists: metav1.LabelSelectorOpDoesNotExist, metav1.LabelSelectorOpDoesNotExist: metav1.LabelSelectorOpExists,
	}[e.Operator]
	text := metav1.FormatLabelSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{e}})
	if strings.HasPrefix(text, "<") || anyWildcard([]string{text}) || e.Operator == metav1.LabelSelectorOpIn { // NotIn is also true without the label
		return ""
	}
	return text
}

// excluded is the condition under which an object of a selector is excluded by all filters of an alternative. It is empty when all of its objects are. What
// cannot be told of an object excludes it: then the Cleaner selects less.
func (p *policy) excluded(s *v1alpha1.ResourceSelector, alternative []placed) (condition string, applies bool) {
	var all []string
	for _, f := range alternative {
		if !p.ofKind(s, f.Resources.Kinds) {
			return "", false
		}
		part := v1alpha1.ResourceSelector{Kind: s.Kind}
		within := p.narrowExcluded(&part, f)
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

// ofKind reports whether a filter names the kind of a selector, or none. A kind that is not known may be it.
func (p *policy) ofKind(s *v1alpha1.ResourceSelector, names []string) bool {
	if len(names) == 0 {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool {
		kind, ok := p.kinds.named(name)
		return !ok || kind.GroupKind() == schema.GroupKind{Group: s.Group, Kind: s.Kind}
	})
}

// narrowExcluded is narrow for a filter of exclude: a condition that is lost becomes true, so that the object is excluded, and namespaces are conditions.
func (p *policy) narrowExcluded(s *v1alpha1.ResourceSelector, f placed) (within []string) {
	if f.Resources.NamespaceSelector != nil {
		p.lost(p.d, f.at+".resources.namespaceSelector", "is not carried over: conditions do not see labels of namespaces; all namespaces count as excluded",
			"change the condition not-excluded of the Cleaner, or use namespaceSelector in match, which is carried over")
		f.Resources.NamespaceSelector = nil
		within = append(within, "true")
	}
	if names := f.Resources.Namespaces; len(names) > 0 {
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
		p.problems[before+i].Hint = "everything else that this part of exclude matches counts as excluded; change the condition not-excluded of the Cleaner"
	}
	return within
}
