// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// Scope is where the selector looks, as far as it matters to one object.
func (j *Judge) Scope(spec v1alpha1.ResourceSelector, o *Subject) selector.Scope {
	if o.Anywhere || spec.Namespace == "" && spec.NamespaceSelector == "" {
		return selector.Scope{Cluster: true}
	}
	var scope selector.Scope
	if spec.Namespace != "" {
		scope.Namespaces = append(scope.Namespaces, spec.Namespace)
	}
	if spec.NamespaceSelector != "" && o.Namespace != "" && j.selectsNamespace(spec.NamespaceSelector, o.Namespace) {
		scope.Namespaces = append(scope.Namespaces, o.Namespace)
	}
	return scope
}

// selectsNamespace asks a namespaceSelector. Of a namespace that is not among the objects only the name is known, and
// what is not known counts as satisfied.
func (j *Judge) selectsNamespace(text, namespace string) bool {
	parsed, err := labels.Parse(text)
	if err != nil {
		return false // selector.New said so before
	}
	if known, ok := j.Namespaces[namespace]; ok {
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

func (j *Judge) explainNamespace(spec v1alpha1.ResourceSelector, o *Subject) string {
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
	if known, ok := j.Namespaces[o.Namespace]; ok && known == nil {
		place += ", which is being deleted"
	}
	return wanted + " does not select " + place
}
