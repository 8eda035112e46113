// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"cmp"
	"slices"

	gopher "github.com/yuin/gopher-lua"
)

// plain makes a plain table of one that is lazy or an overlay. Tables below it stay as they are.
func (b *sandbox) plain(value gopher.LValue) {
	table, ok := value.(*gopher.LTable)
	if !ok || table.Metatable == gopher.LNil {
		return
	}
	if l := b.lazy(table); l != nil {
		b.force(l)
		return
	}
	b.uncover(table)
}

// force turns a lazy table into a plain one. Fields are in the order of their names, so that pairs has one order.
func (b *sandbox) force(l *lazy) {
	if l.spans == nil {
		b.scan(l)
	}
	b.forceTo(l)
}

// forceTo is force for a table whose level was read: into l, or else just now into b.spans.
func (b *sandbox) forceTo(l *lazy) {
	b.partly.all(l)
	if l.spans == nil {
		l.setLevel(b.spans)
	}
	if l.isList() {
		l.LTable = *b.listOf(l)
	} else {
		l.LTable = *b.mapOf(l)
	}
	l.spans, l.tables = nil, nil
	if b.forced != nil && (l.kind != nil || b.transforming) {
		b.forced[&l.LTable] = l
	}
}

// listOf keeps the place of the nulls that scan keeps, so that the elements behind them keep their index.
func (b *sandbox) listOf(l *lazy) *gopher.LTable {
	table := b.state.CreateTable(int(l.count), 0)
	for i := range int(l.count) {
		table.RawSetInt(i+1, b.value(l, i))
	}
	return table
}

// field is one of a table.
type field struct {
	name  string
	value gopher.LValue
}

// mapOf leaves out nulls: for scripts they are like absent fields.
func (b *sandbox) mapOf(l *lazy) *gopher.LTable {
	fields := b.fields[:0]
	for i, at := range l.level() {
		name := l.text()[at.key:at.value].Text()
		fields = append(fields, field{name, b.value(l, i)})
	}
	if l.kind != nil {
		fields = append(fields, field{"apiVersion", l.kind.apiVersion}, field{"kind", l.kind.kind})
	}
	slices.SortStableFunc(fields, func(x, y field) int { return cmp.Compare(x.name, y.name) })
	table := b.state.CreateTable(0, len(fields))
	for i, at := range fields {
		// The last one of equal names counts, and so those of l.kind do.
		if last := i == len(fields)-1 || fields[i+1].name != at.name; last && at.value != gopher.LNil {
			table.RawSetString(at.name, at.value)
		}
	}
	clear(fields) // or they would keep the object
	b.fields = fields
	return table
}

// untouched says whether neither a lazy table nor any below it has become plain.
func (b *sandbox) untouched(l *lazy) bool {
	for _, inner := range l.inner() {
		if inner != nil && (b.lazy(&inner.LTable) == nil || !b.untouched(inner)) {
			return false
		}
	}
	return true
}
