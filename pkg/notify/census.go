// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// census is how many objects of a run had which outcome, and how many those are that were counted: all, unless the
// record had no room even for the counts of all kinds and namespaces.
type census struct {
	outcomes map[v1alpha1.OutcomeResult]int64
	places   map[string]*place
	total    int64
}

// place is a kind in a namespace: how many objects it has, and of how many what is true.
type place struct {
	total int64
	words map[string]int64
}

// newCensus counts what the record lists or, when it does not list all, takes the counts that it holds. One that was
// written before records had counts has neither: then it is of what is listed.
func newCensus(run *v1alpha1.CleanerRun, document *Document) *census {
	c := &census{outcomes: map[v1alpha1.OutcomeResult]int64{}, places: map[string]*place{}}
	for _, t := range document.Tallies {
		c.add(run, t.Kind, t.Namespace, t.Outcome, t.Count)
	}
	if len(document.Tallies) == 0 {
		for _, o := range document.Objects {
			c.add(run, o.Kind, o.Namespace, o.Outcome, 1)
		}
	}
	return c
}

func (c *census) add(run *v1alpha1.CleanerRun, kind, namespace string, outcome v1alpha1.OutcomeResult, n int64) {
	c.outcomes[outcome] += n
	c.total += n
	if namespace != "" {
		kind += " in " + namespace
	}
	p := c.places[kind]
	if p == nil {
		p = &place{words: map[string]int64{}}
		c.places[kind] = p
	}
	p.total += n
	p.words[word(run, outcome)] += n
}

// lines say how many objects of each kind and namespace had which outcome, the most first, of a total that may be more
// than was counted.
func (c *census) lines(total int64) []string {
	var lines []string
	for _, name := range largest(c.places, func(p *place) int64 { return p.total }) {
		p := c.places[name]
		var words []string
		for _, word := range largest(p.words, func(n int64) int64 { return n }) {
			words = append(words, fmt.Sprintf("%d %s", p.words[word], word))
		}
		lines = append(lines, name+": "+strings.Join(words, ", "))
	}
	if c.total < total && len(lines) > maxGroups { // nobody knows how many more there are
		return append(lines[:maxGroups:maxGroups], "and more kinds and namespaces")
	}
	return first(lines, "more kind and namespace", "more kinds and namespaces")
}

// unlisted says how many objects were left alone beside those that the record lists with their reasons.
func (c *census) unlisted(run *v1alpha1.CleanerRun, listed []v1alpha1.ObjectOutcome) []string {
	more := maps.Clone(c.outcomes)
	for _, o := range listed {
		more[o.Outcome]--
	}
	var lines []string
	for _, outcome := range leftAlone {
		if n := more[outcome]; n > 0 {
			lines = append(lines, fmt.Sprintf("%d %s, which the record does not list", n, word(run, outcome)))
		}
	}
	return lines
}

// largest are the keys by the size of what they have, equal ones in their order.
func largest[V any](m map[string]V, size func(V) int64) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(size(m[b]), size(m[a])), cmp.Compare(a, b))
	})
}
