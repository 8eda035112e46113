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

// manyAlike is from how many objects on those that stay for the same reason are one row.
const manyAlike = 4

// group is a row: an object, or several that stay for the same reason.
type group struct {
	run.PreviewItem
	count      int64
	namespaces int
}

// together makes one row of objects that stay as they are, or cannot be judged, for the same reason. Each object that
// would be touched or reported keeps its own.
func together(items []run.PreviewItem) []group {
	type key struct {
		kind   object.Kind
		result v1alpha1.OutcomeResult
		why    string
	}
	keyOf := func(item run.PreviewItem) key {
		return key{item.Kind, item.Result, cmp.Or(why(item), fmt.Sprint(item.Selector))}
	}
	count, namespaces := map[key]int64{}, map[key]map[string]bool{}
	for _, item := range items {
		k := keyOf(item)
		if namespaces[k] == nil {
			namespaces[k] = map[string]bool{}
		}
		count[k]++
		namespaces[k][item.Namespace] = true
	}
	var groups []group
	told := map[key]bool{}
	for _, item := range items {
		k := keyOf(item)
		switch {
		case isFinding(item) || count[k] < manyAlike:
			groups = append(groups, group{item, 1, 1})
		case !told[k]:
			told[k] = true
			groups = append(groups, group{item, count[k], len(namespaces[k])})
		}
	}
	return groups
}

// isFinding reports whether an object would be touched or reported.
func isFinding(item run.PreviewItem) bool {
	return item.Result == v1alpha1.OutcomePlanned || item.Result == v1alpha1.OutcomeMatched
}

// alone makes each object a row.
func alone(items []run.PreviewItem) []group {
	groups := make([]group, 0, len(items))
	for _, item := range items {
		groups = append(groups, group{item, 1, 1})
	}
	return groups
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
