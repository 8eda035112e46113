// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"bytes"
	"slices"

	gopher "github.com/yuin/gopher-lua"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// maxNames is how many names of fields are kept, each of at most maxNameLength bytes. Most objects have the same.
const maxNames, maxNameLength = 1024, 64

// nextField is for next, and for the iterator of pairs, which read maps and lists without making them plain. At the end
// they return so many nils.
func (b *sandbox) nextField(nils int) func(gopher.LGFunction) gopher.LGFunction {
	return func(inner gopher.LGFunction) gopher.LGFunction {
		return func(state *gopher.LState) int {
			l := b.argument(state)
			if l == nil {
				b.plain(state.Get(1))
				return inner(state)
			}
			i, ok := b.after(l, state.Get(2))
			switch {
			case !ok:
				b.force(l)
				return inner(state)
			case i == int(l.count):
				for range nils {
					state.Push(gopher.LNil)
				}
				return nils
			}
			state.Push(b.keyOf(l, i))
			state.Push(b.value(l, i))
			return 2
		}
	}
}

// after is the place of the field or element that comes after a key, or of the first. It is how many there are when
// none comes. It is not ok when only a plain table can show.
func (b *sandbox) after(l *lazy, key gopher.LValue) (i int, ok bool) {
	if l.isList() {
		i, ok = b.afterElement(l, key)
	} else {
		i, ok = b.afterField(l, key)
	}
	if !ok {
		return 0, false
	}
	raw, level := l.text(), l.level()
	for i < len(level) && raw[level[i].value] == 'n' { // a null is nothing in Lua
		i++
	}
	return i, true
}

func (b *sandbox) afterElement(l *lazy, key gopher.LValue) (i int, ok bool) {
	if !b.open(l) {
		return 0, false
	}
	if key == gopher.LNil {
		return 0, true
	}
	number, isNumber := key.(gopher.LNumber)
	i = int(number)
	return i, isNumber && gopher.LNumber(i) == number && i >= 1 && i <= int(l.count)
}

func (b *sandbox) afterField(l *lazy, key gopher.LValue) (i int, ok bool) {
	if l.kind != nil || l.number == 0 && !b.sort(l) {
		return 0, false
	}
	if key == gopher.LNil {
		return 0, true
	}
	name, isText := key.(gopher.LString)
	if !isText {
		return 0, false
	}
	raw, level := l.text(), l.level()
	if last := int(l.number) - 1; last >= 0 && level[last].isNamed(raw, string(name)) {
		return last + 1, true
	}
	i = slices.IndexFunc(level, func(s span) bool { return s.isNamed(raw, string(name)) })
	return i + 1, i >= 0 && raw[level[i].value] != 'n' // in a plain table there is no field that is null
}

// keyOf is the key of the i-th field or element, which pairs has come to.
func (b *sandbox) keyOf(l *lazy, i int) gopher.LValue {
	if l.isList() {
		return gopher.LNumber(i + 1)
	}
	l.number = int32(i) + 1
	return b.name(l.level()[i].name(l.text()))
}

// sort brings the fields of a map into the order of their names, in which a plain table has them. It cannot when
// tables of them were made already, or when several have one name.
func (b *sandbox) sort(l *lazy) bool {
	if !b.open(l) {
		return false
	}
	b.partly.all(l)
	raw, level := l.text(), l.level()
	byName := func(x, y span) int { return bytes.Compare(x.name(raw), y.name(raw)) }
	if !slices.IsSortedFunc(level, byName) {
		if l.tables != nil {
			return false
		}
		slices.SortStableFunc(level, byName)
	}
	for i := 1; i < len(level); i++ {
		if byName(level[i-1], level[i]) == 0 {
			return false
		}
	}
	return true
}

// name is the name of a field without escapes, as it stands in the text.
func (s span) name(raw object.JSON) []byte {
	name := raw[s.key+1 : s.value]
	return name[:bytes.IndexByte(name, '"')]
}

// name is the Lua value of a field's name.
func (b *sandbox) name(text []byte) gopher.LValue {
	if known := b.names[string(text)]; known != nil {
		return known
	}
	name := gopher.LString(text)
	if len(text) <= maxNameLength && len(b.names) < maxNames {
		if b.names == nil {
			b.names = map[string]gopher.LValue{}
		}
		b.names[string(name)] = name
	}
	return name
}
