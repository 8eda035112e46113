// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"fmt"
	"strings"
)

const (
	// maxObjects is how many objects a message lists.
	maxObjects = 20
	// How many bytes a part of a message may have, before escaping.
	maxTitle   = 200
	maxSummary = 1000
	maxLine    = 300
	maxName    = 350
)

// section is a part of a message, escaped: a paragraph, or a list with a heading.
type section struct {
	heading string
	lines   []string
}

// page is a message in one service's language, without its title.
type page struct {
	sections []section
	// whole is true when it says all there is to say; then nobody needs a file.
	whole bool
}

// render puts a report into sections whose size is within the limit. When not all objects can be listed, it says so,
// and where they are: in a file, if the service takes one.
func (m markup) render(r *report, file bool, limit int, size func([]section) int) page {
	for n := min(maxObjects, len(r.objects)); n >= 0; n-- {
		if sections := m.sections(r, n, file); size(sections) <= limit {
			return page{sections, n == len(r.objects) && r.listed == r.total}
		}
	}
	return page{m.brief(r, file), false}
}

func (m markup) sections(r *report, objects int, file bool) []section {
	sections := []section{{lines: []string{m.text(r.summary, maxSummary)}}}
	add := func(heading string, lines []string) {
		if len(lines) > 0 {
			sections = append(sections, section{heading, lines})
		}
	}
	add(partly("By kind and namespace", r.counted, r.total), m.all(r.counts))
	var lines []string
	for _, e := range r.objects[:objects] {
		line := m.code(e.object, maxName) + " " + m.text(e.outcome, maxLine)
		if e.text != "" {
			line += " – " + m.text(e.text, maxLine)
		}
		lines = append(lines, line)
	}
	if more := int64(len(r.objects)-objects) + r.total - r.listed; more > 0 {
		lines = append(lines, m.text(r.rest(more, file), maxLine))
	}
	add("Objects", lines)
	add(partly("Left alone", r.counted, r.total), m.all(r.left))
	return append(sections, m.ending(r)...)
}

// partly is a heading of what is said of only some objects.
func partly(heading string, known, total int64) string {
	if known < total {
		return fmt.Sprintf("%s, of %d of %d objects", heading, known, total)
	}
	return heading
}

// rest says how many objects are not listed, and where they are.
func (r *report) rest(more int64, file bool) string {
	text := "and " + many(more, "more object")
	if more > 1 {
		text = fmt.Sprintf("and %d more objects", more)
	}
	switch {
	case file && r.listed == r.total:
		return text + "; the attached file has all of them"
	case file:
		return text + fmt.Sprintf("; the attached file has %d objects", r.listed)
	case r.listed < r.total:
		return text + fmt.Sprintf("; the record of the run has %d objects", r.listed)
	}
	return text + "; the record of the run has all of them"
}

func (m markup) all(texts []string) []string {
	var lines []string
	for _, text := range texts {
		lines = append(lines, m.text(text, maxLine))
	}
	return lines
}

// brief is what is left of a report when even without objects it is too long.
func (m markup) brief(r *report, file bool) []section {
	cut := "This message was shortened; the record of the run has the rest."
	if file {
		cut = "This message was shortened; the attached file has the rest."
	}
	lines := []string{m.text(cut, maxLine), m.way(r.ways[0])}
	return []section{
		{lines: []string{m.text(r.summary, maxSummary/4)}},
		{lines: append(lines, m.links(r)...)},
	}
}

func (m markup) ending(r *report) []section {
	var facts []string
	ways := m.links(r)
	for _, f := range r.facts {
		facts = append(facts, m.text(f.label+": "+f.value, maxLine))
	}
	for _, way := range r.ways {
		ways = append(ways, m.way(way))
	}
	return []section{{"Run", facts}, {"How to see more", ways}}
}

func (m markup) way(way fact) string {
	return m.text(way.label, maxLine) + ": " + m.code(way.value, maxName)
}

// links lead to the run on the page, if its address is known.
func (m markup) links(r *report) []string {
	address := r.document.Page
	switch {
	case address == "":
		return nil
	case m.link == nil:
		return []string{r.link + ": " + address}
	}
	return []string{m.link(r.link, address)}
}

// join makes one text of sections.
func (m markup) join(sections []section) string {
	var parts []string
	for _, s := range sections {
		parts = append(parts, m.one(s))
	}
	return strings.Join(parts, "\n\n")
}

func (m markup) one(s section) string {
	if s.heading == "" {
		return strings.Join(s.lines, "\n")
	}
	lines := []string{m.bold(s.heading, maxLine)}
	for _, line := range s.lines {
		lines = append(lines, m.bullet+line)
	}
	return strings.Join(lines, "\n")
}

// length is the size of what join makes.
func (m markup) length(sections []section) int { return len(m.join(sections)) }
