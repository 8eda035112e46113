// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"context"
	"regexp"
	"slices"
	"strings"

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
type resourceFilter struct{ group, kind, namespace, name string }

// usualFilters are those of Kyverno's Helm chart, for what a policy may delete besides Kyverno's own objects.
const usualFilters = "[Event,*,*][*/*,kube-system,*][*/*,kube-public,*][*/*,kube-node-lease,*][*/*,kyverno,*]" +
	"[Node,*,*][APIService,*,*][Binding,*,*][ReplicaSet,*,*]"

// notFiltered is the condition that says what the filters leave to a selector.
const notFiltered = "not-filtered"

var bracketed = regexp.MustCompile(`\[[^\[\]]*\]`)

// parseFilters reads them as Kyverno does. A part that is missing counts as every one: then the Cleaner selects less.
func parseFilters(text string) (filters []resourceFilter) {
	for _, element := range bracketed.FindAllString(text, -1) {
		parts := append(strings.Split(strings.Trim(element, "[]"), ","), "*", "*")
		of := strings.Split(strings.TrimSpace(parts[0]), "/")
		f := resourceFilter{"*", of[0], strings.TrimSpace(parts[1]), strings.TrimSpace(parts[2])}
		switch {
		case len(of) >= 3: // GROUP/VERSION/KIND, or VERSION/KIND/SUBRESOURCE
			f.kind = of[2]
			if f.group = of[0]; versionOnly.MatchString(of[0]) {
				f.group, f.kind = "*", of[1]
			}
		case len(of) == 2 && (versionOnly.MatchString(of[0]) || of[0] == "*"):
			f.kind = of[1]
		}
		filters = append(filters, f)
	}
	return filters
}

var versionOnly = regexp.MustCompile(`^v\d+((alpha|beta)\d+)?$`)

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
	var namespaces, all []string
	for _, f := range filters {
		switch {
		case !isLike(f.group, s.Group) || !isLike(f.kind, s.Kind):
		case f.namespace == "*" && f.name == "*":
			return "", true
		case f.name == "*":
			namespaces = append(namespaces, f.namespace)
		default:
			all = append(all, f.condition())
		}
	}
	switch {
	case len(namespaces) == 0:
	case guard.IsNamespace(s.Group, s.Kind): // Kyverno takes a Namespace to be in itself
		all = append([]string{matchesAny("object.metadata.name", namespaces)}, all...)
	case !isClusterScoped(s):
		all = append([]string{inNamespaces(namespaces)}, all...)
	}
	return strings.Join(all, " || "), false
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

// isLike reports whether a text is one of a pattern with wildcards.
func isLike(pattern, text string) bool {
	of := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern))
	return regexp.MustCompile("^" + of + "$").MatchString(text)
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
	if err != nil && ctx.Err() != nil {
		return nil, cluster.RequestError("looking for Kyverno's ConfigMap", err)
	}
	return all, nil
}
