// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"context"
	"strconv"
	"strings"

	gopher "github.com/yuin/gopher-lua"
)

// deadline is the context that the interpreter looks at before each instruction. When it has ended the interpreter asks
// for its error, to raise it: that is when the line is known. Later it is lost, because scripts can swallow the
// error.
type deadline struct {
	context.Context

	done  <-chan struct{}
	state *gopher.LState
	line  int
}

// Done is asked before each instruction.
func (d *deadline) Done() <-chan struct{} { return d.done }

// Err is asked on the interpreter's goroutine only.
func (d *deadline) Err() error {
	err := d.Context.Err()
	if err != nil && d.line == 0 {
		// "script:3:"
		_, line, _ := strings.Cut(strings.TrimSuffix(d.state.Where(0), ":"), chunkName+":")
		d.line, _ = strconv.Atoi(line)
	}
	return err
}
