// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// newTable is the table of what was asked for.
func (j *job) newTable(cleaners []*v1alpha1.Cleaner) *terminal.Table {
	t := &terminal.Table{Out: j.Out, Paint: j.Paint(j.Out), Header: []string{"NAMESPACE", "KIND", "NAME", "WOULD", "WHY"}}
	if j.output == "wide" {
		t.Header = []string{"NAMESPACE", "KIND", "API", "NAME", "AGE", "SELECTOR", "WOULD", "WHY"}
	}
	t.Widths = make([]int, len(t.Header)+1)
	if j.several {
		t.Header = append([]string{"CLEANER"}, t.Header...)
		for _, cleaner := range cleaners { // known beforehand, unlike all else
			t.Widths[0] = max(t.Widths[0], len(cleaner.Name))
		}
	}
	return t
}

// noteShared says where the names are of objects that share a row.
func (j *job) noteShared() {
	if j.shared {
		j.Note("objects that differ only in their names share a row; to list each: --limit 0")
	}
}

// row is what the table says of an object. stop is the word for why nothing would be touched after all.
func (j *job) row(cleaner *v1alpha1.Cleaner, item group, stop string) []terminal.Cell {
	namespace, name := item.place()
	because := terminal.Cell{Text: cmp.Or(item.why, selected(&cleaner.Spec.ResourcePolicySet, item.Selector))}
	would := j.would(cleaner.EffectiveAction(), item.PreviewItem)
	if item.Result == v1alpha1.OutcomePlanned && stop != "" {
		would = terminal.Cell{Text: "stay (" + stop + ")"}
	}
	var row []terminal.Cell
	if j.several {
		row = append(row, terminal.Cell{Text: cleaner.Name})
	}
	if j.output != "wide" {
		return append(row, terminal.Cell{Text: namespace}, terminal.Cell{Text: item.Kind.Kind}, terminal.Cell{Text: name},
			would, because)
	}
	age := "-"
	if !item.Created.IsZero() {
		age = duration.HumanDuration(j.now.Since(item.Created))
	}
	return append(row, terminal.Cell{Text: namespace}, terminal.Cell{Text: item.Kind.Kind},
		terminal.Cell{Text: item.Kind.APIVersion()}, terminal.Cell{Text: name},
		terminal.Cell{Text: age}, terminal.Cell{Text: fmt.Sprint(item.Selector)}, would, because)
}

// would is what would become of an object, so that "would" can stand before it.
func (j *job) would(action v1alpha1.Action, item run.PreviewItem) terminal.Cell {
	paint := j.Paint(j.Out)
	switch item.Result {
	case v1alpha1.OutcomePlanned:
		if action == v1alpha1.ActionDelete {
			return terminal.Cell{Text: "be deleted", In: paint.Red}
		}
		return terminal.Cell{Text: "be changed", In: paint.Yellow}
	case v1alpha1.OutcomeMatched:
		return terminal.Cell{Text: "be reported", In: paint.Green}
	case v1alpha1.OutcomeNotEvaluated:
		return terminal.Cell{Text: "not be judged", In: paint.Red}
	case v1alpha1.OutcomeFailed, v1alpha1.OutcomeDenied:
		return terminal.Cell{Text: "fail", In: paint.Red}
	case v1alpha1.OutcomeNotActed: // the API server was not asked
		return terminal.Cell{Text: "unknown", In: paint.Yellow}
	}
	return terminal.Cell{Text: "stay as it is", In: nil}
}

// why is the reason for what would become of an object, as far as one is known besides that it was selected.
func why(item run.PreviewItem) string { return terminal.Because(item.Detail, item.Message) }

// summary is "3 of 212 objects match; 2 would be deleted, 1 is protected". unsure is whether the API server may refuse
// some of what would be done.
func summary(found *run.Preview, result result, unsure bool) string {
	verb := "match"
	if result.Matched == 1 || found.Considered == 1 {
		verb = "matches"
	}
	text := fmt.Sprintf("%s of %s %s", terminal.Thousands(result.Matched), terminal.Grouped(found.Considered, "object"), verb)
	switch {
	case found.Incomplete != nil && found.Considered == 0:
		return "nothing could be read and judged, so a run would touch nothing"
	case found.Incomplete != nil:
		return text + ", as far as they could be read and judged; because of the rest, a run would touch nothing"
	case found.Considered == 0:
		return "nothing matches: there is no object that the selectors select"
	case found.Limit != nil:
		return text + "; a run would touch nothing: " + found.Limit.Error()
	}
	if parts := outcomes(found, result, unsure); len(parts) > 0 {
		text += "; " + strings.Join(parts, ", ")
	}
	if result.denied > 0 {
		denied := terminal.Thousands(result.denied)
		text += fmt.Sprintf("; %s could not be %s: %s", denied, become[found.Action], result.Forbidden)
	}
	if result.Matched > 0 {
		text += patience(found)
	}
	return text
}

// become is what objects become by an action.
var become = map[v1alpha1.Action]string{v1alpha1.ActionDelete: "deleted", v1alpha1.ActionTransform: "changed"}

// outcomes say how many objects would have each outcome: "2 would be deleted", "1 is protected".
func outcomes(found *run.Preview, result result, unsure bool) (parts []string) {
	add := func(n int64, one, many string) {
		if n > 0 {
			parts = append(parts, terminal.Thousands(n)+" "+terminal.Plural(n, one, many))
		}
	}
	counts := map[v1alpha1.OutcomeResult]int64{}
	marked := int64(0)
	for _, item := range found.Items {
		counts[item.Result]++
		if item.Result == v1alpha1.OutcomeMatched && item.Detail != "" {
			marked++
		}
	}
	provided := ""
	if unsure {
		provided = " if the API server accepts " + terminal.Plural(result.WouldAct, "it", "them")
	}
	switch would := "would be " + become[found.Action] + later(found) + provided; found.Action {
	case v1alpha1.ActionDelete, v1alpha1.ActionTransform:
		if add(result.WouldAct, would, would); result.WouldAct == 0 && result.denied > 0 {
			parts = append(parts, "0 "+would)
		}
	default:
		add(counts[v1alpha1.OutcomeMatched], "would be reported", "would be reported")
		add(marked, "of these is protected", "of these are protected")
	}
	add(counts[v1alpha1.OutcomeNotActed], "was not asked about", "were not asked about")
	add(counts[v1alpha1.OutcomeProtected], "is protected", "are protected")
	add(counts[v1alpha1.OutcomeUnknown], "is unknown and would be left alone", "are unknown and would be left alone")
	add(counts[v1alpha1.OutcomeDenied], "would be denied", "would be denied")
	add(counts[v1alpha1.OutcomeUnchanged], "has nothing to change", "have nothing to change")
	add(result.Failed-result.unjudged-result.denied, "could not be changed", "could not be changed")
	add(result.unjudged, "could not be judged and would be left alone", "could not be judged and would be left alone")
	return parts
}

// later is how what would be done to an object goes on if a run now would not do it yet.
func later(found *run.Preview) string {
	if patience(found) == "" {
		return ""
	}
	return " later"
}

// patience says what a run waits for before it touches what matches.
func patience(found *run.Preview) (text string) {
	if found.Threshold > 1 {
		text += fmt.Sprintf(". A run waits until an object has matched %d times in a row (occurrenceThreshold)", found.Threshold)
	}
	if found.ForSeconds > 0 {
		text += fmt.Sprintf(". A run acts on an object only after every run of the last %s, and at least %d runs, found it (forSeconds)",
			duration.HumanDuration(time.Duration(found.ForSeconds)*time.Second), v1alpha1.MinFindingRuns)
	}
	return text
}
