// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// group is a row: an object, or several that differ only in their names. PreviewItem is the first of them.
type group struct {
	run.PreviewItem
	count      int64
	namespaces int
	// why is the reason that they have in common, if one is known.
	why string
}

// groups are the rows of objects. One row stands for many of which all but the name is the same. Those that stay as
// they are may be of several namespaces. Where each object is asked for, it has a row of its own.
func (j *job) groups(items []run.PreviewItem) []group {
	rows := terminal.Alone(items)
	if j.output != "wide" && j.limit > 0 && len(j.only) == 0 {
		rows = terminal.Alike(items, alikeOf)
	}
	groups := make([]group, 0, len(rows))
	for _, row := range rows {
		groups = append(groups, newGroup(row))
		j.shared = j.shared || len(row) > 1
	}
	return groups
}

func newGroup(row []run.PreviewItem) group {
	g := group{PreviewItem: row[0], count: int64(len(row)), why: why(row[0])}
	namespaces := map[string]bool{}
	for _, item := range row {
		namespaces[item.Namespace] = true
		if why(item) != why(row[0]) {
			g.why = terminal.WithoutName(why(row[0]), row[0].Name)
		}
	}
	g.namespaces = len(namespaces)
	return g
}

// alike is what the objects of one row have in common.
type alike struct {
	kind      object.Kind
	namespace string
	result    v1alpha1.OutcomeResult
	why       string
}

func alikeOf(item run.PreviewItem) alike {
	because := cmp.Or(terminal.WithoutName(why(item), item.Name), fmt.Sprint(item.Selector))
	key := alike{kind: item.Kind, result: item.Result, why: because}
	if isFinding(item) {
		key.namespace = item.Namespace
	}
	return key
}

// isFinding reports whether an object would be touched or reported.
func isFinding(item run.PreviewItem) bool {
	return item.Result == v1alpha1.OutcomePlanned || item.Result == v1alpha1.OutcomeMatched
}

// place is where a row's objects are, and what they are called.
func (g group) place() (namespace, name string) {
	switch {
	case g.count == 1:
		return g.Namespace, g.Name
	case g.namespaces > 1:
		return fmt.Sprintf("%d namespaces", g.namespaces), terminal.Grouped(g.count, "object")
	}
	return g.Namespace, terminal.Grouped(g.count, "object")
}

// beyond are the objects for which --limit left no row, by kind and namespace.
type beyond map[string]int64

func (b beyond) add(g group) {
	where := g.Kind.Kind
	if g.Namespace != "" {
		where += " in " + g.Namespace
	}
	b[where] += g.count
}

// maxPlaces is how many kinds and namespaces are named of what is not shown.
const maxPlaces = 10

func (b beyond) words() string {
	places := slices.SortedFunc(
		maps.Keys(b),
		func(x, y string) int { return cmp.Or(cmp.Compare(b[y], b[x]), cmp.Compare(x, y)) },
	)
	total := int64(0)
	for i, place := range places {
		total += b[place]
		places[i] = terminal.Thousands(b[place]) + " " + place
	}
	return terminal.Grouped(total, "more object") + ": " + terminal.Shortened(places, maxPlaces)
}

// diffs shows what a Transform would change, and what the API server would refuse, an equal patch once, with the names
// of the others that would get it.
func (j *job) diffs(items []run.PreviewItem) {
	others, first := map[string][]string{}, []run.PreviewItem{}
	for _, item := range items {
		if item.Patch == nil || item.Result == v1alpha1.OutcomeUnchanged || item.Result == v1alpha1.OutcomeNotActed ||
			!j.shows(item) {
			continue
		}
		key := string(item.Result) + patchKey(item)
		if _, known := others[key]; !known {
			first = append(first, item)
			others[key] = []string{}
			continue
		}
		others[key] = append(others[key], strings.TrimPrefix(item.Namespace+"/"+item.Name, "/"))
	}
	for i, item := range first {
		if j.limit > 0 && int64(i) == j.limit {
			j.Note(
				"%s not shown; --limit 0 shows all",
				terminal.Grouped(int64(len(first)-i), "more patch")+" "+terminal.Plural(int64(len(first)-i), "is", "are"),
			)
			return
		}
		j.diff(item)
		if same := others[string(item.Result)+patchKey(item)]; len(same) > 0 {
			fmt.Fprintf(
				j.Out,
				"the same patch for %s more: %s\n",
				terminal.Thousands(int64(len(same))),
				terminal.OneLine(terminal.Shortened(same, maxPlaces)),
			)
		}
	}
}

func patchKey(item run.PreviewItem) string {
	patch, err := json.Marshal(item.Patch)
	if err != nil {
		return item.String()
	}
	return item.Kind.String() + string(patch)
}
