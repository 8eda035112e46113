// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// complete lets the shell complete runs and flags. It fails only for a flag that does not exist.
func (o *options) complete(cmd *cobra.Command) {
	cmd.ValidArgsFunction = terminal.CompleteFirst(cluster.CompleteRecords(o.Session, &o.Connection))
	_ = cmd.RegisterFlagCompletionFunc("outcome", completeOutcomes)
	_ = cmd.RegisterFlagCompletionFunc("kind", o.completeKinds)
}

// completeKinds completes --kind.
func (o *options) completeKinds(
	cmd *cobra.Command,
	args []string,
	begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	known := &search.Flags{Session: o.Session, Connection: o.Connection}
	return known.CompleteServed(cmd, args, begun)
}

// completeOutcomes completes the values of --outcome.
func completeOutcomes(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	before := begun[:strings.LastIndex(begun, ",")+1]
	words := make([]cobra.Completion, 0, len(cluster.Outcomes()))
	for _, o := range cluster.Outcomes() {
		words = append(words, before+string(o))
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// filter is which objects of a run are asked for. Empty is all.
type filter struct {
	outcomes, namespaces, kinds []string
}

func (f *filter) isEmpty() bool { return len(f.outcomes)+len(f.namespaces)+len(f.kinds) == 0 }

// check says which outcome there is not.
func (f *filter) check() string {
	names := make([]string, 0, len(cluster.Outcomes()))
	for _, o := range cluster.Outcomes() {
		names = append(names, string(o))
	}
	for _, wanted := range f.outcomes {
		if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, wanted) }) {
			continue
		}
		if near := suggest.Nearest(wanted, names); near != "" {
			return fmt.Sprintf("--outcome %s: there is no such outcome; did you mean %s?", terminal.Quoted(wanted), near)
		}
		return fmt.Sprintf(
			"--outcome %s: there is no such outcome; there are %s",
			terminal.Quoted(wanted),
			terminal.OrList(names),
		)
	}
	return ""
}

// wants reports whether an object is asked for. A kind may be written as people call it, as cm or deployments.apps.
func (f *filter) wants(o *v1alpha1.ObjectOutcome) bool {
	kind := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).GroupKind()
	return among(f.outcomes, string(o.Outcome)) && among(f.namespaces, o.Namespace) &&
		(len(f.kinds) == 0 || slices.ContainsFunc(f.kinds, func(word string) bool { return terminal.IsCalled(kind, word) }))
}

// words are the filter as the flags say it: "--kind cm --namespace shop".
func (f *filter) words() string {
	var parts []string
	for _, flag := range []struct {
		name   string
		values []string
	}{{"outcome", f.outcomes}, {"namespace", f.namespaces}, {"kind", f.kinds}} {
		if len(flag.values) > 0 {
			parts = append(parts, "--"+flag.name+" "+strings.Join(flag.values, ","))
		}
	}
	return terminal.OneLine(strings.Join(parts, " "))
}

// kindsOf are the kinds of the objects, sorted, each once.
func kindsOf(objects []v1alpha1.ObjectOutcome) (kinds []string) {
	for i := range objects {
		kinds = append(kinds, objects[i].Kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// reportNone says that no object is as the flags ask for, of which kinds there are some, and which may be meant.
func (o *options) reportNone(run *v1alpha1.CleanerRun) {
	kinds := kindsOf(run.Status.Objects)
	has := "its objects are of the kinds " + terminal.OneLine(terminal.AndList(kinds))
	switch len(kinds) {
	case 0:
		has = "the run lists no objects at all"
	case 1:
		has = "all its objects are of the kind " + terminal.OneLine(kinds[0])
	}
	o.Note("of run %s, no object matches %s; %s", run.Name, o.words(), has+o.meant(run, kinds))
}

// meant asks whether a kind was misspelled of which the run has objects.
func (o *options) meant(run *v1alpha1.CleanerRun, kinds []string) string {
	for _, word := range o.kinds {
		there := slices.ContainsFunc(run.Status.Objects, func(o v1alpha1.ObjectOutcome) bool {
			return terminal.IsCalled(schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).GroupKind(), word)
		})
		name, _, _ := strings.Cut(word, ".")
		if near := suggest.Nearest(name, kinds); near != "" && !there {
			return "; did you mean --kind " + terminal.OneLine(near) + "?"
		}
	}
	return ""
}

// among reports whether the word is among those that are wanted, or all are.
func among(wanted []string, word string) bool {
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(w string) bool { return strings.EqualFold(w, word) })
}

// inOrder are the objects that are asked for: by outcome, and by kind, namespace and name.
func (f *filter) inOrder(objects []v1alpha1.ObjectOutcome) []v1alpha1.ObjectOutcome {
	wanted := make([]v1alpha1.ObjectOutcome, 0, len(objects))
	for i := range objects {
		if f.wants(&objects[i]) {
			wanted = append(wanted, objects[i])
		}
	}
	slices.SortStableFunc(wanted, func(a, b v1alpha1.ObjectOutcome) int {
		return cmp.Or(
			cmp.Compare(cluster.Rank(&a), cluster.Rank(&b)),
			cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return wanted
}

// group is objects of one outcome, kind and namespace.
type group struct {
	of    v1alpha1.ObjectTally
	count int64
	// total is how many there were, also those that are not listed. 0 when they are all listed, or it is not known.
	total int64
	// why is the reason of the first, and common is that without its own name. reasons and commons are those of all.
	why, common      string
	reasons, commons map[string]bool
}

// add counts an object that is there for a reason.
func (g *group) add(o *v1alpha1.ObjectOutcome, why string) {
	common := terminal.WithoutName(why, o.Name)
	if g.count++; g.count == 1 {
		g.why, g.common, g.reasons, g.commons = why, common, map[string]bool{}, map[string]bool{}
	}
	g.reasons[why], g.commons[common] = true, true
}

// size is how many objects there were, and how many of them are listed.
func (g *group) size() string {
	if g.total > g.count {
		return terminal.Thousands(g.count) + " listed of " + terminal.Thousands(g.total)
	}
	return terminal.Thousands(g.count)
}

// words are the reason that all of them have in common, with NAME for their own names, or how many reasons there are.
func (g *group) words() string {
	switch {
	case len(g.reasons) <= 1:
		return g.why
	case len(g.commons) == 1:
		return g.common
	}
	n := min(len(g.reasons), len(g.commons))
	return fmt.Sprintf("%s, for example: %s", terminal.Grouped(int64(n), "reason"), g.why)
}

// groups counts objects that are in order. Then come those of which the record has only the counts.
func (f *filter) groups(run *v1alpha1.CleanerRun, objects []v1alpha1.ObjectOutcome) []*group {
	var list []*group
	at := map[v1alpha1.ObjectTally]*group{}
	for i := range objects {
		o := &objects[i]
		of := v1alpha1.ObjectTally{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Outcome: o.Outcome}
		if cluster.IsSpared(o) {
			of.Count = 1 // apart from the others
		}
		g := at[of]
		if g == nil {
			g = &group{of: of}
			at[of] = g
			list = append(list, g)
		}
		g.add(o, cluster.Why(run, o))
	}
	if run.Status.ObjectsOmitted == 0 {
		return list
	}
	for _, tally := range run.Status.Tallies {
		of := tally
		of.Count = 0
		if at[of] == nil && f.wants(&v1alpha1.ObjectOutcome{
			APIVersion: of.APIVersion, Kind: of.Kind, Namespace: of.Namespace, Outcome: of.Outcome,
		}) {
			at[of] = &group{of: of}
			list = append(list, at[of])
		}
		if g := at[of]; g != nil {
			g.total = tally.Count
			if of.Count = 1; at[of] != nil { // protected ones, which are listed apart
				g.total -= at[of].count
			}
		}
	}
	return list
}
