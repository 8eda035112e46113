// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"context"
	"strings"

	gopher "github.com/yuin/gopher-lua"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Match is what evaluate says about one object.
type Match struct {
	Matching bool
	// Message is at most 1 KiB, cut between characters, without control characters.
	Message string
}

// Evaluate calls evaluate for one object, of which only what the script reads is decoded. A missing matching is false;
// a result of another shape is a *ScriptError. o.Raw must be well-formed, as what apiserver.ScanList yields is.
func (s *Session) Evaluate(ctx context.Context, o object.Object) (Match, error) {
	return s.EvaluateWith(ctx, o, nil)
}

// EvaluateWith is Evaluate with data: a well-formed JSON map of the data globals that are not empty. They are set
// before the chunk runs. Nil is none.
func (s *Session) EvaluateWith(ctx context.Context, o object.Object, data object.JSON) (Match, error) {
	return s.evaluate(ctx, o, data, nil)
}

func (s *Session) evaluate(ctx context.Context, o object.Object, data object.JSON, p *partly) (Match, error) {
	if err := s.open(ctx, o); err != nil {
		return Match{}, err
	}
	root, err := s.root(o)
	if err != nil {
		return Match{}, err
	}
	if p != nil {
		p.root, s.box.partly = root, p
	}
	result, err := s.run(ctx, call{
		function: "evaluate", global: "obj", argument: &root.LTable, data: data, limit: s.options.ObjectTimeout,
		example: "function evaluate() return {matching=true} end",
	})
	if err != nil {
		return Match{}, err
	}
	table, ok := result.(*gopher.LTable)
	if !ok {
		return Match{}, faultf(
			"evaluate returned %s; return a table such as {matching=true, message=\"why\"}",
			described(result),
		)
	}
	return readMatch(table)
}

func readMatch(table *gopher.LTable) (Match, error) {
	var match Match
	switch matching := said(table, "matching").(type) {
	case *gopher.LNilType:
	case gopher.LBool:
		match.Matching = bool(matching)
	default:
		return Match{}, faultf("evaluate returned a matching that is %s; it must be true or false", described(matching))
	}
	message, err := readMessage(table, "evaluate returned a message")
	match.Message = message
	if err != nil {
		return Match{}, err
	}
	return match, nil
}

// readMessage reads the message of a result; where says whose it is.
func readMessage(table *gopher.LTable, where string) (string, error) {
	switch message := said(table, "message").(type) {
	case *gopher.LNilType:
		return "", nil
	case gopher.LString:
		return clean(string(message)), nil
	default:
		return "", faultf("%s that is %s; use tostring to make it a text", where, described(message))
	}
}

// said is a field of a result. Another case of its name counts where the name itself is not there, as in k8s-cleaner,
// which decodes results as JSON. Of several, the last in order does, as there.
func said(table *gopher.LTable, name string) gopher.LValue {
	value := table.RawGetString(name)
	if value != gopher.LNil {
		return value
	}
	var found gopher.LString
	for key, other := table.Next(gopher.LNil); key != gopher.LNil; key, other = table.Next(key) {
		if text, ok := key.(gopher.LString); ok && strings.EqualFold(string(text), name) && text > found {
			found, value = text, other
		}
	}
	return value
}

// described names a value for people.
func described(value gopher.LValue) string {
	if value == gopher.LNil {
		return "nothing"
	}
	return "a " + value.Type().String()
}
