// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// condition is a CEL expression that holds for the objects that a value of --exclude does not leave out.
func (p pattern) condition() string {
	var left []string
	for _, part := range []struct{ field, glob string }{{"namespace", p.namespace}, {"name", p.name}} {
		switch field := "object.metadata." + part.field; {
		case part.glob == "":
		case isGlob(part.glob):
			left = append(left, field+".matches("+celText("^"+regexpOf(part.glob)+"$")+")")
		default:
			left = append(left, field+" == "+celText(part.glob))
		}
	}
	if len(left) == 0 { // the pattern leaves out the whole kind
		return "false"
	}
	return "!(" + strings.Join(left, " && ") + ")"
}

// labelCondition is a requirement of --selector as a CEL expression: the label has one of several values, or is a
// number above or below one.
func labelCondition(r labels.Requirement) string {
	values := slices.Sorted(maps.Keys(r.Values()))
	for i := range values {
		values[i] = celText(values[i])
	}
	key := celText(r.Key())
	value := "object.metadata.labels[" + key + "]"
	has := "has(object.metadata.labels) && " + key + " in object.metadata.labels && "
	switch r.Operator() {
	case selection.GreaterThan, selection.LessThan:
		sign := map[selection.Operator]string{selection.GreaterThan: ">", selection.LessThan: "<"}[r.Operator()]
		return fmt.Sprintf("%s%s.matches('^-?[0-9]{1,18}$') && int(%s) %s int(%s)", has, value, value, sign, values[0])
	}
	return has + value + " in [" + strings.Join(values, ", ") + "]"
}

// celText is a text as CEL has it.
func celText(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`).Replace(text) + "'"
}

// regexpOf is a regular expression that matches what a glob of path.Match does.
func regexpOf(glob string) string {
	outside := map[rune]string{'-': "-", '*': "[^/]*", '?': "[^/]", '[': "["}
	inside := map[rune]string{'-': "-", '^': "^", ']': "]"}
	var b strings.Builder
	escaped, special := false, outside
	for _, r := range glob {
		text, isSpecial := special[r]
		switch {
		case !escaped && r == '\\':
			escaped = true
			continue
		case escaped || !isSpecial:
			b.WriteString(literal(r))
		case r == '[':
			special = inside
			b.WriteString(text)
		default:
			if r == ']' {
				special = outside
			}
			b.WriteString(text)
		}
		escaped = false
	}
	return b.String()
}

// literal is a character as a regular expression has it, also in a class.
func literal(r rune) string {
	if r == '^' || r == '-' {
		return `\` + string(r)
	}
	return regexp.QuoteMeta(string(r))
}
