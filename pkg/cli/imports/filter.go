// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/jmespath"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
)

// narrow adds to a selector what a filter asks for besides the kind. It returns the requirements of namespaces.
func (p *policy) narrow(s *v1alpha1.ResourceSelector, f placed) (within []string) {
	r, at := &f.Resources, f.at+".resources"
	if len(f.Subjects)+len(f.Roles)+len(f.ClusterRoles) > 0 {
		s.MatchConditions = append(s.MatchConditions, p.lose(f.at, "asks who made the object, which nobody knows later"))
	}
	add := func(name, expression string) {
		if expression != "" {
			s.MatchConditions = append(
				s.MatchConditions,
				v1alpha1.MatchCondition{Name: unused(name, s.MatchConditions), Expression: expression},
			)
		}
	}
	add("name", matchesAny("object.metadata.name", r.allNames()))
	if guard.IsNamespace(s.Group, s.Kind) { // Kyverno takes a Namespace to be in itself
		add("namespace", matchesAny("object.metadata.name", r.Namespaces))
	} else if anyWildcard(r.Namespaces) {
		add("namespace", matchesAny("object.metadata.namespace", r.Namespaces))
	} else if len(r.Namespaces) > 0 {
		within = append(within, "kubernetes.io/metadata.name in ("+strings.Join(r.Namespaces, ",")+")")
	}
	for _, key := range slices.Sorted(maps.Keys(r.Annotations)) {
		if anyWildcard([]string{key}) {
			s.MatchConditions = append(
				s.MatchConditions,
				p.lose(at+".annotations", fmt.Sprintf("the key %q has a wildcard", key)),
			)
			continue
		}
		add("annotation", textOfKey("annotations", key, r.Annotations[key]))
	}
	p.narrowLabels(s, r.Selector, at+".selector")
	if r.NamespaceSelector != nil {
		text := metav1.FormatLabelSelector(r.NamespaceSelector)
		if why := unsupported(text); why != "" {
			s.MatchConditions = append(s.MatchConditions, p.lose(at+".namespaceSelector", why))
		} else {
			within = append(within, text)
		}
	}
	return within
}

// narrowLabels adds a label selector with wildcards to a selector.
func (p *policy) narrowLabels(s *v1alpha1.ResourceSelector, by *metav1.LabelSelector, at string) {
	if err := parseSelector(withoutWildcards(by)); err != nil {
		s.MatchConditions = append(s.MatchConditions, p.lose(at, wrongSelector(err)))
		return
	}
	filters, expressions := labelsOf(ptr.Deref(by, metav1.LabelSelector{}))
	s.LabelFilters = append(s.LabelFilters, filters...)
	for _, e := range expressions {
		name := unused("label", s.MatchConditions)
		s.MatchConditions = append(s.MatchConditions, v1alpha1.MatchCondition{Name: name, Expression: e})
	}
}

// withoutWildcards is what Kyverno parses of a label selector as it is: a label with a wildcard is replaced by one that
// the object has.
func withoutWildcards(selector *metav1.LabelSelector) *metav1.LabelSelector {
	selector = selector.DeepCopy()
	if selector != nil {
		maps.DeleteFunc(selector.MatchLabels, func(key, value string) bool { return anyWildcard([]string{key, value}) })
	}
	return selector
}

// parseSelector says why a label selector cannot be parsed. By one that cannot, Kyverno selects nothing.
func parseSelector(selector *metav1.LabelSelector) error {
	_, err := metav1.LabelSelectorAsSelector(selector)
	return err
}

func wrongSelector(err error) string {
	return "is no label selector, and Kyverno selects nothing by it: " + err.Error()
}

// unsupported says why a Cleaner cannot have a selector of namespaces. It is empty when it can.
func unsupported(namespaceSelector string) string {
	switch {
	case strings.HasPrefix(namespaceSelector, "<"): // an empty or a wrong one
		return "cannot be read as a label selector"
	case anyWildcard([]string{namespaceSelector}):
		return "has a wildcard"
	}
	return ""
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

// matches is a condition with wildcards. They match line breaks, too, which names and namespaces do not have.
func matches(value, pattern string) string {
	var re strings.Builder
	if !strings.HasPrefix(value, "object.metadata.name") {
		re.WriteString("(?s)")
	}
	re.WriteByte('^')
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
	return value + ".matches(" + jmespath.Quote(re.String()+"$") + ")"
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
func labelsOf(selector metav1.LabelSelector) (filters []v1alpha1.LabelFilter, expressions []string) {
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		value := selector.MatchLabels[key]
		if anyWildcard([]string{key, value}) || value == "" {
			expressions = append(expressions, labelExpression(key, value))
			continue
		}
		filters = append(filters, v1alpha1.LabelFilter{Key: key, Operation: v1alpha1.OperationEqual, Value: &value})
	}
	for _, e := range selector.MatchExpressions {
		if filter := filterOf(e); filter != nil {
			filters = append(filters, *filter)
			continue
		}
		expression := oneOf("labels", e.Key, e.Values)
		if e.Operator != metav1.LabelSelectorOpIn { // NotIn is also true of what has no such label
			expression = "!(" + expression + ")"
		}
		expressions = append(expressions, expression)
	}
	return filters, expressions
}

// filterOf is a requirement of a label as a labelFilter. Nil when there is no operation for it.
func filterOf(e metav1.LabelSelectorRequirement) *v1alpha1.LabelFilter {
	switch {
	case e.Operator == metav1.LabelSelectorOpExists:
		return &v1alpha1.LabelFilter{Key: e.Key, Operation: v1alpha1.OperationHas}
	case e.Operator == metav1.LabelSelectorOpDoesNotExist:
		return &v1alpha1.LabelFilter{Key: e.Key, Operation: v1alpha1.OperationDoesNotHave}
	case e.Operator == metav1.LabelSelectorOpIn && len(e.Values) == 1 && e.Values[0] != "":
		return &v1alpha1.LabelFilter{Key: e.Key, Operation: v1alpha1.OperationEqual, Value: &e.Values[0]}
	}
	return nil
}

// labelExpression is a label with wildcards in its key or value.
func labelExpression(key, value string) string {
	if !anyWildcard([]string{key}) {
		return textOfKey("labels", key, value)
	}
	return "has(object.metadata.labels) && object.metadata.labels.exists(k, " + matches("k",
		key) + " && (" + matchesAny("object.metadata.labels[k]", []string{value}) + "))"
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
