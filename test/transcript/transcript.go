// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package transcript reads what a page of the documentation says that a user types and sees, and compares it with what
// happens.
package transcript

import (
	"regexp"
	"strings"
)

// Step is one code block of a page.
type Step struct {
	// Line is where the block begins in the page, from 1.
	Line int
	// Prose is the text between the block before it and this one.
	Prose string
	// Language is the word behind the fence, or "".
	Language string
	// Text is the block without its fences and its indentation.
	Text string
}

// Command is one command that a user types.
type Command struct {
	// Text is the command as the shell gets it.
	Text string
	// Answers is what the user types when the command asks.
	Answers string
	// Output is what the page shows of the command's output. Nil means that the page shows nothing of it. A line "..."
	// stands for any lines.
	Output []string
}

var fence = regexp.MustCompile("(?ms)^( *)```([a-z]*)\n(.*?)^ *```$")

// Parse returns the code blocks of a page in their order.
func Parse(page string) []Step {
	var steps []Step
	end := 0
	for _, at := range fence.FindAllStringSubmatchIndex(page, -1) {
		indent := regexp.MustCompile(`(?m)^` + page[at[2]:at[3]])
		steps = append(steps, Step{
			Line: 1 + strings.Count(page[:at[0]], "\n"), Prose: page[end:at[0]], Language: page[at[4]:at[5]],
			Text: indent.ReplaceAllString(page[at[6]:at[7]], ""),
		})
		end = at[1]
	}
	return steps
}

// Commands returns the commands of a block: each line of a block in "sh", each line behind "$ " of a block in
// "console".
func (s Step) Commands() []Command {
	var commands []Command
	for line := range strings.Lines(s.Text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case s.Language == "sh" && strings.TrimSpace(line) != "":
			commands = append(commands, Command{Text: line})
		case s.Language != "console":
		case strings.HasPrefix(line, "$ "):
			commands = append(commands, Command{Text: strings.TrimPrefix(line, "$ ")})
		case len(commands) > 0 && line != "":
			commands[len(commands)-1].show(line)
		}
	}
	return commands
}

var question = regexp.MustCompile(`^(.*\[y/N\] )(\w*)$`)

// show adds a line to the output. What the user typed behind a question is an answer; the terminal shows it, the
// command does not print it.
func (c *Command) show(line string) {
	if parts := question.FindStringSubmatch(line); parts != nil {
		c.Answers += parts[2] + "\n"
		line = parts[1]
	}
	c.Output = append(c.Output, line)
}

// varying are the parts of an output that differ each time, and what stands for each.
var varying = []struct {
	form *regexp.Regexp
	sign string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "TIME"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`-\d{10}\b`), "-SECOND"},
	// The alphabet of generated names has no vowels, so no word looks like one.
	{regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{8,10}\b(-[bcdfghjklmnpqrstvwxz2456789]{5}\b)?`), "-HASH"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(ms|s|m|h|d))+\b`), "DURATION"},
	// How many kinds there are depends on the cluster.
	{regexp.MustCompile(`\b\d+ objects of \d+ kinds`), "N objects of N kinds"},
	{regexp.MustCompile(`\b\d+ kinds`), "N kinds"},
	{regexp.MustCompile(`\s+`), " "}, // widths of columns
}

// Same reports whether a line of a page and one of an output differ only in what differs each time. A line of the page
// that ends with "..." shows only the beginning.
func Same(shown, printed string) bool {
	if beginning, cut := strings.CutSuffix(shown, " ..."); cut {
		return strings.HasPrefix(settle(printed), settle(beginning))
	}
	return settle(shown) == settle(printed)
}

func settle(line string) string {
	for _, v := range varying {
		line = v.form.ReplaceAllString(line, v.sign)
	}
	return strings.TrimSpace(line)
}

// Match pairs each line that a page shows with the line of the output that it stands for. It returns the first line
// that has none, or "".
func Match(shown []string, output string) (pairs [][2]string, missing string) {
	printed := linesOf(output)
	skip := false
	for _, line := range shown {
		if line == "..." {
			skip = true
			continue
		}
		for skip && len(printed) > 0 && !Same(line, printed[0]) {
			printed = printed[1:]
		}
		if len(printed) == 0 || !Same(line, printed[0]) {
			return pairs, line
		}
		pairs, printed, skip = append(pairs, [2]string{line, printed[0]}), printed[1:], false
	}
	if len(printed) > 0 && len(shown) > 0 && !skip {
		return pairs, "the end, but there is: " + printed[0]
	}
	return pairs, ""
}

// linesOf are the lines of an output that are not empty. On a terminal, the answer ends the line of a question.
func linesOf(output string) (lines []string) {
	for line := range strings.Lines(strings.ReplaceAll(output, "[y/N] ", "[y/N]\n")) {
		if line = strings.TrimRight(line, " \r\n"); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

var runName = regexp.MustCompile(`[a-z0-9-]+-\d{10}\b`)

// Names remembers which run of this time stands for which run of the page.
type Names map[string]string

// Learn takes the names of runs from pairs of lines.
func (n Names) Learn(pairs [][2]string) {
	for _, pair := range pairs {
		shown, printed := runName.FindAllString(pair[0], -1), runName.FindAllString(pair[1], -1)
		for i := range min(len(shown), len(printed)) {
			n[shown[i]] = printed[i]
		}
	}
}

// Put replaces the names of the page's runs in a command.
func (n Names) Put(command string) string {
	return runName.ReplaceAllStringFunc(command, func(shown string) string {
		if name, known := n[shown]; known {
			return name
		}
		return shown
	})
}
