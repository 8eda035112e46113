// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"errors"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// mapIterator yields the names of a map one by one: a loop may end at the first, and pays for each.
type mapIterator struct {
	of   *mapValue
	next int
}

var errIterator = errors.New("an iterator is no value")

// HasNext implements traits.Iterator.
func (i *mapIterator) HasNext() ref.Val { return types.Bool(i.next < len(i.of.entries)) }

// Next implements traits.Iterator.
func (i *mapIterator) Next() ref.Val {
	if i.next == len(i.of.entries) {
		return nil
	}
	name := i.of.entries[i.next].key.String()
	i.next++
	return types.String(name)
}

// ConvertToNative implements ref.Val.
func (i *mapIterator) ConvertToNative(reflect.Type) (any, error) { return nil, errIterator }

// ConvertToType implements ref.Val.
func (i *mapIterator) ConvertToType(ref.Type) ref.Val { return types.WrapErr(errIterator) }

// Equal implements ref.Val.
func (i *mapIterator) Equal(ref.Val) ref.Val { return types.WrapErr(errIterator) }

// Type implements ref.Val.
func (i *mapIterator) Type() ref.Type { return types.IteratorType }

// Value implements ref.Val.
func (i *mapIterator) Value() any { return nil }
