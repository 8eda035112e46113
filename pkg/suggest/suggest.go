// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package suggest finds what somebody probably meant who mistyped a name.
package suggest

import "strings"

// Nearest is the candidate that somebody who wrote text probably meant: the fewest letters away, and no more than can
// be typing mistakes. Empty when none is near.
func Nearest(text string, candidates []string) string {
	best, least := "", 0
	for _, candidate := range candidates {
		d := distance(strings.ToLower(text), strings.ToLower(candidate))
		if candidate != "" && d <= 1+max(len(text), len(candidate))/4 && (best == "" || d < least) {
			best, least = candidate, d
		}
	}
	return best
}

// Misspelt is the kind that a text is in another case, or in the plural. Empty for none.
func Misspelt(text string, kinds []string) string {
	for _, kind := range kinds {
		if strings.EqualFold(text, kind) || strings.EqualFold(text, kind+"s") || strings.EqualFold(text, kind+"es") ||
			strings.EqualFold(text, strings.TrimSuffix(kind, "y")+"ies") {
			return kind
		}
	}
	return ""
}

// distance is how many letters must be put in, taken out, replaced or swapped with the next to turn a into b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(replace, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
