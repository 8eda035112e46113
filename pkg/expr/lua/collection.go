// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"bytes"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Blocks hold the bytes of collected objects: one allocation for each object would be slower, and one for all would
// have to be copied when it grows. They double from the first size to the last.
const (
	firstBlock = 16 << 10
	lastBlock  = 1 << 20
)

// Collection holds objects for Aggregate, with copies of their bytes. It is not safe for concurrent use.
type Collection struct {
	// WithoutData says that the Secrets are without their field data.
	WithoutData bool

	items []item
	kinds map[object.Kind]*object.Kind
	// free is what is left of the last block.
	free []byte
	// block is the size of the next one.
	block int
}

// item is an object that shares its kind with others, because kinds are large.
type item struct {
	kind *object.Kind
	raw  []byte
	// own is nil when the object was added without any of it.
	own *own
}

type own struct {
	namespace, name string
	uid             types.UID
	resourceVersion string
	created         time.Time
	deleting        bool
}

// NewCollection makes an empty collection.
func NewCollection() *Collection {
	return &Collection{kinds: make(map[object.Kind]*object.Kind), block: firstBlock}
}

// Add copies an object to the end of the collection. Its index is what Len was before.
func (c *Collection) Add(o object.Object) {
	kind, ok := c.kinds[o.Kind]
	if !ok {
		kind = new(o.Kind)
		c.kinds[o.Kind] = kind
	}
	one := item{kind: kind, raw: c.copied(o.Raw)}
	if fields := (own{o.Namespace, o.Name, o.UID, o.ResourceVersion, o.Created, o.Deleting}); fields != (own{}) {
		one.own = &fields
	}
	c.items = append(c.items, one)
}

// copied copies bytes into the current block. What would waste much of one gets a block of its own.
func (c *Collection) copied(raw []byte) []byte {
	if len(raw) > c.block/4 {
		return bytes.Clone(raw)
	}
	if len(raw) > len(c.free) {
		c.free = make([]byte, c.block)
		c.block = min(2*c.block, lastBlock)
	}
	n := copy(c.free, raw)
	kept := c.free[:n:n]
	c.free = c.free[n:]
	return kept
}

// Truncate forgets all objects but the first n. Their memory is not reused.
func (c *Collection) Truncate(n int) {
	if n < 0 || n >= len(c.items) {
		return
	}
	clear(c.items[n:])
	c.items = c.items[:n]
}

// Without is a collection of all objects but those at some places, with the same bytes. place says where in this
// collection an object of that one is.
func (c *Collection) Without(places []int) (rest *Collection, place func(int) int) {
	if len(places) == 0 {
		return c, func(i int) int { return i }
	}
	leave := make([]bool, len(c.items))
	for _, i := range places {
		leave[i] = true
	}
	rest = &Collection{WithoutData: c.WithoutData, items: make([]item, 0, len(c.items))}
	var kept []int
	for i, one := range c.items {
		if !leave[i] {
			rest.items, kept = append(rest.items, one), append(kept, i)
		}
	}
	return rest, func(i int) int { return kept[i] }
}

// Len is the number of objects.
func (c *Collection) Len() int { return len(c.items) }

// Object is the i-th object, as it was added. Its bytes are the collection's.
func (c *Collection) Object(i int) object.Object {
	one := c.items[i]
	o := object.Object{Kind: *one.kind, Raw: one.raw}
	if one.own != nil {
		o.Namespace, o.Name, o.UID = one.own.namespace, one.own.name, one.own.uid
		o.ResourceVersion, o.Created, o.Deleting = one.own.resourceVersion, one.own.created, one.own.deleting
	}
	return o
}
