// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

var networkPolicies = schema.GroupKind{Group: "networking.k8s.io", Kind: "NetworkPolicy"}

// namingNamespaces are kinds whose objects may name other namespaces.
var namingNamespaces = []schema.GroupKind{roleBindings, clusterRoleBindings, networkPolicies}

func lookNamespace(*Finder, *object.Parts) *candidate { return &candidate{} }

// judgeNamespace judges a namespace. That it is empty is known only when all kinds were read, and no group of kinds is
// missing. One that something names may be for what is made on demand, and nothing would make it again.
func judgeNamespace(f *Finder, c *candidate) *Finding {
	if f.inhabited[c.name] {
		return nil
	}
	found := c.finding()
	found.Reason = "it holds nothing"
	found.Unknown = uniqueUnread(f.uncounted(inhabits), f.unreadAnywhere(namingNamespaces...))
	if len(found.Unknown) > 0 {
		found.Reason = "nothing was found in it, but not all kinds could be read"
		return &found
	}
	found.Confidence = v1alpha1.ConfidenceLikely
	why := f.inText(c)
	if by := f.namedIn[c.name]; why == "" && by != "" {
		why = by + " names it"
	}
	if why != "" && !c.reported {
		found.Confidence = v1alpha1.ConfidenceWeak
		found.Reason += ", but " + why
	}
	return &found
}

// subjects takes note of the namespaces of the accounts that a binding is for: one account, or all of a namespace.
func (n *notes) subjects(o *object.Parts) {
	for _, subject := range subjectsOf(o) {
		if subject.GroupKind == accounts && subject.Namespace != "*" {
			n.noteNamed(subject.Namespace, o)
		}
	}
}

// peers takes note of the namespaces that a NetworkPolicy names.
func (n *notes) peers(o *object.Parts) {
	for _, direction := range [][2]string{{"ingress", "from"}, {"egress", "to"}} {
		for rule := range o.At("spec", direction[0]).Elements() {
			for peer := range rule.Field(direction[1]).Elements() {
				n.noteSelected(peer.Field("namespaceSelector"), o)
			}
		}
	}
}

// noteSelected takes note of the namespaces that a selector selects by their names.
func (n *notes) noteSelected(selector object.JSON, o *object.Parts) {
	n.noteNamed(selector.At("matchLabels", corev1.LabelMetadataName).Text(), o)
	for expression := range selector.Field("matchExpressions").Elements() {
		isIn := expression.Field("operator").Text() == "In"
		if !isIn || expression.Field("key").Text() != corev1.LabelMetadataName {
			continue
		}
		for value := range expression.Field("values").Elements() {
			n.noteNamed(value.Text(), o)
		}
	}
}

// noteNamed takes note that an object names another namespace.
func (n *notes) noteNamed(namespace string, o *object.Parts) {
	if namespace == "" || namespace == o.Namespace || n.namedIn[namespace] != "" {
		return
	}
	by := graph.NameOf(o.Object).String()
	n.namedIn[strings.Clone(namespace)] = by
	n.bytes += int64(64 + len(namespace) + len(by))
}
