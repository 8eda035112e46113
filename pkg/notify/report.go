// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// maxGroups is how many kinds and namespaces, and how many reasons, are named; the rest are counted.
const maxGroups = 8

// tone is how a run ended, for a colour.
type tone int

const (
	toneInfo tone = iota // nothing was to be touched
	toneDone
	toneAlarm
)

// colour is the tone as a number: red, green, blue.
func (t tone) colour() int {
	return [...]int{toneInfo: 0x1D9BD1, toneDone: 0x2EB67D, toneAlarm: 0xE01E5A}[t]
}

// report is what a message says, in no service's language. Its texts are not escaped.
type report struct {
	// id is the same whenever this notification of this run is sent, and that of no other.
	id             string
	title, summary string
	tone           tone
	// counts are by kind and namespace, left by reason.
	counts, left []string
	objects      []entry
	// listed is how many objects the record holds, counted how many it counts by kind and namespace, and total how many
	// there were.
	listed, counted, total int64
	facts                  []fact
	// ways are commands, and what they show. link is what the page shows at the document's Page.
	ways     []fact
	link     string
	document Document
}

// entry is one object of a report.
type entry struct{ object, outcome, text string }

type fact struct{ label, value string }

// newReport puts a run into words. hide takes credentials out of texts.
func newReport(message Message, hide func(string) string) *report {
	run, cleaner := message.Run, message.Cleaner
	document := newDocument(cleaner, run, hide)
	counted := newCensus(run, &document)
	r := &report{
		id:       message.id(),
		title:    clean(title(cleaner, run, counted)),
		summary:  document.Message,
		document: document,
		counts: counted.lines(
			int64(len(document.Objects)) + run.Status.ObjectsOmitted,
		),
		left:    append(leftOf(run, document.Objects), counted.unlisted(run, document.Objects)...),
		counted: counted.total,
		listed:  int64(len(document.Objects)),
		total:   int64(len(document.Objects)) + run.Status.ObjectsOmitted,
	}
	if message.Test {
		r.title = "Test: " + r.title
	}
	r.document.Title, r.document.Test, r.document.Page = r.title, message.Test, message.page
	switch {
	case !run.Status.Phase.Good():
		r.tone = toneAlarm
	case run.Status.Acted > 0:
		r.tone = toneDone
	}
	r.objects = entriesOf(run, document.Objects)
	r.facts = factsOf(document)
	r.ways, r.link = waysOf(message, document)
	return r
}

// waysOf are the commands that the run calls for, and what the page shows of it.
func waysOf(message Message, document Document) (ways []fact, link string) {
	status := &message.Run.Status
	link = "This run on the page"
	if status.Phase == v1alpha1.RunAwaitingApproval {
		link = "Approve or reject on the page"
		ways = []fact{
			{"Approve", "kubectl cleaner approve " + document.Run},
			{"Reject", "kubectl cleaner reject " + document.Run},
		}
	}
	if message.Test {
		link = "The Cleaner on the page"
	} else {
		label := "All of this run"
		if document.ObjectsOmitted > 0 {
			label = "What the record of this run lists"
		}
		ways = append(ways, fact{label, "kubectl describe cleanerrun " + document.Run})
	}
	ways = append(ways, fact{"All runs", "kubectl cleaner runs " + document.Cleaner})
	if document.ObjectsOmitted > 0 {
		ways = append(ways, fact{"What still matches", "kubectl cleaner preview " + document.Cleaner})
	}
	if status.Copies != nil && status.Acted > 0 {
		ways = append(ways, fact{"Restore what it touched", "kubectl cleaner restore " + document.Run})
	}
	return ways, link
}

func factsOf(d Document) []fact {
	when := "asked for at"
	switch d.Trigger {
	case v1alpha1.TriggerSchedule:
		when = "scheduled for"
	case v1alpha1.TriggerApproval:
		when = "approved at"
	}
	ran := fmt.Sprintf("%s, %s %s", d.Run, when, d.NominalTime.UTC().Format("2006-01-02 15:04 MST"))
	if d.Duration != "" {
		ran += ", took " + d.Duration
	}
	action := string(d.Action)
	if d.DryRun {
		action += ", because " + d.DryRunReason
	}
	return []fact{{"Run", ran}, {"Action", action}, {"Schedule", d.Schedule}}
}

// entriesOf are the objects worth a line: first what failed, then what was done or found, then what the run did not
// come to. What it left alone for a reason of its own is counted by reason.
func entriesOf(run *v1alpha1.CleanerRun, objects []v1alpha1.ObjectOutcome) []entry {
	var failed, done, open []entry
	for _, o := range objects {
		e := entry{object: nameOf(o), outcome: word(run, o.Outcome), text: o.Message}
		switch o.Outcome {
		case v1alpha1.OutcomeFailed, v1alpha1.OutcomeDenied, v1alpha1.OutcomeKindGone, v1alpha1.OutcomeNotEvaluated:
			e.outcome, e.text = e.outcome+suffix(o.Reason), o.Message
			failed = append(failed, e)
		case v1alpha1.OutcomeTerminating, v1alpha1.OutcomeMatched: // which may be protected
			e.outcome += suffix(o.Reason)
			done = append(done, e)
		case v1alpha1.OutcomeDryRun, v1alpha1.OutcomeDeleted, v1alpha1.OutcomeFoundGone, v1alpha1.OutcomeTransformed:
			done = append(done, e)
		case v1alpha1.OutcomeNotActed, v1alpha1.OutcomePlanned, v1alpha1.OutcomeInterrupted:
			open = append(open, e)
		}
	}
	return slices.Concat(failed, done, open)
}

func suffix(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

func nameOf(o v1alpha1.ObjectOutcome) string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// leftAlone are the outcomes of what a run left alone for a reason of the object's own.
var leftAlone = []v1alpha1.OutcomeResult{
	v1alpha1.OutcomeUnchanged,
	v1alpha1.OutcomeReplaced,
	v1alpha1.OutcomeChanged,
	v1alpha1.OutcomeConflict,
	v1alpha1.OutcomeProtected,
	v1alpha1.OutcomeAbandoned,
	v1alpha1.OutcomeGone,
	v1alpha1.OutcomeUnknown,
}

// leftOf says of what was left alone why, by reason.
func leftOf(run *v1alpha1.CleanerRun, objects []v1alpha1.ObjectOutcome) []string {
	var left []v1alpha1.ObjectOutcome
	for _, o := range objects {
		if slices.Contains(leftAlone, o.Outcome) {
			left = append(left, o)
		}
	}
	var lines []string
	for _, group := range groups(left, func(o v1alpha1.ObjectOutcome) string {
		return word(run,
			o.Outcome) + suffix(o.Reason)
	}) {
		line := fmt.Sprintf("%d %s (%s", len(group.members), group.key, nameOf(group.members[0]))
		if more := len(group.members) - 1; more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		lines = append(lines, line+")")
	}
	return first(lines, "more reason", "more reasons")
}

// first keeps the first lines and counts the rest.
func first(lines []string, one, several string) []string {
	switch more := len(lines) - maxGroups; {
	case more <= 0:
		return lines
	case more == 1:
		return append(lines[:maxGroups:maxGroups], "and 1 "+one)
	default:
		return append(lines[:maxGroups:maxGroups], fmt.Sprintf("and %d %s", more, several))
	}
}

type group struct {
	key     string
	members []v1alpha1.ObjectOutcome
}

// groups puts together what has the same key: the largest group first, equal ones in the order of their keys.
func groups(objects []v1alpha1.ObjectOutcome, key func(v1alpha1.ObjectOutcome) string) []group {
	var all []group
	at := map[string]int{}
	for _, o := range objects {
		k := key(o)
		i, ok := at[k]
		if !ok {
			i, at[k] = len(all), len(all)
			all = append(all, group{key: k})
		}
		all[i].members = append(all[i].members, o)
	}
	slices.SortFunc(all, func(a, b group) int {
		return cmp.Or(cmp.Compare(len(b.members), len(a.members)), cmp.Compare(a.key, b.key))
	})
	return all
}
