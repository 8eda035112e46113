// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"slices"
	"strings"

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

	pushKind   = schema.GroupKind{Group: "external-secrets.io", Kind: "PushSecret"}
	bundleKind = schema.GroupKind{Group: "trust.cert-manager.io", Kind: "Bundle"}
	groupKind  = schema.GroupKind{Group: "groupsnapshot.storage.k8s.io", Kind: "VolumeGroupSnapshot"}
)

// parameterKinds are the kinds of parameters that are looked for. Others belong to a custom resource of the policy's
// author.
var parameterKinds = []schema.GroupKind{configMapKind, secretKind}

// parameters are what objects choose by labels: bindings of admission policies, and a few custom resources.
type parameters struct {
	choices []choice
	// kinds are what the policies that passed say of their parameters. The zero kind means that a policy has none.
	kinds map[Name]schema.GroupKind
}

// choice is one selector of an object.
type choice struct {
	by Name
	// path is where the selector stands, and kind what it is for. Of a binding the policy says that.
	path   string
	kind   schema.GroupKind
	policy Name
	// namespace is "*" where the parameters are in the namespace of each request.
	namespace string
	selector  labels.Selector
}

// ChoosesByLabels reports whether objects of the kind choose others by their labels. They must pass before the objects
// that they choose.
func ChoosesByLabels(kind schema.GroupKind) bool {
	return slices.Contains(
		[]schema.GroupKind{
			validatingPolicyKind, mutatingPolicyKind, validatingBindingKind, mutatingBindingKind, pushKind, bundleKind,
			groupKind,
		},
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
	case pushKind:
		p.forget(name)
		at := choice{by: name, path: "spec.selector.secret.selector", kind: secretKind, namespace: o.Namespace}
		return p.choose(at, o.At("spec", "selector", "secret", "selector"))
	case groupKind:
		p.forget(name)
		at := choice{by: name, path: "spec.source.selector", kind: claimKind, namespace: o.Namespace}
		return p.choose(at, o.At("spec", "source", "selector"))
	case bundleKind:
		p.forget(name)
		for from := range o.At("spec", "sources").Elements() {
			for field, kind := range map[string]schema.GroupKind{"configMap": configMapKind, "secret": secretKind} {
				at := choice{by: name, path: "spec.sources[]." + field + ".selector", kind: kind}
				bytes += p.choose(at, from.At(field, "selector"))
			}
		}
	}
	return bytes
}

// forget drops the choices of an object: a list may begin anew.
func (p *parameters) forget(by Name) {
	p.choices = slices.DeleteFunc(p.choices, func(c choice) bool { return c.by == by })
}

func (p *parameters) addChoice(by Name, policy schema.GroupKind, o *object.Parts) (bytes int64) {
	p.forget(by)
	reference := o.At("spec", "paramRef")
	return p.choose(choice{
		by:        by,
		path:      "spec.paramRef.selector",
		policy:    Name{GroupKind: policy, Name: o.At("spec", "policyName").Text()},
		namespace: reference.Field("namespace").Text(),
	}, reference.Field("selector"))
}

// choose keeps a choice with its selector, if there is one. Without a namespace it is for all.
func (p *parameters) choose(c choice, selector object.JSON) (bytes int64) {
	if t := selector.Type(); t == object.Absent || t == object.Null {
		return 0
	}
	var err error
	if c.selector, err = SelectorOf(selector); err != nil {
		c.selector = labels.Everything() // whatever it means, it may be this one
	}
	c.by, c.policy, c.namespace = clonedName(c.by), clonedName(c.policy), strings.Clone(cmp.Or(c.namespace, "*"))
	p.choices = append(p.choices, c)
	return int64(512 + sizeOf(c.selector))
}

// strengthFor is how sure it is that a choice is for objects of a kind. Empty when it is not.
func (p *parameters) strengthFor(c *choice, kind schema.GroupKind) Strength {
	said, known := p.kinds[c.policy]
	isParameter := slices.Contains(parameterKinds, kind)
	if c.kind.Kind != "" {
		said, known, isParameter = c.kind, true, true
	}
	switch {
	case known && said != kind, !isParameter:
		return ""
	case !known, c.selector.Empty(): // an empty selector means none in particular
		return Reads
	}
	return Names
}

// choose takes an object that passes as a parameter of the bindings that choose it.
func (g *Graph) choose(o object.Object) {
	name := NameOf(o)
	if !slices.Contains(selectable, name.GroupKind) {
		return
	}
	for i := range g.parameters.choices {
		c := &g.parameters.choices[i]
		strength := g.parameters.strengthFor(c, name.GroupKind)
		if strength == "" || !like(c.namespace, name.Namespace) {
			continue
		}
		if !c.selector.Matches(labelSet(object.JSON(o.Raw).At("metadata", "labels"))) {
			continue
		}
		edge := Edge{To: name, Path: c.path, Optional: true, Strength: strength}
		g.name(edge, g.user(c.by), false)
		g.witness(c.by, edge)
	}
}
