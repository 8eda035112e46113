// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"context"
	"errors"

	gopher "github.com/yuin/gopher-lua"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// ErrBeyondPart says that a script looked further than the part of the object that it was given. What it said means
// nothing.
var ErrBeyondPart = errors.New("the script read a field that KubeCleaner did not find in its source")

// EvaluatePart is EvaluateWith for an object of which nothing is there but the part that Reads returned. It fails with
// ErrBeyondPart where the whole object might have another result.
func (s *Session) EvaluatePart(
	ctx context.Context,
	o object.Object,
	data object.JSON,
	part object.Part,
) (Match, error) {
	p := &partly{part: part}
	match, err := s.evaluate(ctx, o, data, p)
	if p.beyond {
		return Match{}, ErrBeyondPart
	}
	return match, err
}

// partly watches what a script looks at that was given a part of an object, or Secrets without their data. A nil one
// watches nothing.
type partly struct {
	part object.Part
	// root is the object of which the part is given. Nil if it is Secrets.
	root *lazy
	// metadata is the root's field. Nil before it is looked at.
	metadata *lazy
	beyond   bool
}

// field notes that a field of a table is looked at.
func (p *partly) field(l *lazy, name string) {
	if p == nil {
		return
	}
	p.beyond = p.beyond || name == "data" && p.isSecret(l)
	isBeyond := l == p.root && !p.part.Has(name) && name != "kind" && name != "apiVersion"
	p.beyond = p.beyond || isBeyond || l == p.metadata && name == "managedFields" && !p.part.ManagedFields
}

// all notes that all fields of a table are looked at.
func (p *partly) all(l *lazy) {
	if p != nil && (l == p.root || l == p.metadata && !p.part.ManagedFields || p.isSecret(l)) {
		p.beyond = true
	}
}

// inner notes the table that is a field of another one.
func (p *partly) inner(l *lazy, name string, table *lazy) {
	if p != nil && l == p.root && name == "metadata" {
		p.metadata = table
	}
}

// isSecret reports whether a table is a Secret, of which the data is not there.
func (p *partly) isSecret(l *lazy) bool {
	return p.root == nil && l.kind != nil && l.kind.kind == gopher.LString("Secret") &&
		l.kind.apiVersion == gopher.LString("v1")
}
