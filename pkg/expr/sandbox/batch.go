// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// batchSize is how many bytes of objects go to a child at once. Smaller makes the pipe dear, larger makes nothing
// faster.
const batchSize = 256 << 10

// batch is some objects of one kind, and what a script said of the first of them.
type batch struct {
	kind object.Kind
	// objects have no Raw. Their bytes are in items: u32 length, then the bytes.
	objects []object.Object
	items   []byte
	// withData says that each item is followed by its object's data, in the same form.
	withData bool
	// metadataOnly says that there is no more of the objects than their metadata.
	metadataOnly bool
	ends         []int // where each item ends
	verdicts     []verdict
	// settled is how many verdicts can be handed on already: all but the last, behind which the child may say something
	// that is wrong.
	settled atomic.Int64
}

// verdict is what a script said of one object.
type verdict struct {
	matching bool
	message  string
	err      error
}

func newBatch(kind object.Kind) *batch { return &batch{kind: kind} }

func (b *batch) reset() {
	clear(b.objects)
	clear(b.verdicts)
	*b = batch{objects: b.objects[:0], items: b.items[:0], ends: b.ends[:0], verdicts: b.verdicts[:0]}
}

// settle adds the verdict of the first object that has none.
func (b *batch) settle(v verdict) {
	b.settled.Store(int64(len(b.verdicts)))
	b.verdicts = append(b.verdicts, v)
}

func (b *batch) add(o object.Object, data object.JSON) {
	b.items = appendBytes(b.items, o.Raw)
	if b.withData {
		b.items = appendBytes(b.items, data)
	}
	b.ends = append(b.ends, len(b.items))
	o.Raw = nil
	b.objects = append(b.objects, o)
}

// addWithoutManagedFields leaves out what scripts hardly ever read and is half of many objects.
func (b *batch) addWithoutManagedFields(o object.Object) {
	start := len(b.items)
	b.items = binary.LittleEndian.AppendUint32(b.items, 0)
	b.items = object.AppendWithoutManagedFields(b.items, o.Raw)
	binary.LittleEndian.PutUint32(b.items[start:], uint32(len(b.items)-start-headerSize))
	b.ends = append(b.ends, len(b.items))
	o.Raw = nil
	b.objects = append(b.objects, o)
}

func (b *batch) len() int    { return len(b.ends) }
func (b *batch) judged() int { return len(b.verdicts) }

// accepts says whether an object still goes into the batch. One always does.
func (b *batch) accepts(o object.Object, data object.JSON) bool {
	return b.len() == 0 ||
		b.kind == o.Kind && b.withData == (data != nil) && len(b.items)+2*headerSize+len(o.Raw)+len(data) <= batchSize
}

func (b *batch) start(i int) int {
	if i == 0 {
		return 0
	}
	return b.ends[i-1]
}

// object is the i-th object with its bytes.
func (b *batch) object(i int) object.Object {
	o := b.objects[i]
	begin := b.start(i) + headerSize
	end := begin + int(binary.LittleEndian.Uint32(b.items[begin-headerSize:]))
	o.Raw = b.items[begin:end:end]
	return o
}

// truncate forgets all objects but the first n.
func (b *batch) truncate(n int) {
	b.objects, b.items, b.ends = b.objects[:n], b.items[:b.start(n)], b.ends[:n]
}

// request is what to ask about the objects from one to before another.
func (b *batch) request(ask byte, number uint32, from, to int) [][]byte {
	head := binary.LittleEndian.AppendUint32([]byte{ask}, number)
	head = appendKind(head, b.kind)
	head = binary.LittleEndian.AppendUint32(head, uint32(to-from))
	return [][]byte{head, b.items[b.start(from):b.start(to)]}
}

// appendParts appends the items from one to before another with nothing but a part of each object.
func (b *batch) appendParts(dst []byte, part object.Part, from, to int) []byte {
	for i := from; i < to; i++ {
		start := len(dst)
		dst = binary.LittleEndian.AppendUint32(dst, 0)
		raw := b.object(i).Raw
		dst = part.Append(dst, raw)
		binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-headerSize))
		dst = append(dst, b.items[b.start(i)+headerSize+len(raw):b.ends[i]]...) // its data, if any
	}
	return dst
}
