// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// value is what an expression sees of JSON text. A map or list is read when it is first looked into, one level deep, so
// most of an object is never decoded. Numbers are as Kubernetes decodes them: an integer that fits 64 bits is an int,
// any other number a double. A field that is null is there, and is null.
func value(text object.JSON, mem *memory) ref.Val {
	switch text.Type() {
	case object.Map:
		return &mapValue{text: text, mem: mem}
	case object.List:
		return &listValue{text: text, mem: mem}
	case object.String:
		return types.String(text.Text())
	case object.Bool:
		return types.Bool(text.String() == "true")
	case object.Number:
		return number(text.String())
	default:
		return types.NullValue
	}
}

func number(text string) ref.Val {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return types.Int(i)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return types.NewErr("the number %s is out of range", text)
	}
	return types.Double(f)
}

// entry is one field of a map. val is nil until somebody looks.
type entry struct {
	key  object.Key
	text object.JSON
	val  ref.Val
}

// memory is where the maps of one evaluation keep their fields. It is used again for the next.
type memory struct {
	entries []entry
}

// maxKept is up to how many entries are kept for the next evaluation.
const maxKept = 1024

// reset forgets what is in the memory. Nothing that was read with it may be used any more.
func (m *memory) reset() {
	clear(m.entries)
	m.entries = m.entries[:0]
	if cap(m.entries) > maxKept {
		m.entries = nil
	}
}

// mapValue is a JSON map. It belongs to one evaluation: it is not safe for concurrent use.
type mapValue struct {
	text object.JSON
	// kind is set at the root of an object. It stands for apiVersion and kind, which items of lists may lack.
	kind    *object.Kind
	mem     *memory
	scanned bool
	// entries are the fields in the order of the text. A name may stand twice until unique is called; the last one counts.
	entries  []entry
	isUnique bool
	// index finds entries by name. It is built for maps that are asked so often that it pays.
	index  map[string]int
	looked int
	// decoded is the same map in the form that cel-go knows.
	decoded traits.Mapper
	weight  uint64
}

// indexAfter is after how many comparisons of names an index is built.
const indexAfter = 1024

func (m *mapValue) scan() {
	if m.scanned {
		return
	}
	m.scanned = true
	all := m.mem.entries
	begin := len(all)
	if m.kind != nil {
		all = append(
			all,
			entry{key: object.Key(`"apiVersion"`), val: types.String(m.kind.APIVersion())},
			entry{key: object.Key(`"kind"`), val: types.String(m.kind.Kind)},
		)
	}
	for key, text := range m.text.Fields() {
		if m.kind != nil && (key.Is("kind") || key.Is("apiVersion")) {
			continue
		}
		all = append(all, entry{key: key, text: text})
	}
	m.mem.entries, m.entries = all, all[begin:]
}

// at is the value of the entry at an index.
func (m *mapValue) at(i int) ref.Val {
	if m.entries[i].val == nil {
		m.entries[i].val = value(m.entries[i].text, m.mem)
	}
	return m.entries[i].val
}

// unique drops the fields whose name stands again further behind.
func (m *mapValue) unique() []entry {
	m.scan()
	if m.isUnique {
		return m.entries
	}
	last := make(map[string]int, len(m.entries))
	for i := range m.entries {
		last[m.entries[i].key.String()] = i
	}
	if len(last) < len(m.entries) {
		kept := make([]entry, 0, len(last))
		for i, e := range m.entries {
			if last[e.key.String()] == i {
				kept = append(kept, e)
			}
		}
		m.entries, m.index = kept, nil
	}
	m.isUnique = true
	return m.entries
}

// field is the index of the field of that name, -1 if there is none.
func (m *mapValue) field(name string) int {
	m.scan()
	if m.index == nil && m.looked > indexAfter {
		m.index = make(map[string]int, len(m.entries))
		for i := range m.entries {
			m.index[m.entries[i].key.String()] = i
		}
	}
	if m.index != nil {
		if i, ok := m.index[name]; ok {
			return i
		}
		return -1
	}
	m.looked += len(m.entries)
	for i := len(m.entries) - 1; i >= 0; i-- {
		if m.entries[i].key.Is(name) {
			return i
		}
	}
	return -1
}

// Find implements traits.Mapper.
func (m *mapValue) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return nil, false
	}
	if i := m.field(string(name)); i >= 0 {
		return m.at(i), true
	}
	return nil, false
}

// Get implements traits.Indexer.
func (m *mapValue) Get(key ref.Val) ref.Val {
	if found, ok := m.Find(key); ok {
		return found
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

// Contains implements traits.Container.
func (m *mapValue) Contains(key ref.Val) ref.Val {
	_, ok := m.Find(key)
	return types.Bool(ok)
}

// Size implements traits.Sizer.
func (m *mapValue) Size() ref.Val { return types.Int(len(m.unique())) }

// IsZeroValue implements traits.Zeroer.
func (m *mapValue) IsZeroValue() bool {
	m.scan()
	return len(m.entries) == 0
}

// Fold implements traits.Foldable.
func (m *mapValue) Fold(f traits.Folder) {
	for i := range m.unique() {
		if !f.FoldEntry(types.String(m.entries[i].key.String()), m.at(i)) {
			return
		}
	}
}

// Iterator implements traits.Iterable. It yields the names in the order of the text.
func (m *mapValue) Iterator() traits.Iterator {
	m.unique()
	return &mapIterator{of: m}
}

// known is the map in the form that cel-go knows.
func (m *mapValue) known() traits.Mapper {
	if m.decoded == nil {
		values := make(map[ref.Val]ref.Val, len(m.unique()))
		for i := range m.entries {
			values[types.String(m.entries[i].key.String())] = m.at(i)
		}
		m.decoded = types.NewRefValMap(types.DefaultTypeAdapter, values)
	}
	return m.decoded
}

// ConvertToNative implements ref.Val.
func (m *mapValue) ConvertToNative(t reflect.Type) (any, error) { return m.known().ConvertToNative(t) }

// ConvertToType implements ref.Val.
func (m *mapValue) ConvertToType(t ref.Type) ref.Val {
	if t == types.MapType {
		return m
	}
	return m.known().ConvertToType(t)
}

// Equal implements ref.Val.
func (m *mapValue) Equal(other ref.Val) ref.Val { return m.known().Equal(other) }

// Type implements ref.Val.
func (m *mapValue) Type() ref.Type { return types.MapType }

// Value implements ref.Val.
func (m *mapValue) Value() any { return m.known().Value() }

// String is for messages.
func (m *mapValue) String() string { return fmt.Sprintf("a map of %d fields", len(m.unique())) }
