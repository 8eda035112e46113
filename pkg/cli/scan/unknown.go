// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"fmt"
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// unknownSection are findings that are unknown for one cause.
type unknownSection struct {
	name, title string
	of          []search.Finding
}

// unknownSections are what is unknown because something could not be read, and what is unknown although everything was:
// then no right would help.
func (r *Result) unknownSections() []unknownSection {
	is := func(readable bool) []search.Finding {
		return slices.DeleteFunc(slices.Clone(r.Unknown), func(f search.Finding) bool {
			return (len(f.NotReadable) == 0) != readable
		})
	}
	sections := []unknownSection{
		{"Unknown", "these may be findings; some kinds that would decide this could not be read", is(false)},
		{"Undecided", "these may be findings; everything was read, but that does not decide it", is(true)},
	}
	return slices.DeleteFunc(sections, func(s unknownSection) bool { return len(s.of) == 0 })
}

// hintUndecided says how to go on with what no right would decide.
func (j *job) hintUndecided(r *Result) {
	sections := r.unknownSections()
	if len(sections) == 0 || j.output != "table" && j.output != "wide" {
		return
	}
	last := sections[len(sections)-1].of
	if len(last[0].NotReadable) > 0 {
		return
	}
	n := int64(len(last))
	first, look := &last[0], "to see all that is known of"
	if i := slices.IndexFunc(last, mayBeRead); i >= 0 {
		first, look = &last[i], "to see what may use"
	}
	fmt.Fprintf(j.ErrOut, "%s more rights would not help with %s; %s %s: %s why %s%s\n",
		j.Paint(j.ErrOut).Bold("hint:"), terminal.Grouped(n, "object"), look, terminal.Plural(n, "it", "one of them"),
		terminal.Program, terminal.ShellWord(terminal.OneLine(first.Ref().String())),
		search.Given(j.flags, search.Where...))
}

// mayBeRead reports whether an undecided object is one that somebody may read: all kinds were searched, and none names
// it. Of other undecided objects no users were searched.
func mayBeRead(f search.Finding) bool { return f.Type == v1alpha1.FindingUnused && f.Searched > 0 }
