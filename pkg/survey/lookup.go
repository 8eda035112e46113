// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"slices"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// Lookup is what the i-th selector of a Cleaner asks about each object; see selector.Judge. It is nil where that one
// asks for no finding.
type Lookup func(i int) func(object.Object) (selector.Finding, bool)

// Among finds where these objects are all that there are. What is unknown of them is not found: a run leaves it alone.
func Among(cleaner *v1alpha1.Cleaner, objects []object.Object, now time.Time) (Lookup, error) {
	wanted, _ := wantedOf(cleaner)
	if len(wanted) == 0 {
		return (*Findings)(nil).Judge, nil
	}
	table, err := graph.BuiltIn()
	if err != nil {
		return nil, err
	}
	var served []object.Kind
	for _, o := range objects {
		if !slices.ContainsFunc(served, func(k object.Kind) bool { return k.GroupKind() == o.Kind.GroupKind() }) {
			served = append(served, o.Kind)
		}
	}
	finder := finding.New(finding.Options{
		Table: table, Served: served, Wanted: wanted, WithUsers: wantsCascading(wanted), Now: now,
		EachDialect: namesDialects(cleaner),
	})
	for _, list := range finder.Lists() {
		for _, o := range objects {
			if o.Kind.GroupKind() == list.Kind.GroupKind() && list.Selects(o) {
				finder.Look(list, o)
			}
		}
	}
	found := newFindings(cleaner, finder.Findings(), nil, now)
	found.onlyKnown = true
	return found.Judge, nil
}
