// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	operators "k8s.io/apimachinery/pkg/selection"
)

// ofControllers are labels that Kubernetes sets at run time. What they can be is known, and no other software sets
// them.
var ofControllers = []string{podNameLabel, podIndexLabel, "pod-template-hash", "controller-revision-hash"}

// atRunTime are words in the names of labels that software sets at run time, on the Pod that leads and on those that
// follow: "role", "redis-role", "vault-active", "cnpg.io/instanceRole".
var atRunTime = []string{"role", "active", "leader", "master", "primary"}

// ofJobs are labels that Kubernetes sets on the Pods of Jobs, which there are only while a Job runs.
var ofJobs = []string{
	"job-name", "batch.kubernetes.io/job-name", "controller-uid", "batch.kubernetes.io/controller-uid",
	"batch.kubernetes.io/job-completion-index",
}

// maxRequirements is how many labels a selector may ask for. Of a longer one, nothing says that a label is lacking.
const maxRequirements = 100

// isRole reports whether software may change a label at run time.
func isRole(label string) bool {
	if slices.Contains(ofJobs, label) {
		return true
	}
	name := strings.ToLower(label[strings.IndexByte(label, '/')+1:])
	return slices.ContainsFunc(atRunTime, func(word string) bool { return strings.Contains(name, word) })
}

// Lacking is a label that the selector of an object asks for and that a Pod or template lacks, which has others that it
// asks for and contradicts none. Software may set it at run time: on the Pod that leads. A role may be another one, and
// all that the selector asks for. Empty when there is none.
func (g *Graph) Lacking(by Name) string {
	if s := g.selection(by); s != nil {
		return s.lacking
	}
	return ""
}

// AskedFor are the values of labels that the selector of an object asks for.
func (g *Graph) AskedFor(by Name) (values []string) {
	s := g.selection(by)
	if s == nil {
		return nil
	}
	requirements, _ := s.selector.Requirements()
	for i := range requirements {
		switch requirements[i].Operator() {
		case operators.Equals, operators.DoubleEquals, operators.In:
			values = append(values, requirements[i].Values().List()...)
		}
	}
	return values
}

// lack takes note of the label that all that a selector does not match lacks. Of several it is always the same,
// whatever passed first.
func (s *selection) lack(set labels.Set) {
	if requirements, _ := s.selector.Requirements(); len(requirements) > maxRequirements {
		return
	}
	if lacking := lackingIn(set, s.selector); lacking != "" && (s.lacking == "" || lacking < s.lacking) {
		s.lacking = lacking
	}
}

func lackingIn(set labels.Set, selector labels.Selector) (lacking string) {
	requirements, _ := selector.Requirements()
	isSure := false // something else shows that the Pod is meant
	for i := range requirements {
		r := &requirements[i]
		has, isRole := set.Has(r.Key()), isRole(r.Key())
		switch {
		case r.Matches(set):
			isSure = isSure || has
		case has && !isRole || slices.Contains(ofControllers, r.Key()):
			return ""
		case lacking == "" || r.Key() < lacking:
			lacking = r.Key()
		}
	}
	if !isSure && !areRoles(requirements, set) {
		return ""
	}
	return lacking
}

// areRoles reports whether all that a selector asks for in vain are roles.
func areRoles(requirements labels.Requirements, set labels.Set) bool {
	for i := range requirements {
		if r := &requirements[i]; !r.Matches(set) && !isRole(r.Key()) {
			return false
		}
	}
	return true
}
