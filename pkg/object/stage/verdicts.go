// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"encoding/binary"
	"iter"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Verdicts keeps verdicts on very many objects. Of each object it keeps who it is, in less than 120 bytes with a usual
// name, and its bytes only if Bodies is set. The zero value is empty.
type Verdicts struct {
	// Bodies keeps the objects' bytes too, for a later stage that copies or changes them. It is set before the first Add.
	// The bytes that are added then belong to the Verdicts.
	Bodies bool

	// bodies are the objects' bytes, in the order of Add.
	bodies [][]byte
	// chunks hold the verdicts one behind the other, none across two of them. They never move, so that growing copies
	// nothing.
	chunks [][]byte
	n      int
	bytes  int
	kinds  []object.Kind
	// words are texts that many verdicts have in common: namespaces, and why objects are left alone.
	words  []string
	places map[string]uint64
}

// verdictChunk is the size of a chunk in bytes. A verdict that is larger has one of its own.
const verdictChunk = 16 << 10

// Len is how many verdicts there are.
func (v *Verdicts) Len() int { return v.n }

// Bytes is about how much memory they take.
func (v *Verdicts) Bytes() int { return v.bytes }

// Add adds a verdict.
func (v *Verdicts) Add(verdict Verdict) {
	var head [7 * binary.MaxVarintLen64]byte
	entry := binary.AppendUvarint(head[:0], v.kind(verdict.Kind))
	entry = binary.AppendUvarint(entry, uint64(verdict.Selector))
	skip := ""
	if !verdict.Act {
		skip = string(verdict.Skip)
	}
	for _, word := range []string{skip, verdict.Reason, verdict.Namespace} {
		entry = binary.AppendUvarint(entry, v.word(word))
	}
	entry = binary.AppendVarint(entry, secondsOf(verdict.Created, verdict.Deleting))
	if v.Bodies {
		v.bodies = append(v.bodies, verdict.Raw)
		v.bytes += bodySize + len(verdict.Raw)
	}
	texts := []string{verdict.Name, string(verdict.UID), verdict.ResourceVersion, verdict.Message}
	size := len(entry)
	for _, text := range texts {
		size += binary.MaxVarintLen32 + len(text)
	}
	last := len(v.chunks) - 1
	if last < 0 || cap(v.chunks[last])-len(v.chunks[last]) < size {
		v.chunks = append(v.chunks, make([]byte, 0, max(size, verdictChunk)))
		last++
		v.bytes += cap(v.chunks[last])
	}
	chunk := append(v.chunks[last], entry...)
	for _, text := range texts {
		chunk = append(binary.AppendUvarint(chunk, uint64(len(text))), text...)
	}
	v.chunks[last] = chunk
	v.n++
}

// All are the verdicts with their places, in the order of Add.
func (v *Verdicts) All() iter.Seq2[int, Verdict] {
	return func(yield func(int, Verdict) bool) {
		i := 0
		for _, chunk := range v.chunks {
			for at := 0; at < len(chunk); i++ {
				var verdict Verdict
				verdict, at = v.read(chunk, at)
				if v.Bodies {
					verdict.Raw = v.bodies[i]
				}
				if !yield(i, verdict) {
					return
				}
			}
		}
	}
}

// Truncate forgets all but the first n verdicts.
func (v *Verdicts) Truncate(n int) {
	for _, body := range v.bodies[min(n, len(v.bodies)):] {
		v.bytes -= bodySize + len(body)
	}
	clear(v.bodies[min(n, len(v.bodies)):])
	v.bodies = v.bodies[:min(n, len(v.bodies))]
	i := 0
	for c, chunk := range v.chunks {
		at := 0
		for ; at < len(chunk) && i < n; i++ {
			_, at = v.read(chunk, at)
		}
		if i < n {
			continue
		}
		v.chunks[c] = chunk[:at]
		for _, gone := range v.chunks[c+1:] {
			v.bytes -= cap(gone)
		}
		clear(v.chunks[c+1:])
		v.chunks, v.n = v.chunks[:c+1], n
		return
	}
}

// read returns the verdict at a place in a chunk, and the place behind it.
func (v *Verdicts) read(chunk []byte, at int) (verdict Verdict, end int) {
	number := func() uint64 {
		value, size := binary.Uvarint(chunk[at:])
		at += size
		return value
	}
	text := func() string {
		size := int(number())
		at += size
		return string(chunk[at-size : at])
	}
	verdict.Kind = v.kinds[number()]
	verdict.Selector = int(number())
	verdict.Skip = v1alpha1.OutcomeResult(v.words[number()])
	verdict.Act = verdict.Skip == ""
	verdict.Reason, verdict.Namespace = v.words[number()], v.words[number()]
	seconds, size := binary.Varint(chunk[at:])
	at += size
	verdict.Created, verdict.Deleting = timeOf(seconds)
	verdict.Name, verdict.UID, verdict.ResourceVersion, verdict.Message = text(), types.UID(text()), text(), text()
	return verdict, at
}

// secondsOf is when an object was created, in seconds since 1970, and whether it is being deleted, in the last bit.
// Zero is an unknown time.
func secondsOf(created time.Time, deleting bool) int64 {
	seconds := int64(0)
	if !created.IsZero() {
		seconds = created.Unix() << 1
	}
	if deleting {
		seconds |= 1
	}
	return seconds
}

// timeOf is the reverse of secondsOf.
func timeOf(seconds int64) (created time.Time, deleting bool) {
	if seconds>>1 != 0 {
		created = time.Unix(seconds>>1, 0).UTC()
	}
	return created, seconds&1 == 1
}

func (v *Verdicts) kind(kind object.Kind) uint64 {
	i := slices.Index(v.kinds, kind)
	if i < 0 {
		i = len(v.kinds)
		v.kinds = append(v.kinds, kind)
	}
	return uint64(i)
}

func (v *Verdicts) word(word string) uint64 {
	place, ok := v.places[word]
	if !ok {
		if v.places == nil {
			v.places = map[string]uint64{}
		}
		place = uint64(len(v.words))
		v.words, v.places[word] = append(v.words, word), place
		v.bytes += len(word) + wordSize
	}
	return place
}

// wordSize is about what a word takes besides its own bytes, and bodySize an object's bytes.
const wordSize, bodySize = 80, 32
