// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const admissionGroup = "admissionregistration.k8s.io"

var (
	validatingPolicyKind  = schema.GroupKind{Group: admissionGroup, Kind: "ValidatingAdmissionPolicy"}
	mutatingPolicyKind    = schema.GroupKind{Group: admissionGroup, Kind: "MutatingAdmissionPolicy"}
	validatingBindingKind = schema.GroupKind{Group: admissionGroup, Kind: "ValidatingAdmissionPolicyBinding"}
	mutatingBindingKind   = schema.GroupKind{Group: admissionGroup, Kind: "MutatingAdmissionPolicyBinding"}
)

// parameterKinds are the kinds of parameters that are looked for. Others belong to a custom resource of the policy's
// author.
var parameterKinds = []schema.GroupKind{configMapKind, secretKind}

// parameters are what bindings of admission policies choose by labels.
type parameters struct {
	choices []choice
	// kinds are what the policies that passed say of their parameters. The zero kind means that a policy has none.
	kinds map[Name]schema.GroupKind
}

// choice is the selector of one binding.
type choice struct {
	by, policy Name
	// namespace is "*" where the parameters are in the namespace of each request.
	namespace string
	selector  labels.Selector
}

const parametersPath = "spec.paramRef.selector"

// ChoosesByLabels reports whether objects of the kind choose others by their labels. They must pass before the objects
// that they choose.
func ChoosesByLabels(kind schema.GroupKind) bool {
	return slices.Contains(
		[]schema.GroupKind{validatingPolicyKind, mutatingPolicyKind, validatingBindingKind, mutatingBindingKind},
		kind,
	)
}

// add keeps what a policy or a binding says. It returns the number of bytes that it keeps.
func (p *parameters) add(o *object.Parts) (bytes int64) {
	switch name := NameOf(o.Object); name.GroupKind {
	case validatingPolicyKind, mutatingPolicyKind:
		kind := o.At("spec", "paramKind")
		if p.kinds == nil {
			p.kinds = map[Name]schema.GroupKind{}
		}
		p.kinds[clonedName(name)] = schema.GroupKind{
			Group: groupOf(kind.Field("apiVersion").Text()),
			Kind:  kind.Field("kind").Text(),
		}
		return int64(256 + len(name.Name))
	case validatingBindingKind:
		return p.addChoice(name, validatingPolicyKind, o)
	case mutatingBindingKind:
		return p.addChoice(name, mutatingPolicyKind, o)
	}
	return 0
}

func (p *parameters) addChoice(by Name, policy schema.GroupKind, o *object.Parts) (bytes int64) {
	p.choices = slices.DeleteFunc(p.choices, func(c choice) bool { return c.by == by }) // a list may begin anew
	reference := o.At("spec", "paramRef")
	if t := reference.Field("selector").Type(); t == object.Absent || t == object.Null {
		return 0
	}
	selector, err := SelectorOf(reference.Field("selector"))
	if err != nil {
		selector = labels.Everything() // whatever it means, it may be this one
	}
	c := choice{
		by:        by,
		policy:    Name{GroupKind: policy, Name: o.At("spec", "policyName").Text()},
		namespace: reference.Field("namespace").Text(),
		selector:  selector,
	}
	c.by, c.policy = clonedName(c.by), clonedName(c.policy)
	if c.namespace == "" {
		c.namespace = "*"
	}
	p.choices = append(p.choices, c)
	return 512
}

// strengthFor is how sure it is that a choice is for objects of a kind. Empty when it is not.
func (p *parameters) strengthFor(c *choice, kind schema.GroupKind) Strength {
	said, known := p.kinds[c.policy]
	switch {
	case known && said != kind, !slices.Contains(parameterKinds, kind):
		return ""
	case !known, c.selector.Empty(): // an empty selector means none in particular
		return Reads
	}
	return Names
}

// choose takes an object that passes as a parameter of the bindings that choose it.
func (g *Graph) choose(o object.Object) {
	name := NameOf(o)
	for i := range g.parameters.choices {
		c := &g.parameters.choices[i]
		strength := g.parameters.strengthFor(c, name.GroupKind)
		if strength == "" || !like(c.namespace, name.Namespace) {
			continue
		}
		if !c.selector.Matches(labelSet(object.JSON(o.Raw).At("metadata", "labels"))) {
			continue
		}
		edge := Edge{To: name, Path: parametersPath, Optional: true, Strength: strength}
		g.name(edge, g.user(c.by), false)
		g.witness(c.by, edge)
	}
}
