// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// selectiveRows are of what is for Pods that a selector matches, in its own namespace.
func selectiveRows() []*row {
	return []*row{
		{
			kind: schema.GroupKind{
				Group: "policy",
				Kind:  "PodDisruptionBudget",
			},
			typ:        v1alpha1.FindingUnused,
			actionable: true,
			pods:       true,
			body:       true,
			likely:     true,
			means:      "its selector matches no Pod and no template of its namespace",
			look:       lookBudget,
		},
		{
			// It is for the Pods of tomorrow as well, and without it they are open: nobody but a person may delete it.
			kind: schema.GroupKind{
				Group: "networking.k8s.io",
				Kind:  "NetworkPolicy",
			},
			typ:    v1alpha1.FindingUnused,
			pods:   true,
			body:   true,
			likely: true,
			means:  "its selector matches no Pod and no template of its namespace; policies that select all Pods, or that deny traffic, are never reported as unused",
			look:   lookPolicy,
		},
	}
}

func lookBudget(f *Finder, o *object.Parts) *candidate {
	return f.selects(o, o.At("spec", "selector"))
}

// lookPolicy looks at a policy that allows something to some Pods.
func lookPolicy(f *Finder, o *object.Parts) *candidate {
	spec := o.At("spec")
	selector, err := graph.SelectorOf(spec.Field("podSelector"))
	if err != nil || selector.Empty() || spec.Field("podSelector").Type() != object.Map || denies(spec) {
		return nil
	}
	return f.selects(o, spec.Field("podSelector"))
}

// denies reports whether a policy has a direction in which it allows nothing. Without types, it is for what comes in,
// and for what goes out only if it has rules for that.
func denies(spec object.JSON) bool {
	rules := func(field string) bool {
		for range spec.Field(field).Elements() {
			return true
		}
		return false
	}
	var types []string
	for typ := range spec.Field("policyTypes").Elements() {
		types = append(types, typ.Text())
	}
	if len(types) == 0 {
		types = []string{"Ingress"}
	}
	return slices.Contains(types, "Ingress") && !rules("ingress") || slices.Contains(types, "Egress") && !rules("egress")
}

// selects takes an object's selector, and finds later whether it matched. What cannot be read as a selector is kept.
func (f *Finder) selects(o *object.Parts, value object.JSON) *candidate {
	selector, err := graph.SelectorOf(value)
	if err != nil {
		return nil
	}
	f.graph.Select(graph.NameOf(o.Object), selector)
	return &candidate{decide: func(f *Finder, found Finding) *Finding {
		if f.graph.SelectsAny(nameOf(&found)) {
			return nil
		}
		kinds := f.Table.PodKinds()
		found.Unknown = f.unreadOf(kinds...)
		found.Searched = f.searched(kinds, found.Unknown)
		if len(found.Unknown) > 0 {
			found.Reason = inVainOf(
				"its selector matches nothing", found.Searched, found.Unknown, "have Pods or templates")
			return &found
		}
		found.Confidence = v1alpha1.ConfidenceLikely
		found.Reason = fmt.Sprintf("its selector matches no Pod, and no template of %d kinds", found.Searched)
		if why := f.lacks(nameOf(&found)); why != "" {
			found.Confidence = v1alpha1.ConfidenceWeak
			found.Reason += ", but " + why
		}
		f.doubtMakers(&found)
		return &found
	}}
}

// doubtMakers makes a finding of what selects Pods Unknown where it cannot be read who may make them.
func (f *Finder) doubtMakers(found *Finding) {
	if unread := f.unreadOf(roles); len(unread) > 0 {
		found.doubt(unread, "who may create such Pods")
	}
}

// lacks says why what an object's selector asks for may still come: a Pod or template differs only in one label, or a
// custom resource has a name that it asks for. Empty when nothing says so.
func (f *Finder) lacks(name graph.Name) string {
	if lacking := f.graph.Lacking(name); lacking != "" {
		return "a Pod or template of its namespace differs only in the label " + lacking + ", which may be set at run time"
	}
	return f.makes(name)
}

// makes says who may make Pods that an object selects: a custom resource, whose controller labels them with its name
// and makes none while it is hibernated, or a program that has the right to. Empty when nobody is known to.
func (f *Finder) makes(name graph.Name) string {
	for _, value := range f.graph.AskedFor(name) {
		if maker, is := f.graph.Custom(name.Namespace, value); is {
			return maker.String() + ", whose name it selects by, may create such Pods"
		}
	}
	if f.graph.MaySet(name) {
		return "the controller of a custom resource of its namespace may create such Pods"
	}
	if maker := f.makers[name.Namespace]; maker != "" {
		return maker
	}
	if f.mayBeGiven() {
		return "a RoleBinding may allow creating such Pods, and RoleBindings or ClusterRoles could not be read"
	}
	if unread := slices.DeleteFunc(f.unreadOf(f.Table.CustomKinds()...), f.isElsewhere); len(unread) > 0 {
		return "a " + unread[0].Kind.String() + " may create such Pods, and these could not be read"
	}
	return ""
}
