// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// messageLimit bounds each message in bytes.
const messageLimit = 1024

// clean makes a script's text fit for status, logs and chat: valid UTF-8, white space other than blanks turned into
// blanks, other control characters gone, at most 1 KiB, cut between characters.
func clean(text string) string { return cut(text, messageLimit) }

func cut(text string, limit int) string {
	// A script can build a text of many megabytes: what can never be shown is not walked.
	if len(text) > 4*limit {
		text = text[:4*limit]
	}
	text = strings.Map(printable, strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) <= limit {
		return text
	}
	for !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

func printable(r rune) rune {
	switch {
	case r == '\n' || r == '\r' || r == '\t':
		return ' '
	case unicode.IsControl(r):
		return -1
	}
	return r
}
