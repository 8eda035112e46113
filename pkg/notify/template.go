// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const (
	// maxTemplate is how long a template may be, maxTemplated what it makes, and maxJSON what its calls of json make
	// together.
	maxTemplate  = 64 << 10
	maxTemplated = 1 << 20
	maxJSON      = 8 << 20
)

// allowed are the functions of templates. The others of Go are left out: print makes a text of any length of a short
// template.
var allowed = []string{"json", "len", "index", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not"}

var errTooLong = fmt.Errorf("it makes more than %d KiB", maxTemplated>>10)

// parseTemplate reads a template, to be executed once. What could use up the operator's time or memory is not allowed:
// other functions, templates that call one another, and loops within loops or over anything but a list of the document:
// a template loops over a number as often as it says.
func parseTemplate(text string) (*template.Template, error) {
	if len(text) > maxTemplate {
		return nil, fmt.Errorf("it is longer than %d KiB", maxTemplate>>10)
	}
	budget := maxJSON // of this template's one execution
	toJSON := func(value any) (string, error) {
		text, err := json.Marshal(value)
		if budget -= len(text); err == nil && budget < 0 {
			err = errTooLong
		}
		return string(text), err
	}
	parsed, err := template.New("WEBHOOK_TEMPLATE").
		Option("missingkey=error").
		Funcs(template.FuncMap{"json": toJSON}).
		Parse(text)
	if err != nil {
		return nil, errors.New(templateWords(err))
	}
	if len(parsed.Templates()) > 1 {
		return nil, errors.New("define and block are not allowed")
	}
	if parsed.Tree == nil { // an empty one
		return parsed, nil
	}
	return parsed, checkNodes(parsed.Root, where{})
}

// where is a place in a template: in a range, or within with.
type where struct{ looping, within bool }

// checkNodes looks for what is not allowed.
func checkNodes(node parse.Node, at where) error { //nolint:cyclop // a flat switch over nodes
	switch n := node.(type) {
	case *parse.ListNode:
		if n != nil {
			return checkAll(n.Nodes, at)
		}
	case *parse.ActionNode:
		return checkNodes(n.Pipe, at)
	case *parse.PipeNode:
		var arguments []parse.Node
		for _, command := range n.Cmds {
			arguments = append(arguments, command.Args...)
		}
		return checkAll(arguments, at)
	case *parse.ChainNode:
		return checkNodes(n.Node, at)
	case *parse.IdentifierNode:
		if !slices.Contains(allowed, n.Ident) {
			return fmt.Errorf("the function %s is not allowed; these are: %s", n.Ident, strings.Join(allowed, ", "))
		}
	case *parse.TemplateNode:
		return errors.New("template is not allowed")
	case *parse.IfNode:
		return checkBranch(&n.BranchNode, at)
	case *parse.WithNode:
		at.within = true
		return checkBranch(&n.BranchNode, at)
	case *parse.RangeNode:
		if at.looping || !isList(n.Pipe, at.within) {
			return errors.New("range is allowed only over a list, .objects or .tallies ($.objects within with), " +
				"and not within another range")
		}
		at.looping = true
		return checkBranch(&n.BranchNode, at)
	}
	return nil
}

func checkAll(nodes []parse.Node, at where) error {
	for _, node := range nodes {
		if err := checkNodes(node, at); err != nil {
			return err
		}
	}
	return nil
}

func checkBranch(n *parse.BranchNode, at where) error {
	return errors.Join(checkNodes(n.Pipe, at), checkNodes(n.List, at), checkNodes(n.ElseList, at))
}

// lists are the lists of the document.
var lists = []string{"objects", "tallies"}

// isList reports whether a loop goes over a list of the document: .objects or $.objects. within with, .objects may be
// something else.
func isList(pipe *parse.PipeNode, within bool) bool {
	if len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) != 1 {
		return false
	}
	switch argument := pipe.Cmds[0].Args[0].(type) {
	case *parse.FieldNode:
		return !within && len(argument.Ident) == 1 && slices.Contains(lists, argument.Ident[0])
	case *parse.VariableNode:
		return len(argument.Ident) == 2 && argument.Ident[0] == "$" && slices.Contains(lists, argument.Ident[1])
	}
	return false
}

// applyTemplate makes a body of the document.
func applyTemplate(text string, document []byte) ([]byte, error) {
	parsed, err := parseTemplate(text)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var data map[string]any
	if err := decoder.Decode(&data); err != nil {
		return nil, err
	}
	out := &limited{}
	if err := parsed.Execute(out, complete(data, reflect.TypeFor[Document]())); err != nil {
		if errors.Is(err, errTooLong) {
			return nil, errTooLong
		}
		return nil, errors.New(templateWords(err))
	}
	return out.Bytes(), nil
}

// complete makes of a value that was decoded as t one for templates: with the fields that were left out because they
// are empty, and with numbers, all of which are whole, that can be compared with one another.
func complete(value any, t reflect.Type) any {
	switch value := value.(type) {
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return whole
		}
	case []any:
		for i := range value {
			value[i] = complete(value[i], t.Elem())
		}
	case map[string]any:
		for _, field := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if now, ok := value[name]; ok {
				value[name] = complete(now, field.Type)
			} else if field.Type.Kind() == reflect.Slice {
				value[name] = []any{}
			} else if name != "" {
				value[name] = reflect.Zero(field.Type).Interface()
			}
		}
	}
	return value
}

// templateWords is what a template's error says; it quotes the template, which is a part of the Secret, and so only its
// beginning, where the place stands, is kept: "line 3, column 7".
func templateWords(err error) string {
	text := strings.TrimPrefix(clean(err.Error()), "template: ")
	place, rest, _ := strings.Cut(strings.TrimPrefix(text, "WEBHOOK_TEMPLATE:"), ": ")
	line, column, _ := strings.Cut(place, ":")
	where := "line " + v1alpha1.Truncate(line, 8)
	if before, err := strconv.Atoi(column); err == nil {
		where += fmt.Sprintf(", column %d", before+1)
	}
	switch {
	case strings.Contains(rest, "map has no entry for key"):
		rest = "the document has no such field"
	case strings.Contains(rest, "function") && strings.Contains(rest, "not defined"):
		rest = "there is no such function; these are: " + strings.Join(allowed, ", ")
	case strings.Contains(rest, "for comparison"):
		rest = "values of different types are compared: counts are whole numbers, such as 0, dryRun and test are true or false, all else is text"
	default:
		rest = "it cannot be read as a Go template, or does not fit the document"
	}
	return where + ": " + rest
}

// limited is a buffer that refuses to grow beyond maxTemplated.
type limited struct{ bytes.Buffer }

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxTemplated {
		return 0, errTooLong
	}
	return l.Buffer.Write(p)
}
