// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"bytes"
	"fmt"
	"os"
	"testing"
)

// hostile is what somebody may write into a name or a message: a window's title, colours, C1 controls, characters that turn the text
// around, a bell, a backspace, a return to the line's beginning and a separator of lines.
const hostile = "evil\x1b]0;title\x07\x1b[2J\x1b[31m\u009b1m\u202egnp\u2066\u200f\b\r\x7f\u2028end"

func TestOutput(t *testing.T) {
	var out bytes.Buffer
	screen, other := newOutputs(&out, nil)
	colour := (&Session{Color: "always", Options: Options{Getenv: os.Getenv}}).Paint
	fmt.Fprintf(screen, "%s\tβ😀\n%s\n", colour(screen).Red(hostile), "\x1b[31m\xff\x9b")
	fmt.Fprint(screen, other.mark+eraseLine+"line")
	want := "\x1b[31m" + `evil\u001b]0;title\u0007\u001b[2J\u001b[31m\u009b1m\u202egnp\u2066\u200f\u0008\u000d\u007f\u2028end` + "\x1b[0m\tβ😀\n" +
		`\u001b[31m\xff\x9b` + "\n\r\x1b[Kline"
	if got := out.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
