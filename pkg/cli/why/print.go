// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// print prints the answer.
func (j *job) print(r *Result) error {
	switch j.output {
	case "json":
		return terminal.WriteJSON(j.Out, r)
	case "yaml":
		return terminal.WriteYAML(j.Out, r)
	}
	if !r.Exists && r.DeletedBy == nil && j.unsure == nil && len(r.Users) == 0 {
		return nil // there is nothing to say but that
	}
	paint := j.Paint(j.Out)
	say := func(format string, args ...any) { fmt.Fprintln(j.Out, terminal.OneLine(fmt.Sprintf(format, args...))) }
	fmt.Fprintln(j.Out, paint.Bold(terminal.OneLine(j.headline(r))))
	if r.Selects {
		say("Its selector matches Pods, or a template of Pods.")
	}
	j.printFindings(r, say)
	if r.Owner != "" {
		say("It belongs to %s, so what is found is said of that.", r.Owner)
	} else if r.Exempt != "" {
		say("KubeCleaner never calls it Unused: %s.", r.Exempt)
	}
	if r.Protected != "" {
		say("A Cleaner would leave it alone: %s.", r.Protected)
	}
	j.printUsers(r)
	j.printSearched(r, say)
	j.printCleaners(r)
	return nil
}

// printFindings prints what was found of the object.
func (j *job) printFindings(r *Result, say func(format string, args ...any)) {
	for i := range r.Findings {
		f := &r.Findings[i]
		sure := ""
		if f.Confidence != "" {
			sure = fmt.Sprintf(" (%s)", f.Confidence)
		}
		verdict := "is " + string(f.Type) + sure
		if len(f.Of.Unknown) > 0 {
			verdict = "may be " + string(f.Type)
		}
		say("It %s: %s.", verdict, f.Why())
		if since := j.since(f); since != "" {
			say("%s", since)
		}
		if f.ManagedBy != "" {
			say("It is managed by %s.", f.ManagedBy)
		}
	}
}

// headline is the answer in one sentence.
func (j *job) headline(r *Result) string {
	what := j.name.String()
	switch {
	case j.unsure != nil:
		what += map[bool]string{true: " (which the manifests do not hold)", false: " (which you may not read)"}[j.Dump != nil]
	case !r.Exists && r.DeletedBy != nil:
		d := r.DeletedBy
		deleted := "deleted"
		if d.Unsure {
			deleted = "may have deleted"
		}
		text := fmt.Sprintf(
			"%s is gone: run %s of Cleaner %s %s it %s ago, on %s",
			what,
			d.Run,
			d.Cleaner,
			deleted,
			duration.HumanDuration(max(0, j.Now().Sub(d.At))),
			d.At.UTC().Format(time.RFC3339),
		)
		if d.Why != "" {
			text += ", because: " + d.Why
		}
		return text
	case !r.Exists:
		return what + " does not exist, but other objects name it."
	}
	switch {
	case r.Used == nil:
		return what + ": it is not known whether it is used."
	case *r.Used:
		return what + " is used."
	case len(r.Users) > 0:
		return what + " is used by nothing at present."
	case !slices.ContainsFunc(r.Findings, func(f search.Finding) bool { return f.Type == v1alpha1.FindingUnused }):
		return "Nothing names " + what + "." // which is how it should be with many kinds: a Namespace, an Ingress, a binding
	}
	return what + " is used by nothing."
}

// mostUsers is how many users of one kind and field are shown by name.
const mostUsers = 5

// printUsers prints who names the object, and in which field; many that do so in the same way in one line.
func (j *job) printUsers(r *Result) {
	if len(r.Users) == 0 {
		return
	}
	fmt.Fprintln(j.Out, "\nNamed by:")
	var rows [][2]string
	for i := 0; i < len(r.Users); {
		first, end := r.Users[i], i
		same := func(u user) bool {
			u.Namespace, u.Name = first.Namespace, first.Name
			return u == first
		}
		var names []string
		for ; end < len(r.Users) && same(r.Users[end]); end++ {
			u := r.Users[end]
			names = append(names, strings.TrimPrefix(u.Namespace+"/"+u.Name, "/"))
		}
		rows = append(
			rows,
			[2]string{
				first.Kind + " " + terminal.Shortened(names, mostUsers),
				strings.Join(append([]string{first.Path}, first.words()...), "   "),
			},
		)
		i = end
	}
	indented(j.Out, rows)
}

// indented prints two columns below a line that says what they are.
func indented(w io.Writer, rows [][2]string) {
	width := 0
	for i := range rows {
		rows[i][0] = terminal.OneLine(rows[i][0])
		width = max(width, utf8.RuneCountInString(rows[i][0]))
	}
	for _, row := range rows {
		fmt.Fprintf(w, "  %-*s   %s\n", width, row[0], terminal.OneLine(row[1]))
	}
}

// words say what is special about a reference.
func (u user) words() (words []string) {
	if u.Idle {
		words = append(words, "(uses nothing at present)")
	}
	if u.Reads {
		words = append(words, "(may read it, by its name)")
	}
	if u.Optional {
		words = append(words, "(optional)")
	}
	return words
}

func (j *job) printSearched(r *Result, say func(string, ...any)) {
	fmt.Fprintln(j.Out)
	if n := len(r.Searched); n > 0 {
		say(
			"Searched: %s that can name %s: %s.",
			terminal.Counted(n, "kind"),
			terminal.WithArticle(j.of.Kind),
			strings.Join(r.Searched, ", "),
		)
	} else if len(r.NotReadable) == 0 {
		say("No kind is known that names %s.", terminal.WithArticle(j.of.Kind))
	}
	var forbidden []string
	for _, u := range r.NotReadable {
		if u.Forbidden || j.Dump != nil && !j.Complete && u.Kind != "*" {
			forbidden = append(forbidden, u.Words())
		} else {
			say("Not readable: %s: %s", u.Words(), u.Error)
		}
	}
	if len(forbidden) > 0 {
		because := "you are not allowed to read them"
		if j.Dump != nil {
			because = "the manifests hold none"
		}
		say("Not readable, because %s: %s.", because, strings.Join(forbidden, ", "))
	}
	if near := r.Nearest; near != nil {
		say("Nearest: %s %s names %s %s, which does not exist, in %s. Is this one meant?", near.User.Kind,
			strings.TrimPrefix(near.User.Namespace+"/"+near.User.Name, "/"), j.of.Kind, near.Name, near.User.Path)
	}
}

func (j *job) printCleaners(r *Result) {
	if len(r.Cleaners) == 0 {
		return
	}
	fmt.Fprintln(
		j.Out,
		"\nCleaners that may select it, by kind, namespace and labels; their conditions and scripts were not asked:",
	)
	var rows [][2]string
	for _, c := range r.Cleaners {
		var selectors []string
		for _, n := range c.Selectors {
			selectors = append(selectors, fmt.Sprintf("resourceSelectors[%d]", n))
		}
		if c.NotReady != "" {
			selectors = append(selectors, "not ready: "+c.NotReady)
		}
		rows = append(rows, [2]string{c.Name, string(c.Action) + ", " + strings.Join(selectors, ", ")})
	}
	indented(j.Out, rows)
}

// conclude says how to go on, and decides how the command exits.
func (j *job) conclude(ctx context.Context, r *Result) error {
	bold := j.Paint(j.ErrOut).Bold("hint:")
	switch {
	case r.DeletedBy != nil && r.DeletedBy.Restore != "":
		until := ""
		if r.DeletedBy.Until != nil {
			until = " (until " + r.DeletedBy.Until.UTC().Format(time.RFC3339) + ")"
		}
		if journal.WhyKindLacksCopies(j.of.GroupKind()) != "" {
			until = ", if the run kept a copy of it" + until
		}
		fmt.Fprintf(j.ErrOut, "%s to restore it%s: %s\n", bold, until, terminal.OneLine(r.DeletedBy.Restore))
	case r.DeletedBy != nil:
		j.Note("the run keeps no copy of it, so it cannot be restored")
	case !r.Exists && j.unsure == nil:
		return j.noObject(ctx)
	case r.isUnknown():
		return j.unreadable(r)
	default:
		j.hint(r)
	}
	return nil
}

// hint says how to go on. A Cleaner that is not ready cannot be previewed.
func (j *job) hint(r *Result) {
	i := slices.IndexFunc(r.Cleaners, func(c selecting) bool { return c.NotReady == "" })
	if i < 0 {
		return
	}
	fmt.Fprintf(
		j.ErrOut,
		"%s whether a Cleaner would touch it: %s preview %s --only %s%s\n",
		j.Paint(j.ErrOut).Bold("hint:"),
		terminal.Program,
		terminal.ShellWord(terminal.OneLine(r.Cleaners[i].Name)),
		terminal.ShellWord(terminal.OneLine(cluster.Ref{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}.String())),
		search.Given(j.flags, append([]string{"operator-namespace"}, search.Connecting...)...),
	)
}
