// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// paint colours words, or leaves them as they are. Colour is never the only signal. It is the mark of a terminal, or empty.
type paint string

// paint decides for one stream: the flag first, then NO_COLOR and CLICOLOR_FORCE, then whether it is a terminal.
func (s *shared) paint(w io.Writer) paint {
	t, ok := w.(*terminal)
	if !ok {
		return ""
	}
	switch force := s.Getenv("CLICOLOR_FORCE"); {
	case s.color == "always":
		return paint(t.mark)
	case s.color == "never" || s.Getenv("NO_COLOR") != "":
		return ""
	case force != "" && force != "0":
		return paint(t.mark)
	}
	if file, ok := fileOf(t); ok && term.IsTerminal(int(file.Fd())) && s.Getenv("TERM") != "dumb" {
		return paint(t.mark)
	}
	return ""
}

func (p paint) in(code, text string) string {
	if p == "" {
		return text
	}
	return string(p) + code + "m" + text + string(p) + "0m"
}

func (p paint) red(text string) string    { return p.in("31", text) }
func (p paint) green(text string) string  { return p.in("32", text) }
func (p paint) yellow(text string) string { return p.in("33", text) }
func (p paint) bold(text string) string   { return p.in("1", text) }

// choice is a flag with a few allowed values.
type choice struct {
	value   *string
	allowed []string
}

// newChoice returns the flag; the first value is the default.
func newChoice(value *string, allowed ...string) *choice {
	*value = allowed[0]
	return &choice{value, allowed}
}

// String implements pflag.Value.
func (c *choice) String() string { return *c.value }

// Type implements pflag.Value.
func (c *choice) Type() string { return strings.Join(c.allowed, "|") }

// Set implements pflag.Value.
func (c *choice) Set(text string) error {
	if !slices.Contains(c.allowed, text) {
		return fmt.Errorf("write %s", orList(c.allowed))
	}
	*c.value = text
	return nil
}

// orList is "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func quoted(text string) string { return strconv.Quote(text) }

// counted is "1 file" or "2 files".
func counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
