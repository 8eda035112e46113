// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// listValue is a JSON list. It belongs to one evaluation: it is not safe for concurrent use.
type listValue struct {
	text    object.JSON
	mem     *memory
	decoded traits.Lister
	weight  uint64
}

// known is the list in the form that cel-go knows; what is in its maps and lists is not read yet.
func (l *listValue) known() traits.Lister {
	if l.decoded == nil {
		var elements []ref.Val
		for text := range l.text.Elements() {
			elements = append(elements, value(text, l.mem))
		}
		l.decoded = types.NewRefValList(types.DefaultTypeAdapter, elements)
	}
	return l.decoded
}

// Add implements traits.Adder.
func (l *listValue) Add(other ref.Val) ref.Val { return l.known().Add(other) }

// Contains implements traits.Container.
func (l *listValue) Contains(elem ref.Val) ref.Val { return l.known().Contains(elem) }

// Get implements traits.Indexer.
func (l *listValue) Get(index ref.Val) ref.Val { return l.known().Get(index) }

// Iterator implements traits.Iterable.
func (l *listValue) Iterator() traits.Iterator { return l.known().Iterator() }

// Fold implements traits.Foldable.
func (l *listValue) Fold(f traits.Folder) { types.ToFoldableList(l.known()).Fold(f) }

// Size implements traits.Sizer.
func (l *listValue) Size() ref.Val { return l.known().Size() }

// IsZeroValue implements traits.Zeroer.
func (l *listValue) IsZeroValue() bool { return l.known().Size() == types.IntZero }

// ConvertToNative implements ref.Val.
func (l *listValue) ConvertToNative(t reflect.Type) (any, error) {
	return l.known().ConvertToNative(t)
}

// ConvertToType implements ref.Val.
func (l *listValue) ConvertToType(t ref.Type) ref.Val {
	if t == types.ListType {
		return l
	}
	return l.known().ConvertToType(t)
}

// Equal implements ref.Val.
func (l *listValue) Equal(other ref.Val) ref.Val { return l.known().Equal(other) }

// Type implements ref.Val.
func (l *listValue) Type() ref.Type { return types.ListType }

// Value implements ref.Val.
func (l *listValue) Value() any { return l.known().Value() }

// String is for messages.
func (l *listValue) String() string {
	return fmt.Sprintf("a list of %v elements", l.known().Size())
}
