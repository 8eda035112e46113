// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"io"

	"golang.org/x/term"
)

// Paint colours words, or leaves them as they are. Colour is never the only signal. It is the mark of a terminal, or
// empty.
type Paint string

// Paint decides for one stream: the flag first, then NO_COLOR and CLICOLOR_FORCE, then whether it is a terminal.
func (s *Session) Paint(w io.Writer) Paint {
	t, ok := w.(*output)
	if !ok {
		return ""
	}
	switch force := s.Getenv("CLICOLOR_FORCE"); {
	case s.Color == "always":
		return Paint(t.mark)
	case s.Color == "never" || s.Getenv("NO_COLOR") != "":
		return ""
	case force != "" && force != "0":
		return Paint(t.mark)
	}
	if file, ok := fileOf(t); ok && term.IsTerminal(int(file.Fd())) && s.Getenv("TERM") != "dumb" {
		return Paint(t.mark)
	}
	return ""
}

func (p Paint) in(code, text string) string {
	if p == "" {
		return text
	}
	return string(p) + code + "m" + text + string(p) + "0m"
}

// Red is the text in red.
func (p Paint) Red(text string) string { return p.in("31", text) }

// Green is the text in green.
func (p Paint) Green(text string) string { return p.in("32", text) }

// Yellow is the text in yellow.
func (p Paint) Yellow(text string) string { return p.in("33", text) }

// Bold is the text in bold.
func (p Paint) Bold(text string) string { return p.in("1", text) }
