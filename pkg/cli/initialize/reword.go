// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package initialize

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	yamlnode "go.yaml.in/yaml/v3"

	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

const day = 24 * time.Hour

// inWords is how texts of recipes call a time.
var inWords = map[time.Duration][]string{
	10 * time.Minute: {"10 minutes", "ten minutes"},
	30 * time.Minute: {"30 minutes", "half an hour"},
	time.Hour:        {"an hour"},
	day:              {"a day", "last day", "24 hours"},
	7 * day:          {"a week", "7 days", "seven days"},
	14 * day:         {"two weeks", "14 days"},
	30 * day:         {"a month", "30 days"},
}

// retimed is the recipe with texts that say the time of --for in place of those that the recipe has.
func (c *changes) retimed(r *recipe) *recipe {
	reworded := *r
	for _, text := range []*string{&reworded.Finds, &reworded.AlsoSelects, &reworded.Cleaner} {
		*text = c.reword(*text, times(r))
	}
	reworded.Cleaner = withOldLines(reworded.Cleaner, r.Cleaner)
	return &reworded
}

// besideValue is a line with a value and a comment that is about it: --for may change another value only.
var besideValue = regexp.MustCompile(`^\s*[^\s#].*\s#`)

// withOldLines is a reworded Cleaner with the lines of values that have a comment as they were.
func withOldLines(text, old string) string {
	lines, was := strings.Split(text, "\n"), strings.Split(old, "\n")
	for i := range min(len(lines), len(was)) { // rewording keeps the ends of lines
		if besideValue.MatchString(was[i]) {
			lines[i] = was[i]
		}
	}
	return strings.Join(lines, "\n")
}

// reword says the time of --for where a text says one of the old times, also where that is broken into two lines.
func (c *changes) reword(text string, old []time.Duration) string {
	match := timeFlag.FindStringSubmatch(c.long)
	if match == nil {
		return text
	}
	n, _ := strconv.ParseInt(match[1], 10, 64)
	units := map[string]string{"s": "second", "m": "minute", "h": "hour", "d": "day", "w": "week"}
	becomes := terminal.Grouped(n, units[match[2]])
	for _, was := range old {
		for _, words := range inWords[was] {
			pattern := regexp.MustCompile(`\b` + strings.ReplaceAll(words, " ", `([\s#]+)`) + `\b`)
			text = pattern.ReplaceAllStringFunc(text, func(found string) string {
				return lead(found) + becomes
			})
		}
	}
	return text
}

// lead is what stays of old words before the new ones: the end of a line, and "last".
func lead(found string) string {
	before := ""
	if at := strings.IndexByte(found, '\n'); at >= 0 {
		before = strings.TrimRightFunc(found[at:], func(c rune) bool { return c != ' ' && c != '\n' })
	}
	if strings.HasPrefix(found, "last") {
		return "last " + before
	}
	return before
}

// times are the times of the recipe that --for changes.
func times(r *recipe) (old []time.Duration) {
	var document yamlnode.Node
	if yamlnode.Unmarshal([]byte(r.Cleaner), &document) != nil || len(document.Content) == 0 {
		return nil // apply says what is wrong with it
	}
	at := document.Content[0]
	for _, field := range []string{"spec", "resourcePolicySet", "resourceSelectors"} {
		_, at = manifest.Child(at, field)
	}
	if at == nil {
		return nil
	}
	for _, value := range timesOf(at.Content) {
		old = append(old, timesIn(value)...)
	}
	return old
}

// header is the README as a comment.
func header(r *recipe, flags string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# From the recipe %s.\n", r.Name)
	if flags != "" {
		fmt.Fprintf(&out, "# It was written with %s.\n# If this text says something else, the Cleaner counts.\n", flags)
	}
	for _, section := range [][2]string{
		{"Finds", r.Finds},
		{"May also select", r.AlsoSelects},
		{"Needs", r.Needs},
		{"Let it act", r.Act},
	} {
		out.WriteString("#\n# " + section[0] + ":\n")
		for line := range strings.SplitSeq(section[1], "\n") {
			out.WriteString(strings.TrimRight("#   "+line, " ") + "\n")
		}
	}
	return out.String()
}
