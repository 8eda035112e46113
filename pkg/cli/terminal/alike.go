// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// manyAlike is from how many items on those of the same key are one row.
const manyAlike = 11

// Alike makes one row of many items of the same key, where the first of them stands. A few keep a row each.
func Alike[T any, K comparable](items []T, keyOf func(T) K) [][]T {
	all := map[K][]T{}
	for _, item := range items {
		key := keyOf(item)
		all[key] = append(all[key], item)
	}
	var rows [][]T
	done := map[K]bool{}
	for _, item := range items {
		switch key := keyOf(item); {
		case len(all[key]) < manyAlike:
			rows = append(rows, []T{item})
		case !done[key]:
			done[key] = true
			rows = append(rows, all[key])
		}
	}
	return rows
}

// Alone makes each item a row.
func Alone[T any](items []T) [][]T {
	rows := make([][]T, 0, len(items))
	for _, item := range items {
		rows = append(rows, []T{item})
	}
	return rows
}

// WithoutName writes NAME for the object's own name where that stands as a whole word, so that reasons that differ only
// in it are the same.
func WithoutName(text, name string) string {
	if name == "" || !strings.Contains(text, name) {
		return text
	}
	var without strings.Builder
	for rest := text; ; {
		before, after, found := strings.Cut(rest, name)
		without.WriteString(before)
		if !found {
			return without.String()
		}
		if endsInName(text[:len(text)-len(rest)+len(before)]) || beginsInName(after) {
			without.WriteString(name)
		} else {
			without.WriteString("NAME")
		}
		rest = after
	}
}

// endsInName reports whether the text ends in the middle of a name. A dot is part of a name only between others of it.
func endsInName(text string) bool {
	r, size := utf8.DecodeLastRuneInString(text)
	if r == '.' {
		r, _ = utf8.DecodeLastRuneInString(text[:len(text)-size])
	}
	return isOfName(r)
}

// beginsInName reports whether the text begins in the middle of a name.
func beginsInName(text string) bool {
	r, size := utf8.DecodeRuneInString(text)
	if r == '.' {
		r, _ = utf8.DecodeRuneInString(text[size:])
	}
	return isOfName(r)
}

func isOfName(r rune) bool {
	return r != utf8.RuneError && (r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}
