// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// objectWords are what people call the object who write conditions elsewhere.
var objectWords = []string{"obj", "self", "oldObject", "resource", "item", "this", "pod", "o"}

var (
	undeclaredName = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	calledNow      = regexp.MustCompile(`\bnow\s*\(`)
	durationText   = regexp.MustCompile(`duration\(\s*["']([^"']*)["']\s*\)`)
	wordOperator   = regexp.MustCompile(`(?i)(?:mismatched|extraneous) input '(and|or|not)'`)
	wrongOperands  = regexp.MustCompile(`no matching overload for '_(\S+)_' applied to '\((\w+), (\w+)\)'`)
	fieldOfObject  = regexp.MustCompile(`\bobject(?:\.\w+)+`)
	longSpan       = regexp.MustCompile(`^([0-9]+)\s*(s|m|h|d|w|y)[a-z]*$`)
)

// functionNames are what functions of CEL are called elsewhere, in lower case.
var functionNames = map[string]string{
	"startswith": "startsWith", "hasprefix": "startsWith", "endswith": "endsWith", "hassuffix": "endsWith",
	"len": "size", "length": "size", "tolower": "lowerAscii", "lower": "lowerAscii", "match": "matches",
}

// nameHint is the way out of a name that there is not.
func nameHint(name, expression string) string {
	known := []string{"object", "now", "duration", "timestamp", "events", "logs", "metrics", "finding"}
	near := suggest.Nearest(name, known)
	switch function := functionNames[strings.ToLower(name)]; {
	case name == "now" && calledNow.MatchString(expression):
		return "now is a value: write now, without ()"
	case strings.EqualFold(name, "age"):
		return "an age is now - timestamp(object.metadata.creationTimestamp), for example > duration('24h')"
	case slices.Contains(objectWords, name):
		return "the object is called object"
	case function != "":
		return "did you mean " + function + "?"
	case near != "" && near != name:
		return "did you mean " + near + "?"
	}
	return ""
}

// conditionHint is the way out of a mistake that people make often, and whose message is that of a compiler.
func conditionHint(message, expression string) string {
	if found := undeclaredName.FindStringSubmatch(message); found != nil {
		return nameHint(found[1], expression)
	}
	if hint := operatorHint(message, expression); hint != "" {
		return hint
	}
	switch {
	case strings.Contains(message, "invalid duration"):
		for _, found := range durationText.FindAllStringSubmatch(expression, -1) {
			if seconds, ok := spanSeconds(found[1]); ok && regexp.MustCompile(`[dwy]`).MatchString(found[1]) {
				return fmt.Sprintf("durations have the units h, m and s: write duration('%dh')", seconds/3600)
			}
		}
		return "durations have the units h, m and s, for example duration('720h') for 30 days"
	case strings.Contains(message, "token recognition error at: '= '"),
		strings.Contains(message, "token recognition error at: '='"):
		return "to compare, write == instead of ="
	}
	return ""
}

// operatorHint is the way out of an operator that there is not, or not for the types of its two sides.
func operatorHint(message, expression string) string {
	if found := wordOperator.FindStringSubmatch(message); found != nil {
		return "write " + map[string]string{"and": "&&", "or": "||", "not": "!"}[strings.ToLower(found[1])] + " for " +
			found[1]
	}
	if found := wrongOperands.FindStringSubmatch(message); found != nil {
		return timeHint(found[1], found[2], found[3], expression)
	}
	return ""
}

// timeHint is the way out of an operator that cannot take the types of its two sides, if one of them is a time or a
// span. It is empty for others.
func timeHint(operator, left, right, expression string) string {
	const span = "write a span of time as a duration, for example duration('24h')"
	text := "times in objects are texts: write timestamp(" + onlyField(expression) + ")"
	switch left, right = min(left, right), max(left, right); left + " " + right {
	case "string timestamp":
		return text
	case "duration string":
		if operator == "+" || operator == "-" {
			return text
		}
		return span
	case "duration int", "double duration", "int timestamp", "double timestamp":
		return span
	}
	return ""
}

// onlyField is the field of the object that an expression reads, or an example if it reads several.
func onlyField(expression string) string {
	fields := fieldOfObject.FindAllString(expression, -1)
	slices.Sort(fields)
	if fields = slices.Compact(fields); len(fields) == 1 {
		return fields[0]
	}
	return "object.x"
}

// spanSeconds reads a time span as people write it: 30s, 15m, 12h, 7d, 2w, 1y.
func spanSeconds(text string) (seconds int64, ok bool) {
	found := longSpan.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if found == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(found[1], 10, 32)
	units := map[string]int64{"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}
	return n * units[found[2]], err == nil
}

// secondsHint is how to write a time span in a field that counts seconds. It is empty when the text is no time span.
func secondsHint(field, text string) string {
	seconds, ok := spanSeconds(text)
	if !ok || !strings.HasSuffix(field, "Seconds") {
		return ""
	}
	return fmt.Sprintf(
		"write %s: %d, which is %s in seconds",
		field[strings.LastIndex(field, ".")+1:],
		seconds,
		strings.TrimSpace(text),
	)
}
