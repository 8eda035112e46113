// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "testing"

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"a line\n\tand another":      "a line\n\tand another",
		"Größe 10 µm, 漢字 👩‍🚀":        "Größe 10 µm, 漢字 👩‍🚀",
		"\x1b]0;title\x07\x1b[2J":    " ]0;title  [2J",
		"\u009b2J\u0085":             " 2J ",
		"gpj\u202e.exe\u2066a\u200f": "gpj.exea",
		"a\u2028b\u2029c\r":          "a b c ",
		"not UTF-8: \xff\x9b":        "not UTF-8: \ufffd\ufffd",
	} {
		if got := Printable(text); got != want {
			t.Errorf("of %q: %q, want %q", text, got, want)
		}
		if got := Truncate(text, 100); got != want {
			t.Errorf("of %q, cut: %q, want %q", text, got, want)
		}
	}
	if got := Truncate("größer\x1b", 7); got != "grö…" {
		t.Errorf("cut: %q", got)
	}
}
