// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// resourceFilter is one of Kyverno's resourceFilters, "[kind,namespace,name]": no policy deletes an object that it
// matches (configuration.ToFilter in Kyverno 1.15). Each part is a pattern with wildcards.
type resourceFilter struct {
	kindPattern
	namespace, name string
	// noNamespace is true when its second part is empty: then it matches no Namespace by that object's own name.
	noNamespace bool
}

// usualFilters are those of Kyverno's Helm chart, for what a policy may delete besides Kyverno's own objects.
const usualFilters = "[Event,*,*][*/*,kube-system,*][*/*,kube-public,*][*/*,kube-node-lease,*][*/*,kyverno,*]" +
	"[Node,*,*][APIService,*,*][Binding,*,*][ReplicaSet,*,*]"

// notFiltered is the condition that says what the filters leave to a selector.
const notFiltered = "not-filtered"

var bracketed = regexp.MustCompile(`\[[^\[\]]*\]`)

// parseFilters reads them. A part that is missing or empty counts as every one, which it is not for Kyverno: then the
// Cleaner selects less.
func parseFilters(text string) (filters []resourceFilter) {
	for _, element := range bracketed.FindAllString(text, -1) {
		parts := [3]string{}
		copy(parts[:], strings.Split(strings.Trim(element, "[]"), ","))
		noNamespace := strings.TrimSpace(parts[1]) == ""
		for i, part := range parts {
			parts[i] = cmp.Or(strings.TrimSpace(part), "*")
		}
		filters = append(filters, resourceFilter{parseKindPattern(parts[0]), parts[1], parts[2], noNamespace})
	}
	return filters
}

// isFor reports whether a filter may be about a kind. When Kyverno deletes, it asks with the kind in place of a
// subresource, so "Pod/binding" is about no Pod. A filter without a subresource counts, though not for Kyverno 1.15.
func (f *resourceFilter) isFor(s *v1alpha1.ResourceSelector) bool {
	return f.isOf(s) && (f.subresource == "" || isLike(f.subresource, s.Kind))
}

// filtersIn are the filters in Kyverno's ConfigMap. It is false for any other document.
func filtersIn(d *manifest.Document) (text string, is bool) {
	data, _ := d.Value["data"].(map[string]any)
	text, is = data["resourceFilters"].(string)
	return text, is && d.Kind() == "ConfigMap"
}

// readFilters reads the filters of all policies, and says when they are not known.
func (j *job) readFilters(docs []*manifest.Document) {
	text, known := "", false
	for _, d := range docs {
		if found, is := filtersIn(d); is {
			text, known = text+found, true
		}
	}
	if known {
		j.filters = parseFilters(text)
		return
	}
	j.filters = parseFilters(usualFilters)
	if slices.ContainsFunc(docs, isPolicy) {
		j.lostAll("Kyverno deletes nothing that resourceFilters of its ConfigMap name, and these are not known: "+
			"the usual ones are carried over, and not others that you may have",
			"import its ConfigMap together with the policies: kubectl -n kyverno get configmap kyverno -o yaml > filters.yaml")
	}
}

// unfiltered takes out of the selectors what the filters name.
func (p *policy) unfiltered(selectors []v1alpha1.ResourceSelector, field string) (left []v1alpha1.ResourceSelector) {
	for _, s := range selectors {
		named, whole := filteredBy(p.filters, &s)
		if whole {
			p.differs(p.d, field,
				"the Cleaner does not select "+s.Kind+" objects: Kyverno's resourceFilters name all of them", "")
			continue
		}
		if named != "" {
			s.MatchConditions = append(slices.Clone(s.MatchConditions),
				v1alpha1.MatchCondition{Name: unused(notFiltered, s.MatchConditions), Expression: "!(" + named + ")"})
		}
		left = append(left, s)
	}
	return left
}

// filteredBy is the condition under which filters name an object of a selector, and whether they name all.
func filteredBy(filters []resourceFilter, s *v1alpha1.ResourceSelector) (condition string, whole bool) {
	isNamespace := guard.IsNamespace(s.Group, s.Kind)
	var namespaces, all []string
	for _, f := range filters {
		if isNamespace && !f.noNamespace {
			f.name = "*" // Kyverno takes a Namespace to be in itself, whatever the name
		}
		switch {
		case !f.isFor(s):
		case f.namespace == "*" && f.name == "*":
			return "", true
		case f.name == "*":
			namespaces = append(namespaces, f.namespace)
		default:
			all = append(all, f.condition())
		}
	}
	return strings.Join(append(whereIn(namespaces, s), all...), " || "), false
}

// whereIn is the condition under which an object is in a namespace like these.
func whereIn(patterns []string, s *v1alpha1.ResourceSelector) []string {
	switch {
	case len(patterns) == 0:
		return nil
	case guard.IsNamespace(s.Group, s.Kind):
		return []string{matchesAny("object.metadata.name", patterns)}
	case isClusterScoped(s):
		return nil
	}
	return []string{inNamespaces(patterns)}
}

// condition is that of a filter with a name.
func (f *resourceFilter) condition() string {
	named := matchesAny("object.metadata.name", []string{f.name})
	if f.namespace == "*" {
		return named
	}
	return "(" + inNamespaces([]string{f.namespace}) + ") && (" + named + ")"
}

func inNamespaces(patterns []string) string {
	return "has(object.metadata.namespace) && (" + matchesAny("object.metadata.namespace", patterns) + ")"
}

// listFilters reads Kyverno's ConfigMap, which has a label of its chart. Who may not read it knows of no filters.
func (j *job) listFilters(ctx context.Context, api *cluster.Client) (all []manifest.Source, err error) {
	kind := dump.KindOf(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
	ask := selector.Ask{Kind: kind, Labels: "app.kubernetes.io/component=config"}
	err = selector.NewReader(api.Raw, cluster.Instant(j.Now())).Each(ctx, ask, func(o object.Object) error {
		value, err := o.Value()
		if err != nil {
			return err
		}
		found, err := asSource(&unstructured.Unstructured{Object: value})
		if docs, _ := found.Documents(); len(docs) == 1 {
			if _, is := filtersIn(docs[0]); is {
				all = append(all, found)
			}
		}
		return err
	})
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, cluster.RequestError("looking for Kyverno's ConfigMap", err)
	}
	return all, nil
}
