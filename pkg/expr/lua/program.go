// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"errors"
	"fmt"
	"strings"

	gopher "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

const (
	// MaxSource is the length of the longest script in bytes. The largest published one is a tenth of that.
	MaxSource = 64 << 10
	// chunkName stands before the line in the interpreter's messages; see scriptError.
	chunkName = "script"
)

// Program is a compiled script. It is immutable: any number of Sessions may share it.
type Program struct {
	proto *gopher.FunctionProto
}

// Compile parses and compiles a script. Errors are *SyntaxError, except that a script over MaxSource is refused unread.
// Nothing else is checked: which functions a script must define is known only when it is called.
func Compile(source string) (*Program, error) {
	if len(source) > MaxSource {
		return nil, fmt.Errorf(
			"the script is %d bytes long, the limit is %d: remove what it does not need",
			len(source),
			MaxSource,
		)
	}
	var proto *gopher.FunctionProto
	err := caught("the compiler", func() error {
		statements, err := parseNested(source)
		if err == nil {
			proto, err = gopher.Compile(statements, chunkName)
		}
		if err != nil {
			return syntaxError(source, err)
		}
		return nil
	})
	if panicked := (*ScriptError)(nil); errors.As(err, &panicked) {
		err = faultAt(source, 1, 0, panicked.Error())
	}
	if err != nil {
		return nil, err
	}
	// A chunk takes arguments, and for those the interpreter makes a table on every call, which no name reaches.
	proto.IsVarArg &^= gopher.VarArgNeedsArg
	return &Program{proto: proto}, nil
}

// parseNested parses a script, and refuses one that is nested too deep for the compiler.
func parseNested(source string) ([]ast.Stmt, error) {
	statements, err := parse.Parse(strings.NewReader(source), chunkName)
	if err != nil {
		return nil, err
	}
	return statements, checkNesting(statements)
}

// caught returns the error of do. The parser, the compiler and the interpreter panic with what they did not foresee: a
// script is the cause, so that is an error of the script.
func caught(who string, do func() error) (err error) {
	defer func() {
		if recovered := recover(); recovered != nil { //nolint:forbidigo // the script's error, not ours
			err = faultf("%s failed: %v", who, recovered)
		}
	}()
	return do()
}

// SyntaxError says why a script does not compile, and where.
type SyntaxError struct {
	// Line and Column count from 1. Where the compiler knows no column, it is that of the line's first character.
	Line, Column int
	// Text is that line of the script.
	Text string
	Msg  string
}

// Error gives "line 3, column 8: syntax error near 'x': <text>".
func (e *SyntaxError) Error() string {
	message := fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
	if e.Text == "" {
		return message
	}
	return message + ": " + e.Text
}

func syntaxError(source string, err error) *SyntaxError {
	var (
		parseError   *parse.Error
		compileError *gopher.CompileError
		nestingError *nestingError
	)
	switch {
	case errors.As(err, &parseError):
		return parseFault(source, parseError)
	case errors.As(err, &compileError):
		message := compileError.Message
		if strings.HasPrefix(message, "register overflow") {
			message = "needs too many values at once; split long chains of .. and long lists of arguments"
		}
		return faultAt(source, compileError.Line, 0, message)
	case errors.As(err, &nestingError):
		return faultAt(source, nestingError.line, 0, nestingError.Error())
	}
	return faultAt(source, 1, 0, err.Error())
}

func parseFault(source string, err *parse.Error) *SyntaxError {
	if err.Pos.Line == parse.EOF {
		last := strings.TrimRight(source, " \t\r\n")
		line := strings.Count(last, "\n") + 1
		message := err.Message + " near the end of the script" + misspelled(source, last, "")
		return faultAt(source, line, len(last)-strings.LastIndex(last, "\n"), message)
	}
	column := err.Pos.Column
	text := lineOf(source, err.Pos.Line)
	// The parser reports where the token ends. A quoted token is shorter than its text: then that place has to do.
	if start := column - len(err.Token); start >= 0 && strings.HasPrefix(text[min(start, len(text)):], err.Token) {
		column = start + 1
	}
	lines := strings.Split(source, "\n") // the parser counts a lone \r as the end of a line, too
	above := strings.Join(lines[:min(len(lines), err.Pos.Line-1)], "\n")
	before := above + "\n" + text[:max(0, min(column-1, len(text)))]
	message := fmt.Sprintf("%s near '%s'", err.Message, err.Token) + misspelled(source, before, err.Token)
	return faultAt(source, err.Pos.Line, column, message)
}

func faultAt(source string, line, column int, message string) *SyntaxError {
	line = max(1, min(line, strings.Count(source, "\n")+1))
	text := lineOf(source, line)
	if column < 1 {
		column = len(text) - len(strings.TrimLeft(text, " \t")) + 1
	}
	return &SyntaxError{Line: line, Column: column, Text: cut(strings.TrimSpace(text), textLimit), Msg: clean(message)}
}

// textLimit bounds the quoted line of a SyntaxError in bytes.
const textLimit = 200

func lineOf(source string, line int) string {
	lines := strings.Split(source, "\n")
	return strings.TrimSuffix(lines[max(1, min(line, len(lines)))-1], "\r")
}
