// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// Failure is an error with the code to exit with, the stable code of its message, and the way out.
type Failure struct {
	Exit int
	Code codes.Code
	Err  error // nil when all was said already
	Hint string
}

func (f *Failure) Error() string {
	if f.Err == nil {
		return fmt.Sprintf("exit %d", f.Exit)
	}
	return f.Err.Error()
}

func (f *Failure) Unwrap() error { return f.Err }

// Fail is an error that ends a command.
func Fail(code codes.Code, err error, hint string) error {
	return &Failure{Exit: codes.ExitError, Code: code, Err: err, Hint: hint}
}

// Quit ends a command that has said everything already.
func Quit(exit int) error { return &Failure{Exit: exit} }

// UsageError says that a command was called wrongly.
func UsageError(cmd *cobra.Command, message string) error {
	path := cmd.CommandPath()
	return &Failure{
		Exit: codes.ExitUsage,
		Code: codes.UsageWrong,
		Err:  fmt.Errorf("%s: %s", path, message),
		Hint: "run: " + path + " --help",
	}
}

// Conclude prints the error, if there is one, and returns the code to exit with.
func (s *Session) Conclude(ctx context.Context, err error) int {
	if err == nil {
		return codes.ExitDone
	}
	paint := s.Paint(s.ErrOut)
	if ctx.Err() != nil {
		fmt.Fprintf(s.ErrOut, "%s interrupted\n", paint.Red("error:"))
		return codes.ExitInterrupted
	}
	var f *Failure
	if !errors.As(err, &f) {
		f = &Failure{Exit: codes.ExitError, Err: err}
	}
	if f.Err == nil {
		return f.Exit
	}
	fmt.Fprintf(s.ErrOut, "%s %s", paint.Red("error:"), strings.ReplaceAll(err.Error(), "\n", "\n  "))
	if f.Hint != "" {
		fmt.Fprintf(s.ErrOut, "\n%s %s", paint.Bold("hint:"), f.Hint)
	}
	if f.Code != "" {
		fmt.Fprintf(s.ErrOut, "   [%s]", f.Code)
	}
	fmt.Fprintln(s.ErrOut)
	return f.Exit
}

// Note prints something on the side.
func (s *Session) Note(format string, args ...any) {
	fmt.Fprintf(s.ErrOut, "note: "+format+"\n", args...)
}

// OrStopped is why the command itself came to an end, which is --timeout, or else the error.
func OrStopped(ctx context.Context, err error) error {
	var f *Failure
	if errors.As(context.Cause(ctx), &f) {
		return f
	}
	return err
}

// OrInterrupted is why the command itself came to an end, or else the error.
func OrInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Unjoined are the errors that errors.Join joined.
func Unjoined(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok { // only what was joined at the top
		return joined.Unwrap()
	}
	return []error{err}
}
