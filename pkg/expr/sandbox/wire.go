// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/binary"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Both directions carry frames: u32 length, then that many bytes. All numbers are little-endian.
const headerSize = 4

// appendText writes a text of at most 64 KiB, which is longer than any text may be; what is longer is cut.
func appendText(b []byte, text string) []byte {
	text = text[:min(len(text), 1<<16-1)]
	b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	return append(b, text...)
}

func appendBytes(b, data []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	return append(b, data...)
}

// decoder takes values off the front of a frame. After a fault it yields zeros.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) take(n int) []byte {
	if d.bad || n < 0 || n > len(d.rest) {
		d.bad, d.rest = true, nil
		return nil
	}
	taken := d.rest[:n:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) u8() uint8 {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) u32() uint32 {
	if b := d.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) i64() int64 {
	if b := d.take(8); b != nil {
		return int64(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (d *decoder) text() string {
	if b := d.take(2); b != nil {
		return string(d.take(int(binary.LittleEndian.Uint16(b))))
	}
	return ""
}

// places are a number of numbers.
func (d *decoder) places() []int {
	var places []int
	for range d.u32() {
		if d.bad {
			return nil
		}
		places = append(places, int(d.u32()))
	}
	return places
}

func (d *decoder) bytes() []byte { return d.take(int(d.u32())) }

func appendKind(b []byte, k object.Kind) []byte {
	b = appendText(b, k.Group)
	b = appendText(b, k.Version)
	return appendText(b, k.Kind)
}

func (d *decoder) kind() object.Kind {
	var k object.Kind
	k.Group, k.Version, k.Kind = d.text(), d.text(), d.text()
	return k
}

// appendPart writes a part with its few fields.
func appendPart(b []byte, part object.Part) []byte {
	b = append(b, flag(part.Narrow), flag(part.ManagedFields), byte(len(part.Fields)))
	for _, field := range part.Fields {
		b = appendText(b, field)
	}
	return b
}

func (d *decoder) part() object.Part {
	part := object.Part{Narrow: d.flag(), ManagedFields: d.flag()}
	for range d.u8() {
		field := d.text()
		part.Fields = append(part.Fields, field)
		d.bad = d.bad || len(part.Fields) > lua.MaxFields || len(field) > lua.MaxField
	}
	return part
}

// flag takes what flag writes. Another byte is a mistake: what is read must be what was written.
func (d *decoder) flag() bool {
	b := d.u8()
	d.bad = d.bad || b > 1
	return b == 1
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// readFrame reads one frame into the buffer, which it grows if it must, and returns its content.
func readFrame(r io.Reader, buffer []byte, limit int) ([]byte, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(header[:]))
	if length == 0 || length > int64(limit) {
		return nil, &protocolError{fmt.Sprintf("a frame of %d bytes", length)}
	}
	if int64(cap(buffer)) < length {
		buffer = make([]byte, length)
	}
	buffer = buffer[:length]
	if _, err := io.ReadFull(r, buffer); err != nil {
		return nil, err
	}
	return buffer, nil
}

// protocolError says that a child answered what no child of ours answers.
type protocolError struct{ what string }

// Error names what was wrong.
func (e *protocolError) Error() string {
	return "the process that runs scripts sent " + e.what + ", which it never should; it was ended, and no answer of it is used"
}

// presentable says whether a text is as the lua package makes all texts.
func presentable(text string) bool {
	if len(text) > maxText || !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}
