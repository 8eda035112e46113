// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// failure is an error with the code to exit with, the stable code of its message, and the way out.
type failure struct {
	exit int
	code codes.Code
	err  error // nil when all was told already
	hint string
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit %d", f.exit)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// fail is an error that ends a command.
func fail(code codes.Code, err error, hint string) error {
	return &failure{exit: codes.ExitError, code: code, err: err, hint: hint}
}

// quit ends a command that has told everything already.
func quit(exit int) error { return &failure{exit: exit} }

// usageError says that a command was called wrongly.
func usageError(cmd *cobra.Command, message string) error {
	path := cmd.CommandPath()
	return &failure{exit: codes.ExitUsage, code: codes.UsageWrong, err: fmt.Errorf("%s: %s", path, message), hint: "run: " + path + " --help"}
}

// conclude tells the error, if there is one, and returns the code to exit with.
func (s *shared) conclude(ctx context.Context, err error) int {
	if err == nil {
		return codes.ExitDone
	}
	paint := s.paint(s.ErrOut)
	if ctx.Err() != nil {
		fmt.Fprintf(s.ErrOut, "%s interrupted\n", paint.red("error:"))
		return codes.ExitInterrupted
	}
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{exit: codes.ExitError, err: err}
	}
	if f.err == nil {
		return f.exit
	}
	fmt.Fprintf(s.ErrOut, "%s %s", paint.red("error:"), strings.ReplaceAll(err.Error(), "\n", "\n  "))
	if f.hint != "" {
		fmt.Fprintf(s.ErrOut, "\n%s %s", paint.bold("hint:"), f.hint)
	}
	if f.code != "" {
		fmt.Fprintf(s.ErrOut, "   [%s]", f.code)
	}
	fmt.Fprintln(s.ErrOut)
	return f.exit
}

// note tells something on the side.
func (s *shared) note(format string, args ...any) {
	fmt.Fprintf(s.ErrOut, "note: "+format+"\n", args...)
}
