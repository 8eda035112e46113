// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"reflect"
	"unsafe"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// node is a value of the original object. That of a root has the kind and apiVersion that its text may lack.
type node struct {
	raw  object.JSON
	kind *kindText
}

// isNull holds for what is absent, too: a script cannot distinguish them.
func (n node) isNull() bool {
	t := n.raw.Type()
	return t == object.Null || t == object.Absent
}

// fields are those of a map, and nil for anything else.
func (n node) fields() map[string]node {
	if n.raw.Type() != object.Map {
		return nil
	}
	fields := make(map[string]node)
	for key, value := range n.raw.Fields() {
		fields[key.String()] = node{raw: value}
	}
	if n.kind != nil {
		fields["apiVersion"], fields["kind"] = node{raw: n.kind.apiVersionRaw}, node{raw: n.kind.kindRaw}
	}
	return fields
}

// elements are those of a list, and nil for anything else.
func (n node) elements() []node {
	var elements []node
	for element := range n.raw.Elements() {
		elements = append(elements, node{raw: element})
	}
	return elements
}

// isSame says whether two nodes are the same place of the same text.
func (n node) isSame(other node) bool {
	return len(n.raw) == len(other.raw) && unsafe.SliceData(n.raw) == unsafe.SliceData(other.raw) && n.kind == other.kind
}

// equals compares with a restored value, exactly: the texts of numbers count. Only what is not the same place is
// decoded.
func (n node) equals(now any) bool {
	switch now := now.(type) {
	case nil:
		return n.isNull()
	case node:
		return n.isSame(now) || n.decodesAs(now)
	case map[string]any:
		return n.equalsMap(now)
	case []any:
		elements := n.elements()
		if n.raw.Type() != object.List || len(elements) != len(now) {
			return false
		}
		for i, element := range elements {
			if !element.equals(now[i]) {
				return false
			}
		}
		return true
	}
	was, err := n.raw.Decode()
	return err == nil && was == now
}

func (n node) equalsMap(now map[string]any) bool {
	fields := n.fields()
	if n.raw.Type() != object.Map || len(fields) != len(now) {
		return false
	}
	for key, field := range fields {
		if value, ok := now[key]; !ok || !field.equals(value) {
			return false
		}
	}
	return true
}

func (n node) decodesAs(other node) bool {
	was, err := n.raw.Decode()
	now, otherErr := other.raw.Decode()
	return err == nil && otherErr == nil && reflect.DeepEqual(was, now)
}

// decoded makes a Go value of a restored one: no nodes are left in it.
func decoded(value any) (any, error) {
	switch value := value.(type) {
	case node:
		return value.raw.Decode()
	case map[string]any:
		for key, inner := range value {
			plain, err := decoded(inner)
			if err != nil {
				return nil, err
			}
			value[key] = plain
		}
	case []any:
		for i, inner := range value {
			plain, err := decoded(inner)
			if err != nil {
				return nil, err
			}
			value[i] = plain
		}
	}
	return value, nil
}

// isScalar says whether a node is a text, number or boolean that the interpreter shows as the given value.
func (n node) isScalar() bool {
	switch n.raw.Type() {
	case object.String, object.Number, object.Bool:
		return true
	}
	return false
}
