// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// OrList is "a, b or c".
func OrList(words []string) string { return enumerated(words, " or ") }

// AndList is "a, b and c".
func AndList(words []string) string { return enumerated(words, " and ") }

func enumerated(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + last + words[len(words)-1]
}

// Kinds is "1 Pod", "12 Pods", "2 Ingresses" or "3 NetworkPolicies".
func Kinds(n int64, kind string) string {
	before, isY := strings.CutSuffix(kind, "y")
	switch {
	case n == 1:
		return "1 " + kind
	case isY && before != "" && !strings.ContainsAny(before[len(before)-1:], "aeou"):
		return Thousands(n) + " " + before + "ies"
	case strings.HasSuffix(kind, "Endpoints"), strings.HasSuffix(kind, "Metrics"): // they are plurals
		return Thousands(n) + " " + kind
	case strings.HasSuffix(kind, "s"), strings.HasSuffix(kind, "x"), strings.HasSuffix(kind, "ch"):
		return Thousands(n) + " " + kind + "es"
	}
	return Thousands(n) + " " + kind + "s"
}

// Quoted is a text in quotes.
func Quoted(text string) string { return strconv.Quote(text) }

// Counted is "1 file" or "2 files".
func Counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %s", n, severalOf(word))
}

// severalOf is the plural of a word or of a kind: objects, patches, copies, Ingresses, NetworkPolicies.
func severalOf(word string) string {
	hasEnd := func(ends ...string) bool {
		return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(word, end) })
	}
	switch {
	case hasEnd("Endpoints"):
		return word
	case hasEnd("s", "x", "ch", "sh"):
		return word + "es"
	case hasEnd("y") && !hasEnd("ay", "ey", "oy"):
		return strings.TrimSuffix(word, "y") + "ies"
	}
	return word + "s"
}

// Plural is one or many, as n is.
func Plural(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// ShellWord is a word that a shell takes as it is.
func ShellWord(text string) string {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:", r)
	}) {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}

// MaxNames is how many kinds or objects are named in one line before "and 12 more".
const MaxNames = 10

// Shortened is "a, b and 3 more".
func Shortened(words []string, most int) string {
	if len(words) <= most+1 {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
}

// WithArticle is "a Pod" or "an Ingress".
func WithArticle(kind string) string {
	if strings.ContainsAny(kind[:min(1, len(kind))], "AEIO") {
		return "an " + kind
	}
	return "a " + kind
}

// MatchWords is "1 matches" or "2 match".
func MatchWords(n int64) string {
	if n == 1 {
		return "1 matches"
	}
	return Thousands(n) + " match"
}

// Short1000 writes 4123 as 4.1k.
func Short1000(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 100_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%dk", n/1000)
}

// Grouped is "1 object" or "41,500 objects".
func Grouped(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return Thousands(n) + " " + severalOf(word)
}

// Thousands writes 41500 as 41,500.
func Thousands(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Because is why something becomes of an object, and the reason for which it matched, as far as they are known. A
// finding that is Unknown begins with the same text for both.
func Because(reason, match string) string {
	if reason != "" && match != "" && !strings.HasPrefix(reason, match) {
		return reason + " (it matches: " + match + ")"
	}
	return cmp.Or(reason, match)
}

// Compact leaves out what is empty.
func Compact(words []string) []string {
	return slices.DeleteFunc(words, func(word string) bool { return word == "" })
}
