// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// output is what all text goes through on its way out, to the standard output and to the standard error. Names,
// messages and errors come from files and from the cluster: nothing in them may be obeyed by a terminal, or change what
// a reader sees.
type output struct {
	io.Writer
	// mark stands before the commands that are the plugin's own. It is random, so that no other text has it.
	mark string
	// flags are repeated in each command that is written.
	flags string

	mu sync.Mutex
	// err remembers that something could not be written: commands print line by line, and look at no error.
	err error
}

// eraseLine is the command that empties the line. The others are colours: "31m".
const eraseLine = "K"

// newOutputs wraps both outputs. They have the same mark.
func newOutputs(out, errOut io.Writer) (*output, *output) {
	mark := "\x1b" + rand.Text()
	return &output{Writer: out, mark: mark}, &output{Writer: errOut, mark: mark}
}

// Write implements io.Writer. Each call must hold whole characters and whole commands.
func (t *output) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, commands, _ := strings.Cut(repeating(string(p), t.flags), t.mark)
	var safe strings.Builder
	safe.WriteString(Clean(text))
	for part := range strings.SplitSeq(commands, t.mark) {
		switch end := strings.IndexAny(part, "mK") + 1; {
		case strings.HasPrefix(part, eraseLine):
			safe.WriteString("\r\x1b[K" + Clean(part[end:]))
		case end > 0:
			safe.WriteString("\x1b[" + part[:end] + Clean(part[end:]))
		}
	}
	_, err := io.WriteString(t.Writer, safe.String())
	t.err = cmp.Or(t.err, err)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// failed is the first error of writing.
func (t *output) failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// fileOf is the file that an output is.
func fileOf(w io.Writer) (*os.File, bool) {
	if t, ok := w.(*output); ok {
		w = t.Writer
	}
	file, ok := w.(*os.File)
	return file, ok
}

// Clean shows what is unsafe as \u001b. In JSON that is the same text.
func Clean(text string) string { return Escaped(text, `\u%04x`) }

// Escaped writes what is unsafe in a format. Bytes that are no UTF-8 are unsafe too: some terminals obey 0x9b.
func Escaped(text, format string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, isUnsafe) {
		return text
	}
	var safe strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&safe, `\x%02x`, text[0])
		case isUnsafe(r):
			fmt.Fprintf(&safe, format, r)
		default:
			safe.WriteRune(r)
		}
		text = text[size:]
	}
	return safe.String()
}

// isUnsafe holds for what a terminal obeys, and for what changes the order of the characters around it.
func isUnsafe(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// OneLine keeps what others wrote from breaking a table.
func OneLine(text string) string { return Clean(strings.Join(strings.Fields(text), " ")) }
