// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"unsafe"

	gopher "github.com/yuin/gopher-lua"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// lazy is a table over JSON text. Until something writes to it, or needs more than its fields and elements one by one,
// the LTable is empty and has the sandbox's private metatable, whose functions read the text. Then it is forced: it
// becomes a plain table like any other.
//
// It is kept small, because an aggregated script holds ten for each of tens of thousands of objects: its slices are
// here without their capacities, and share their lengths.
type lazy struct {
	// LTable is the first field: scripts hold a pointer to it, which is one to the lazy as well.
	gopher.LTable

	raw *byte
	// spans is where the fields or elements stand. Nil before the first access, and after the table was forced.
	spans *span
	// tables are the tables made so far of the maps and lists among the values, by their place in spans: a value has one
	// table only, so that scripts can compare and use them as keys. Nil when there are none yet.
	tables **lazy
	// kind is that of a root, whose text may lack kind and apiVersion. Nil below.
	kind *kindText

	rawLength, count uint32
	// call is the call of the sandbox that the table belongs to. Its text may be gone afterwards.
	call uint32
	// number is which object of a collection a root is. Below, it is one more than the place of the field that pairs has
	// come to; then the fields are in the order of their names.
	number int32
}

func (l *lazy) setText(raw object.JSON) { l.raw, l.rawLength = unsafe.SliceData(raw), uint32(len(raw)) }

func (l *lazy) text() object.JSON { return unsafe.Slice(l.raw, l.rawLength) }

// setLevel copies the spans.
func (l *lazy) setLevel(spans []span) {
	kept := make([]span, max(1, len(spans))) // one at least: nil is not read yet
	copy(kept, spans)
	l.spans, l.count = &kept[0], uint32(len(spans))
}

func (l *lazy) level() []span { return unsafe.Slice(l.spans, l.count) }

// inner are the tables made so far, with nils between.
func (l *lazy) inner() []*lazy {
	if l.tables == nil {
		return nil
	}
	return unsafe.Slice(l.tables, l.count)
}

func (l *lazy) isList() bool { return *l.raw == '[' }

// span is where a field or an element stands in the text. key is the opening quote of a field's name.
type span struct{ key, value, end uint32 }

// isNamed reports whether a field has the name, if its own has no escapes: between it and the value there is one quote.
func (s span) isNamed(raw object.JSON, name string) bool {
	from := int(s.key) + 1
	end := from + len(name)
	return end < int(s.value) && raw[end] == '"' && string(raw[from:end]) == name
}

// kindText is a kind as the root of an object shows it: as Lua has it, and as JSON.
type kindText struct {
	apiVersion, kind       gopher.LValue
	apiVersionRaw, kindRaw object.JSON
}

// maxIndexed is the number of fields above which a map becomes a plain table at the first access, because fields are
// searched one after the other.
const maxIndexed = 64

// lazy returns what is behind a table of the current call that is lazy still, or else nil. Only here a table is taken
// for more than that: none but those of newLazy ever have this metatable, because scripts cannot get hold of it.
func (b *sandbox) lazy(table *gopher.LTable) *lazy {
	if table.Metatable != b.lazyMeta {
		return nil
	}
	l := (*lazy)(unsafe.Pointer(table))
	if l.call != b.calls {
		// Each object has an environment of its own, and nothing survives it. Should that ever be wrong, it must not show
		// a script the bytes of another object.
		b.state.RaiseError("a table of an object was used after its call had ended")
	}
	return l
}

// initLazy makes a lazy table of a map or list, whose text begins with the bracket.
func (b *sandbox) initLazy(l *lazy, raw object.JSON) {
	l.setText(raw)
	l.call = b.calls
	l.Metatable = b.lazyMeta
}

// node is the value that the table was made of.
func (l *lazy) node() node { return node{raw: l.text(), kind: l.kind} }

// open finds the level's fields or elements. It returns false when the table is a plain one after that.
func (b *sandbox) open(l *lazy) bool {
	if l.spans != nil {
		return true
	}
	if b.scan(l) {
		l.setLevel(b.spans)
		return true
	}
	b.forceTo(l)
	return false
}

// scan reads one level of the text into b.spans. It says whether that is an index: not when names must be decoded to
// compare them, nor when they are many. Nulls in lists are nowhere, as in k8s-cleaner: ipairs must see what stands
// behind them, or what a list uses looks unused. In transform they keep their place, because the list is written back.
func (b *sandbox) scan(l *lazy) bool {
	b.spans = b.spans[:0]
	start := uintptr(unsafe.Pointer(l.raw))
	offset := func(part []byte) uint32 {
		return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(part))) - start)
	}
	if l.isList() {
		for element := range l.text().Elements() {
			if element[0] == 'n' && !b.transforming {
				continue
			}
			at := offset(element)
			b.spans = append(b.spans, span{value: at, end: at + uint32(len(element))})
		}
		return true
	}
	simple := true
	for key, value := range l.text().Fields() {
		at := offset(value)
		b.spans = append(b.spans, span{key: offset(key), value: at, end: at + uint32(len(value))})
		simple = simple && isPlain(key)
	}
	return simple && len(b.spans) <= maxIndexed
}

// isPlain says whether a name's text is the name itself.
func isPlain(key object.Key) bool {
	for _, c := range key {
		if c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

// get reads a key as a plain table has it without its metatable.
func (b *sandbox) get(l *lazy, key gopher.LValue) gopher.LValue {
	switch key := key.(type) {
	case gopher.LString:
		return b.field(l, string(key))
	case gopher.LNumber:
		if i := int(key); gopher.LNumber(i) == key {
			return b.element(l, i)
		}
	}
	return gopher.LNil
}

func (b *sandbox) field(l *lazy, name string) gopher.LValue {
	b.partly.field(l, name)
	if l.kind != nil {
		switch name {
		case "kind":
			return l.kind.kind
		case "apiVersion":
			return l.kind.apiVersion
		}
	}
	if !b.open(l) {
		return l.RawGetString(name)
	}
	if l.isList() {
		return gopher.LNil
	}
	raw, level := l.text(), l.level()
	// From the end: the last one of equal names counts.
	for i := len(level) - 1; i >= 0; i-- {
		if level[i].isNamed(raw, name) {
			value := b.value(l, i)
			if table, ok := value.(*gopher.LTable); ok && b.partly != nil {
				b.partly.inner(l, name, b.lazy(table))
			}
			return value
		}
	}
	return gopher.LNil
}

// element reads the element of a list. The first is 1.
func (b *sandbox) element(l *lazy, number int) gopher.LValue {
	switch {
	case !b.open(l):
		return l.RawGetInt(number)
	case !l.isList() || number < 1 || number > int(l.count):
		return gopher.LNil
	}
	return b.value(l, number-1)
}

// length is what the length operator gives: that of a list without the nulls at its end.
func (b *sandbox) length(l *lazy) int {
	switch {
	case !b.open(l):
		return l.Len()
	case !l.isList():
		return 0
	}
	raw, level := l.text(), l.level()
	n := len(level)
	for n > 0 && raw[level[n-1].value] == 'n' {
		n--
	}
	return n
}

// value makes the Lua value of the i-th field or element, and remembers it if it is a table.
func (b *sandbox) value(l *lazy, i int) gopher.LValue {
	at := l.level()[i]
	raw := l.text()[at.value:at.end]
	if raw[0] != '{' && raw[0] != '[' {
		return scalarOf(raw)
	}
	if l.tables == nil {
		l.tables = unsafe.SliceData(make([]*lazy, l.count))
	}
	inner := l.inner()
	if inner[i] == nil {
		inner[i] = new(lazy)
		b.initLazy(inner[i], raw)
	}
	return &inner[i].LTable
}
