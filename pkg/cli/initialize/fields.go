// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package initialize

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	yamlnode "go.yaml.in/yaml/v3"

	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

var (
	timeFlag  = regexp.MustCompile(`^([1-9][0-9]*)([smhdw])$`)
	durations = regexp.MustCompile(`duration\('([^']*)'\)`)
)

// parseTime reads a time such as 36h or 14d.
func parseTime(text string) (time.Duration, error) {
	units := map[string]time.Duration{
		"s": time.Second,
		"m": time.Minute,
		"h": time.Hour,
		"d": 24 * time.Hour,
		"w": 7 * 24 * time.Hour,
	}
	if match := timeFlag.FindStringSubmatch(text); match != nil {
		n, err := strconv.ParseInt(match[1], 10, 64)
		if unit := units[match[2]]; err == nil && n <= int64(100*365*24*time.Hour/unit) { // as long as the API allows
			return time.Duration(n) * unit, nil
		}
	}
	const wants = "write a number and one of s, m, h, d and w, for example 36h or 14d, at most 36500d"
	return 0, fmt.Errorf("--for %s cannot be read; %s", terminal.Quoted(text), wants)
}

// short is a duration as CEL reads it.
func short(long time.Duration) string {
	switch {
	case long%time.Hour == 0:
		return fmt.Sprintf("%dh", long/time.Hour)
	case long%time.Minute == 0:
		return fmt.Sprintf("%dm", long/time.Minute)
	}
	return fmt.Sprintf("%ds", long/time.Second)
}

// timesOf are the times of the selectors, each nil where there is none, or there are several. Where no selector has
// one, those with findings get one.
func timesOf(selectors []*yamlnode.Node) []*yamlnode.Node {
	times, found := make([]*yamlnode.Node, len(selectors)), false
	for i, selector := range selectors {
		times[i] = timeOf(selector)
		found = found || times[i] != nil
	}
	for i, selector := range selectors {
		if !found && isTimeless(selector) {
			times[i] = newTime(selector)
		}
	}
	return times
}

// timeOf is the time of a selector: for how long its finding must have been there; or else the one duration in its
// conditions; or else its age.
func timeOf(selector *yamlnode.Node) *yamlnode.Node {
	_, finding := manifest.Child(selector, "finding")
	if _, value := manifest.Child(finding, "forSeconds"); value != nil {
		return value
	}
	switch expressions, different := durationsIn(selector); {
	case len(expressions) > 1 || different > 1:
		return nil
	case len(expressions) == 1:
		return expressions[0]
	}
	_, age := manifest.Child(selector, "minAgeSeconds")
	return age
}

// timesIn are the times that a number of seconds or a condition has.
func timesIn(value *yamlnode.Node) (times []time.Duration) {
	text := textOf(value)
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		times = append(times, time.Duration(seconds)*time.Second)
	}
	for _, match := range durations.FindAllStringSubmatch(text, -1) {
		if long, err := time.ParseDuration(match[1]); err == nil {
			times = append(times, long)
		}
	}
	return times
}

// sameAge is the age of a selector, if it is the time that --for changes in another field. For example, a Pod without a
// condition that says since when it waits is judged by its age.
func sameAge(selector, value *yamlnode.Node) *yamlnode.Node {
	_, age := manifest.Child(selector, "minAgeSeconds")
	for _, old := range timesIn(age) {
		if age != value && slices.Contains(timesIn(value), old) {
			return age
		}
	}
	return nil
}

// durationsIn are the conditions of a selector that have durations, and how many different ones there are.
func durationsIn(selector *yamlnode.Node) (expressions []*yamlnode.Node, different int) {
	_, conditions := manifest.Child(selector, "matchConditions")
	if conditions == nil {
		return nil, 0
	}
	found := map[string]bool{}
	for _, condition := range conditions.Content {
		_, expression := manifest.Child(condition, "expression")
		matches := durations.FindAllStringSubmatch(textOf(expression), -1)
		if len(matches) > 0 {
			expressions = append(expressions, expression)
		}
		for _, match := range matches {
			found[match[1]] = true
		}
	}
	return expressions, len(found)
}

// isTimeless reports whether a selector has a finding, and no time at all.
func isTimeless(selector *yamlnode.Node) bool {
	_, finding := manifest.Child(selector, "finding")
	expressions, _ := durationsIn(selector)
	return finding != nil && len(expressions) == 0 && timeOf(selector) == nil
}

// newTime gives the finding of a selector a time.
func newTime(selector *yamlnode.Node) *yamlnode.Node {
	_, finding := manifest.Child(selector, "finding")
	value := &yamlnode.Node{Kind: yamlnode.ScalarNode, Tag: "!!int", Value: "0"}
	finding.Content = append(
		finding.Content,
		&yamlnode.Node{Kind: yamlnode.ScalarNode, Tag: "!!str", Value: "forSeconds"},
		value,
	)
	return value
}

func textOf(node *yamlnode.Node) string {
	if node == nil {
		return ""
	}
	return node.Value
}

// setText writes a text into a field. A new one stands after kind, where a reader looks for it. What a comment said of
// the old one is gone.
func setText(fields *yamlnode.Node, name, value string) *yamlnode.Node {
	text := &yamlnode.Node{}
	text.SetString(value)
	if _, old := manifest.Child(fields, name); old != nil {
		old.Value, old.Tag, old.LineComment = value, text.Tag, ""
		return old
	}
	at := len(fields.Content)
	for i := 0; i+1 < len(fields.Content); i += 2 {
		if fields.Content[i].Value == "kind" {
			at = i + 2
		}
	}
	key := &yamlnode.Node{}
	key.SetString(name)
	fields.Content = append(fields.Content[:at:at], append([]*yamlnode.Node{key, text}, fields.Content[at:]...)...)
	return text
}

// remove takes a field out.
func remove(fields *yamlnode.Node, name string) {
	for i := 0; i+1 < len(fields.Content); i += 2 {
		if fields.Content[i].Value == name {
			fields.Content = append(fields.Content[:i:i], fields.Content[i+2:]...)
			return
		}
	}
}
