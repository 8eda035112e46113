// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// webhook is one that can refuse an update or a deletion.
type webhook struct {
	name    string
	service graph.Name
	rules   []admissionv1.RuleWithOperations
	// ofNamespaces and ofObjects select by labels what it is asked about.
	ofNamespaces, ofObjects labels.Selector
	// isConditional is true when expressions say, too, what it is asked about.
	isConditional bool
}

// webhooksOf are those of a configuration without which an update or a deletion fails. Of one outside the cluster
// nobody knows whether it answers. The types of both kinds have the same fields here.
func webhooksOf(o *object.Parts) (all []webhook) {
	for element := range o.At("webhooks").Elements() {
		var w admissionv1.ValidatingWebhook
		ignores := func() bool { return w.FailurePolicy != nil && *w.FailurePolicy == admissionv1.Ignore }
		if json.Unmarshal(element, &w) != nil || w.ClientConfig.Service == nil || ignores() {
			continue
		}
		refuses := slices.ContainsFunc(w.Rules, func(r admissionv1.RuleWithOperations) bool {
			return isFor(r, admissionv1.Update) || isFor(r, admissionv1.Delete)
		})
		ofNamespaces, err := selectorOrAll(w.NamespaceSelector)
		ofObjects, errObjects := selectorOrAll(w.ObjectSelector)
		if !refuses || cmp.Or(err, errObjects) != nil {
			continue
		}
		called := w.ClientConfig.Service
		service := graph.Name{GroupKind: services, Namespace: called.Namespace, Name: called.Name}
		all = append(all, webhook{
			name: w.Name, service: service, rules: w.Rules, ofNamespaces: ofNamespaces, ofObjects: ofObjects,
			isConditional: len(w.MatchConditions) > 0,
		})
	}
	return all
}

// selectorOrAll reads a selector of a webhook: without one, it is asked about everything.
func selectorOrAll(selector *metav1.LabelSelector) (labels.Selector, error) {
	if selector == nil {
		return labels.Everything(), nil
	}
	return metav1.LabelSelectorAsSelector(selector)
}

func isFor(r admissionv1.RuleWithOperations, operation admissionv1.OperationType) bool {
	return slices.Contains(r.Operations, operation) || slices.Contains(r.Operations, admissionv1.OperationAll)
}

// isAsked reports whether the webhook is asked about an operation on objects of a kind. Whatever the version: the API
// server converts.
func (w *webhook) isAsked(kind object.Kind, operation admissionv1.OperationType) bool {
	return slices.ContainsFunc(w.rules, func(r admissionv1.RuleWithOperations) bool {
		isForAll := r.Scope == nil || *r.Scope == admissionv1.AllScopes
		inScope := isForAll || (*r.Scope == admissionv1.NamespacedScope) == kind.Namespaced
		isOfGroup := slices.Contains(r.APIGroups, kind.Group) || slices.Contains(r.APIGroups, "*")
		return inScope && isOfGroup && isFor(r, operation) && slices.ContainsFunc(r.Resources, func(pattern string) bool {
			resource, sub, _ := strings.Cut(pattern, "/")
			return (resource == "*" || resource == kind.Resource) && (sub == "" || sub == "*")
		})
	})
}

// silentWebhook is one that is asked and does not answer, in words.
type silentWebhook struct {
	text    string
	service graph.Name
}

// silentWebhooks are those without which the deletion of an object cannot end, and whose Services do not answer.
func (f *Finder) silentWebhooks(
	found *Finding, set labels.Set, operation admissionv1.OperationType,
) (silent []silentWebhook) {
	if found.Kind.Group == webhooksGroup { // about these no webhook is asked
		return nil
	}
	for _, name := range slices.SortedFunc(maps.Keys(f.webhooks), byName) {
		for _, w := range f.webhooks[name] {
			if !w.isAsked(found.Kind, operation) || !w.ofObjects.Matches(set) {
				continue
			}
			selected, known := f.selectsNamespace(&w, found, set)
			trouble := f.troubleOf(w.service)
			if trouble == "" || known && !selected {
				continue
			}
			must := "must allow"
			if !known || w.isConditional {
				must = "may have to allow"
			}
			text := fmt.Sprintf("webhook %s of %s %s the deletion, but %s %s", w.name, name, must, w.service, trouble)
			silent = append(silent, silentWebhook{text, w.service})
		}
	}
	return silent
}

// selectsNamespace reports whether a webhook is asked about objects of the namespace, and whether that is known. A
// namespace is selected by its own labels, and what is in none by none.
func (f *Finder) selectsNamespace(w *webhook, found *Finding, set labels.Set) (selected, known bool) {
	switch {
	case w.ofNamespaces.Empty():
		return true, true
	case found.Kind.GroupKind() == namespaces:
		return w.ofNamespaces.Matches(set), true
	case !found.Kind.Namespaced:
		return true, true
	}
	of, known := f.labelsOf[found.Namespace]
	return known && w.ofNamespaces.Matches(labelsAt(of)), known
}

// troubleOf says why a Service does not answer. Empty when nothing is known to be wrong.
func (f *Finder) troubleOf(service graph.Name) string {
	lacking := f.lacking(calledKinds...)
	isReady := f.endpoints[[2]string{service.Namespace, service.Name}]
	switch isPresent := f.graph.IsPresent(service); {
	case !isPresent && !slices.Contains(lacking, services):
		return "does not exist"
	case isPresent && !isReady && !slices.Contains(lacking, endpointSlices):
		return "has no ready endpoint"
	}
	return ""
}
