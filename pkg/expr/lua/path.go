// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"strconv"
	"strings"
)

// path is a place in an object, as a chain to its root. It is written only when an error needs it.
type path struct {
	parent *path
	key    string
	// number is the index, counted from 1, of a list's element.
	number int
	level  int
}

func (p *path) field(key string) *path { return &path{parent: p, key: key, level: p.depth() + 1} }

func (p *path) index(number int) *path { return &path{parent: p, number: number, level: p.depth() + 1} }

// depth is how many levels the place is below the root.
func (p *path) depth() int {
	if p == nil {
		return 0
	}
	return p.level
}

// String writes the place as Lua does: spec.containers[1].env, metadata.labels["app.kubernetes.io/name"].
func (p *path) String() string {
	if p == nil {
		return "resource"
	}
	before := ""
	if p.parent != nil {
		before = p.parent.String()
	}
	switch {
	case p.number > 0:
		return before + "[" + strconv.Itoa(p.number) + "]"
	case !isIdentifier(p.key):
		return before + "[" + strconv.Quote(p.key) + "]"
	case before == "":
		return p.key
	}
	return before + "." + p.key
}

func isIdentifier(key string) bool {
	return key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
