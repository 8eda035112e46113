// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	operators "k8s.io/apimachinery/pkg/selection"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// eachSelector yields what the label selectors in a value ask for, with their paths. name is that of the field in which
// the value stands.
func eachSelector(path, name string, value object.JSON, depth int, each func(string, []labels.Requirement)) {
	if depth > maxDepth {
		return
	}
	if r := requirementsOf(name, value); len(r) > 0 {
		each(path, r)
		return
	}
	for element := range value.Elements() {
		eachSelector(joinElement(path), name, element, depth+1, each)
	}
	isWorkload := value.At("template", "metadata").Type() == object.Map
	for key, field := range value.Fields() {
		name := key.String()
		if isAboutOthers(name) || isWorkload && name == "selector" {
			continue
		}
		eachSelector(joinBelow(path, name), name, field, depth+1, each)
	}
}

// othersIn are words in the names of fields that select Pods, hosts and the like, and oursIn those of fields that
// select what is looked at, whatever else is in the name.
var (
	othersIn = []string{
		"cluster", "deployment", "endpoint", "gateway", "ingress", "machine", "monitor", "namespace", "node",
		"pod", "route", "rule", "service", "workload",
	}
	oursIn = []string{"claim", "config", "pvc", "secret", "volume"}
)

// judging are fields in which a policy says whose requests it judges, and others with selectors of Pods or clusters.
var judging = []string{
	"clusters", "exclude", "match", "matchconstraints", "matchresources", "topologyspreadconstraints",
	"volumeclaimtemplate", "volumeclaimtemplates",
}

// isAboutOthers reports whether a field has selectors of other kinds than those that are looked at: those of Pods, and
// those of policies.
func isAboutOthers(name string) bool {
	name = strings.ToLower(name)
	has := func(word string) bool { return strings.Contains(name, word) }
	if isSelectorName(name) && slices.ContainsFunc(othersIn, has) && !slices.ContainsFunc(oursIn, has) {
		return true
	}
	return has("affinity") || has("endpoints") || slices.Contains(judging, name)
}

func isSelectorName(lower string) bool {
	return strings.HasSuffix(lower, "selector") || strings.HasSuffix(lower, "selectors")
}

// requirementsOf is what a value asks for that is a label selector in one of the forms of custom resources: that of
// Kubernetes, a map of labels or a text in a field that is called so, and a list of labels with operators.
func requirementsOf(name string, value object.JSON) (r []labels.Requirement) {
	lower := strings.ToLower(name)
	switch value.Type() {
	case object.Map:
		sure, vague := ofExpressions(value.Field("matchExpressions"))
		r = orElse(append(ofLabels(value.Field("matchLabels")), sure...), vague)
		if len(r) == 0 && isSelectorName(lower) {
			r = orElse(ofLabels(value), ofLabels(value.Field("labels")))
		}
	case object.List:
		if lower == "labelfilters" || lower == "labels" {
			r = orElse(ofExpressions(value))
		}
	case object.String:
		if isSelectorName(lower) {
			r = ofText(value.Text())
		}
	}
	return r
}

// ofText are the requirements of a text such as "team=infra,tier in (a, b)". It is empty when the text is none.
func ofText(text string) []labels.Requirement {
	if !strings.ContainsAny(text, "=,( ") {
		return nil
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return nil
	}
	r, _ := selector.Requirements()
	return r
}

// ofLabels are the requirements of a map of labels. It is empty when the map has anything else.
func ofLabels(value object.JSON) (r []labels.Requirement) {
	for key, field := range value.Fields() {
		if field.Type() != object.String {
			return nil
		}
		r = appendRequirement(r, key.String(), operators.Equals, field.Text())
	}
	return r
}

// ofExpressions are the requirements of a list of labels with operators: matchExpressions, or what some projects have
// instead. An operator that nobody knows gives a vague one: it may ask for the label, or for its absence.
func ofExpressions(value object.JSON) (sure, vague []labels.Requirement) {
	for e := range value.Elements() {
		var values []string
		for v := range e.Field("values").Elements() {
			values = append(values, v.Text())
		}
		if single := e.Field("value"); single.Type() == object.String {
			values = append(values, single.Text())
		}
		key := e.Field("key").Text()
		switch operator := strings.ToLower(e.Field("operator").Text() + e.Field("operation").Text()); {
		case strings.Contains(operator, "not"), strings.Contains(operator, "!"), operator == "different":
		case slices.Contains([]string{"in", "equal", "equals", "eq", "=", "=="}, operator):
			sure = appendRequirement(sure, key, operators.In, values...)
		case operator == "exists":
			sure = appendRequirement(sure, key, operators.Exists)
		default:
			vague = appendRequirement(vague, key, operators.Exists)
		}
	}
	return sure, vague
}

// orElse are the first requirements, or if there are none, the others.
func orElse(r, others []labels.Requirement) []labels.Requirement {
	if len(r) > 0 {
		return r
	}
	return others
}

// appendRequirement appends one. Where a value is none that a label can have, such as a variable, any value may be
// meant.
func appendRequirement(
	r []labels.Requirement, key string, by operators.Operator, values ...string,
) []labels.Requirement {
	requirement, err := labels.NewRequirement(key, by, values)
	if err != nil {
		requirement, err = labels.NewRequirement(key, operators.Exists, nil)
	}
	if err != nil {
		return r
	}
	return append(r, *requirement)
}
