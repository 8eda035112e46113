// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// heldFor is how long a Lease may go without being renewed, unless it is for longer.
const heldFor = 24 * time.Hour

var definitions = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// namespaceRows are of what is of no use without anything in it.
func namespaceRows() []*row {
	return []*row{
		{
			kind:       namespaces,
			typ:        v1alpha1.FindingUnused,
			actionable: true,
			body:       true,
			likely:     true,
			counts:     inhabits,
			reads:      namingNamespaces,
			look:       lookNamespace,
			judge:      judgeNamespace,
			means:      "it holds no objects except those that every namespace has",
		},
		{
			kind:   nodes,
			typ:    v1alpha1.FindingIdle,
			body:   true,
			likely: true,
			reads:  []schema.GroupKind{pods},
			look:   lookIdleNode,
			means:  "it runs only Pods of DaemonSets; it may be kept for future Pods",
		},
		{
			kind: schema.GroupKind{
				Group: "coordination.k8s.io",
				Kind:  "Lease",
			},
			typ:        v1alpha1.FindingUnused,
			actionable: true,
			body:       true,
			likely:     true,
			means:      "nobody has renewed it for 24 hours and for longer than its duration, and the Pod that held it does not exist; in kube-system the finding is Weak, because the Pod may be in another namespace",
			reads:      []schema.GroupKind{pods},
			look:       lookLease,
		},
		{
			// With it, all objects of its kind would go.
			kind:   definitions,
			typ:    v1alpha1.FindingUnused,
			body:   true,
			likely: true,
			counts: func(kind object.Kind) bool { return !isPassing(kind) },
			look:   lookDefinition,
			means:  "no object of its kind exists in any namespace",
		},
	}
}

// isPassing reports whether objects of a kind come and go by themselves, or are made up by the server.
func isPassing(kind object.Kind) bool {
	return slices.Contains(passing, kind.GroupKind()) || strings.HasSuffix(kind.Group, "metrics.k8s.io") ||
		kind.Group == "packages.operators.coreos.com"
}

// passing are of Kubernetes only: a custom resource may be called Event, too.
var passing = []schema.GroupKind{{Kind: "Event"}, {Group: "events.k8s.io", Kind: "Event"}, {Kind: "ComponentStatus"}}

var endpoints = schema.GroupKind{Kind: "Endpoints"}

// inhabits reports whether an object of the kind shows that its namespace is in use.
func inhabits(kind object.Kind) bool {
	return kind.Namespaced && !isPassing(kind) && kind.GroupKind() != endpointSlices && kind.GroupKind() != endpoints
}

// uncounted are the kinds that matter and could not be read, and the groups whose kinds are not known.
func (f *Finder) uncounted(matters func(object.Kind) bool) []Unread {
	var kinds []schema.GroupKind
	for _, kind := range f.Served {
		if matters(kind) {
			kinds = append(kinds, kind.GroupKind())
		}
	}
	unread := f.unreadAnywhere(kinds...)
	for group := range f.Unserved {
		if err := f.unserved(group); err != nil {
			unread = append(unread, Unread{Kind: schema.GroupKind{Group: group, Kind: "*"}, Err: err})
		}
	}
	slices.SortFunc(unread, func(a, b Unread) int { return strings.Compare(a.Kind.String(), b.Kind.String()) })
	return unread
}

// lookIdleNode looks at a Node that takes Pods.
func lookIdleNode(_ *Finder, o *object.Parts) *candidate {
	for name := range o.At("metadata", "labels").Fields() {
		if name.Is("node-role.kubernetes.io/control-plane") || name.Is("node-role.kubernetes.io/master") {
			return nil
		}
	}
	if o.At("spec", "unschedulable").String() == "true" { // cordoned, for an upgrade
		return nil
	}
	return &candidate{decide: func(f *Finder, found Finding) *Finding {
		if f.busy[found.Name] {
			return nil
		}
		found.Reason = "it runs no Pod but those of DaemonSets"
		if found.Unknown = f.unreadAnywhere(pods); len(found.Unknown) == 0 {
			found.Confidence = v1alpha1.ConfidenceLikely
		}
		return &found
	}}
}

// lookLease looks at a Lease that nobody renews. Those of the API servers delete themselves.
func lookLease(f *Finder, o *object.Parts) *candidate {
	spec := o.At("spec")
	renewed := timeAt(spec.Field("renewTime"))
	seconds, _ := strconv.ParseInt(spec.Field("leaseDurationSeconds").String(), 10, 32)
	if renewed.IsZero() || f.Now.Sub(renewed) < max(heldFor, time.Duration(seconds)*time.Second) ||
		label(o, "apiserver.kubernetes.io/identity") != "" {
		return nil
	}
	holder, _, _ := strings.Cut(spec.Field("holderIdentity").Text(), "_")
	pod := graph.Name{GroupKind: pods, Namespace: o.Namespace, Name: holder}
	return &candidate{found: &Finding{Since: renewed}, decide: func(f *Finder, found Finding) *Finding {
		if holder != "" && f.graph.IsPresent(pod) {
			return nil
		}
		found.Reason = "nobody renewed it since " + renewed.UTC().Format(time.RFC3339)
		if found.Unknown = f.unreadOf(pods); len(found.Unknown) > 0 && holder != "" {
			found.Reason += ", but it is unknown whether its holder is there"
			return &found
		}
		found.Unknown, found.Confidence = nil, v1alpha1.ConfidenceLikely
		switch {
		case holder != "" && pod.Namespace == metav1.NamespaceSystem: // cert-manager and others keep theirs there
			found.Confidence = v1alpha1.ConfidenceWeak
			found.Reason += ", but its holder " + holder + " may be in another namespace"
		case holder != "":
			found.Reason += ", and " + pod.String() + ", which held it, is gone"
		}
		return &found
	}}
}

// lookDefinition looks at a CustomResourceDefinition. One that converts between versions may be at work for what is on
// its way.
func lookDefinition(_ *Finder, o *object.Parts) *candidate {
	if o.At("spec", "conversion", "strategy").Text() == "Webhook" {
		return nil
	}
	spec := o.At("spec")
	kind := schema.GroupKind{Group: spec.Field("group").Text(), Kind: spec.At("names", "kind").Text()}
	return &candidate{decide: func(f *Finder, found Finding) *Finding {
		if _, served := f.served[kind]; !served || f.kinds[kind] {
			return nil
		}
		found.Reason = "there is no " + kind.Kind + " in any namespace"
		if found.Unknown = f.unreadAnywhere(kind); len(found.Unknown) == 0 {
			found.Confidence = v1alpha1.ConfidenceLikely
		}
		return &found
	}}
}
