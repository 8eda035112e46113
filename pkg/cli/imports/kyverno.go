// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
)

// cleanupPolicy is what is read of Kyverno's CleanupPolicy and ClusterCleanupPolicy, kyverno.io/v2 and v2beta1.
type cleanupPolicy struct {
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		Match                     matching
		Exclude                   *matching
		Context                   []map[string]any
		Conditions                *anyAll
		Schedule                  string
		DeletionPropagationPolicy *metav1.DeletionPropagation
	}
}

type matching struct{ Any, All []filter }

type filter struct {
	Resources resources
	// Of these, nothing in a Cleaner is equal.
	Subjects            []any
	Roles, ClusterRoles []string
}

type resources struct {
	Kinds, Names, Namespaces    []string
	Name                        string
	Annotations                 map[string]string
	Selector, NamespaceSelector *metav1.LabelSelector
	// Asked are operations, of which it matters only whether there are any: Kyverno does not look at them when it deletes.
	Asked []any `json:"operations"`
}

// policy is what one policy is made of.
type policy struct {
	*job
	d *manifest.Document
	// namespace is that of the policy: it looks nowhere else.
	namespace string
	// lacks are the conditions that are not carried over, by their fields and why. Each has one hole, in every selector.
	lacks []string
}

// lose says that a condition is not carried over, and returns one that nothing fulfils.
func (p *policy) lose(field, message string) v1alpha1.MatchCondition {
	lack := field + ": " + message
	if at := slices.Index(p.lacks, lack); at >= 0 {
		return hole(at + 1)
	}
	p.lacks = append(p.lacks, lack)
	h := hole(len(p.lacks))
	p.lost(p.d, field, message, fmt.Sprintf(holeHint, h.Name))
	return h
}

// decode reads a document. What is of the wrong type is not carried over at all.
func (j *job) decode(d *manifest.Document, into any) bool {
	if err := json.Unmarshal(d.Raw, into); err != nil {
		j.unreadable(d, 0, err, ": nothing of it was carried over")
		return false
	}
	return true
}

func (j *job) cleanup(d *manifest.Document) *v1alpha1.Cleaner {
	var of cleanupPolicy
	if !j.decode(d, &of) {
		return nil
	}
	p := &policy{job: j, d: d}
	if d.Kind() == "CleanupPolicy" {
		p.namespace = of.Metadata.Namespace
		if p.namespace == "" {
			j.lost(d, "metadata", "names no namespace, and a CleanupPolicy looks only at its own", "add metadata.namespace")
			return nil
		}
	}
	if p.excludesAll(of.Spec.Exclude) {
		return nil
	}
	conditions := append(p.conditions(of.Spec.Conditions), p.unknown(of.Spec)...)
	if len(of.Spec.Context) > 0 {
		j.lost(d, "spec.context", "is not carried over: a Cleaner asks nothing else before it looks at objects",
			"conditions that use it are not carried over either")
	}
	all := p.selectors(&of.Spec.Match)
	selectors := p.unfiltered(p.without(all, of.Spec.Exclude), "spec.match")
	for i := range selectors {
		selectors[i].MatchConditions = append(selectors[i].MatchConditions, conditions...)
	}
	if len(all) > 0 && len(selectors) == 0 {
		j.lost(d, "spec.match", "exclude and resourceFilters leave nothing of it, so no Cleaner was written", "")
		return nil
	}
	if len(selectors) == 0 {
		j.lost(
			d,
			"spec.match",
			"no kind of it could be carried over, so no Cleaner was written",
			"write a Cleaner with a selector for each kind",
		)
		return nil
	}
	c := j.newCleaner(d.Name(), of.Spec.Schedule)
	if of.Spec.DeletionPropagationPolicy != nil {
		c.Spec.DeleteOptions = &v1alpha1.DeleteOptions{PropagationPolicy: of.Spec.DeletionPropagationPolicy}
	}
	c.Spec.ResourcePolicySet.ResourceSelectors = selectors
	return c
}

// placed is a filter, and where it stands.
type placed struct {
	filter
	at string
}

// filters are those of match or exclude, each of any being a list of one, and those of all one list.
func (m *matching) filters(at string) (alternatives [][]placed) {
	if m == nil {
		return nil
	}
	for i := range m.Any {
		alternatives = append(alternatives, []placed{{m.Any[i], fmt.Sprintf("%s.any[%d]", at, i)}})
	}
	var all []placed
	for i := range m.All {
		all = append(all, placed{m.All[i], fmt.Sprintf("%s.all[%d]", at, i)})
	}
	if len(all) > 0 {
		alternatives = append(alternatives, all)
	}
	return alternatives
}

// isEmpty reports whether a filter has no part: to Kyverno, it is of no object then. Operations are a part only in
// newer versions.
func (f *filter) isEmpty() bool {
	r := &f.Resources
	return len(f.Subjects)+len(f.Roles)+len(f.ClusterRoles)+len(r.Kinds)+len(r.allNames())+len(r.Namespaces)+
		len(r.Annotations) == 0 && r.Selector == nil && r.NamespaceSelector == nil
}

// selectors are one for each kind of each alternative.
func (p *policy) selectors(m *matching) (selectors []v1alpha1.ResourceSelector) {
	if len(m.Any) > 0 { // Kyverno does not look at all then
		m = &matching{Any: m.Any}
	}
	for _, alternative := range m.filters("spec.match") {
		for _, kind := range p.kindsOf(alternative) {
			s := v1alpha1.ResourceSelector{Group: kind.Group, Version: kind.Version, Kind: kind.Kind}
			var within []string
			for _, f := range alternative {
				if f.isEmpty() {
					s.MatchConditions = append(s.MatchConditions, p.lose(f.at, "is empty, and selects nothing in Kyverno"))
				}
				within = append(within, p.narrow(&s, f)...)
			}
			p.place(&s, within)
			selectors = append(selectors, s)
		}
	}
	return selectors
}

// kindsOf are the kinds that all filters of an alternative name.
func (p *policy) kindsOf(alternative []placed) (kinds []schema.GroupVersionKind) {
	first := true
	for _, f := range alternative {
		var own []schema.GroupVersionKind
		for i, text := range f.Resources.Kinds {
			kind, ok := p.kinds.named(text)
			if !ok {
				p.lost(p.d, fmt.Sprintf("%s.resources.kinds[%d]", f.at, i),
					fmt.Sprintf("%q is not carried over: import does not know this kind", text),
					"write it as GROUP/VERSION/KIND, and one for each kind")
				continue
			}
			own = append(own, kind)
		}
		if len(f.Resources.Kinds) == 0 {
			continue
		}
		if first {
			kinds, first = own, false
			continue
		}
		kinds = slices.DeleteFunc(kinds, func(k schema.GroupVersionKind) bool { return !slices.Contains(own, k) })
	}
	return kinds
}

// place says in which namespaces a selector looks. The requirements are those of a label selector of namespaces: all of
// them must hold.
func (p *policy) place(s *v1alpha1.ResourceSelector, within []string) {
	const name = "kubernetes.io/metadata.name"
	if p.namespace != "" { // namespace and namespaceSelector are united, and would not narrow each other
		own := name + " in (" + p.namespace + ")"
		within = append([]string{own}, slices.DeleteFunc(within, func(text string) bool { return text == own })...)
	}
	switch {
	case len(within) == 1 && strings.HasPrefix(within[0], name+" in (") && !strings.Contains(within[0], ","):
		s.Namespace = strings.TrimSuffix(strings.TrimPrefix(within[0], name+" in ("), ")")
	default:
		s.NamespaceSelector = strings.Join(within, ",")
	}
	if (s.Namespace != "" || s.NamespaceSelector != "") && isClusterScoped(s) {
		s.Namespace, s.NamespaceSelector = "", ""
		s.MatchConditions = append(
			s.MatchConditions,
			p.lose("spec.match", "asks for namespaces of "+s.Kind+", which belongs to none"),
		)
	}
}
