// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"fmt"
	"slices"

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
		{"Unknown", "nobody can tell whether this is true of these objects", is(false)},
		{"Undecided", "no right is missing, but what was read does not tell whether this is true of these objects", is(true)},
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
	fmt.Fprintf(j.ErrOut, "%s no right would decide about %s; look at who may use %s: %s why %s%s\n",
		j.Paint(j.ErrOut).Bold("hint:"), terminal.Grouped(n, "object"), terminal.Plural(n, "it", "one of them"),
		terminal.Program, terminal.ShellWord(terminal.OneLine(last[0].Ref().String())),
		search.Given(j.flags, search.Where...))
}
