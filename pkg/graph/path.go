// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"errors"
	"fmt"
	"strings"
)

// step is one step of a path: a field, each element of a list, or each value of a map.
type step struct {
	field string
	each  bool
}

// parsePath reads a path as Reference has it.
func parsePath(path string) ([]step, error) {
	var steps []step
	for rest := path; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "[]"):
			steps, rest = append(steps, step{each: true}), rest[2:]
		case rest[0] == '[':
			field, after, found := strings.Cut(rest[1:], "]")
			if !found {
				return nil, fmt.Errorf("there is no ] after %q", rest)
			}
			steps, rest = append(steps, step{field: field}), after
		default:
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				return nil, fmt.Errorf("a field's name is missing before %q", rest)
			}
			steps, rest = append(steps, step{field: rest[:end], each: rest[:end] == "*"}), rest[end:]
		}
		var err error
		if rest, err = afterDot(rest); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// afterDot is what follows a step, without the dot that a field has before it.
func afterDot(rest string) (string, error) {
	after, found := strings.CutPrefix(rest, ".")
	switch {
	case found && after == "":
		return "", errors.New("a field's name is missing at the end")
	case !found && rest != "" && rest[0] != '[':
		return "", fmt.Errorf("there is no dot before %q", rest)
	}
	return after, nil
}

// parseFields reads a path that leads to one value: the fields alone.
func parseFields(path string) ([]string, error) {
	steps, err := parsePath(path)
	if err != nil || len(steps) == 0 {
		return nil, err
	}
	names := make([]string, 0, len(steps))
	for _, s := range steps {
		if s.each {
			return nil, fmt.Errorf("%q must lead to one field, without [] and *", path)
		}
		names = append(names, s.field)
	}
	return names, nil
}

// maxPath is how long a path of what stands in objects may be. Without an end, one object with a long key could take
// any memory.
const maxPath = 256

// joinBelow is join for what stands in an object: too long a path ends with dots.
func joinBelow(path, field string) string {
	switch {
	case strings.HasSuffix(path, "..."):
		return path
	case len(path)+len(field) > maxPath:
		return path + "..."
	}
	return joinName(path, field)
}

// joinElement is joinBelow for the elements of a list.
func joinElement(path string) string {
	if len(path)+2 > maxPath || strings.HasSuffix(path, "...") {
		return path
	}
	return path + "[]"
}

// join is the path of a field, or of a path, below another path.
func join(path, field string) string {
	if path == "" || field == "" || field[0] == '[' {
		return path + field
	}
	return path + "." + field
}

// joinName is join for the name of a field, which may have dots in it.
func joinName(path, name string) string {
	if name == "" || name == "*" || strings.ContainsAny(name, ".[") {
		return path + "[" + name + "]"
	}
	return join(path, name)
}

// canJoin reports whether joinName can write the name of a field. The end of a bracket in brackets ends them, and [] is
// something else.
func canJoin(name string) bool {
	return name != "" && (!strings.Contains(name, "]") || !strings.ContainsAny(name, ".["))
}
