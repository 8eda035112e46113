// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	gopher "github.com/yuin/gopher-lua"
)

// ErrClosed is returned by calls on a closed Session.
var ErrClosed = errors.New("the Lua session is closed")

// ScriptError is a fault of the script: one that it raised, or a result that it may not return.
type ScriptError struct {
	// Line is where the error was raised. It is 0 where no line is known, as for a wrong result.
	Line int
	Msg  string
}

// Error gives "line 3: message", or only the message where no line is known.
func (e *ScriptError) Error() string {
	if e.Line == 0 {
		return e.Msg
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Msg)
}

// TimeoutError says that a script exceeded its time limit.
type TimeoutError struct {
	Function string
	Limit    time.Duration
	// Line is where the script was. It is 0 where no line is known.
	Line int
}

// Error names the limit, the line and the way out.
func (e *TimeoutError) Error() string {
	place := ""
	if e.Line > 0 {
		place = fmt.Sprintf(" and was stopped in line %d", e.Line)
	}
	return fmt.Sprintf(
		"%s took longer than %s%s: look for an endless loop, or do less work in the script",
		e.Function,
		e.Limit,
		place,
	)
}

func faultf(format string, arguments ...any) *ScriptError {
	return &ScriptError{Msg: clean(fmt.Sprintf(format, arguments...))}
}

var (
	position = regexp.MustCompile(`^` + chunkName + `:(\d+): ?`)
	indexed  = regexp.MustCompile(`^attempt to index a non-table object\(nil\) with key '(\w+)'$`)
	traced   = regexp.MustCompile(`\t` + chunkName + `:(\d+):`)
)

// scriptError reads the interpreter's error. A message that was raised again has several positions in front: the last
// one is where it was raised first. A message without position gets the line of the innermost script function in the
// trace.
func scriptError(err error) *ScriptError {
	var api *gopher.ApiError
	if !errors.As(err, &api) {
		return faultf("%v", err)
	}
	var message string
	switch object := api.Object.(type) {
	case gopher.LString, gopher.LNumber:
		message = object.String()
	default:
		message = fmt.Sprintf("the script raised an error that is a %s; call error with a text", object.Type())
	}
	line := 0
	for found := position.FindStringSubmatch(message); found != nil; found = position.FindStringSubmatch(message) {
		line, _ = strconv.Atoi(found[1])
		message = message[len(found[0]):]
	}
	if found := traced.FindStringSubmatch(api.StackTrace); line == 0 && found != nil {
		line, _ = strconv.Atoi(found[1])
	}
	message += wayOut(message)
	if api.Type == gopher.ApiErrorPanic {
		message = "a library function failed: " + message
	}
	return &ScriptError{Line: line, Msg: clean(message)}
}

// wayOut is what to do about the mistakes that most scripts make first. Empty for others.
func wayOut(message string) string {
	if found := indexed.FindStringSubmatch(message); found != nil {
		return fmt.Sprintf("; the value before .%s is nil: check it first, for example (x or {}).%s", found[1], found[1])
	}
	switch message {
	case "stack overflow":
		return "; a function calls itself without end, or calls are nested too deeply: look for a recursion that does not stop"
	case "__len undefined":
		return "; the value after # is nil, or neither a list nor a text: check it first, for example #(x or {})"
	case "cannot perform concat operation between string and nil",
		"cannot perform concat operation between nil and string":
		return "; one of the two values is nil: check it first, for example (x or \"\")"
	case "registry overflow":
		return "; too many values at once, as unpack or .. of a long list makes them: work on a part of the list at a time"
	}
	if strings.HasPrefix(message, "attempt to call a non-function object") {
		return "; there is no such function here: scripts have those of string, table and math, and os.time, os.date and os.difftime"
	}
	return ""
}
