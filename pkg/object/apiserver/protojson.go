// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protowire"
)

// wireField is a field as protobuf writes it: a number, or bytes.
type wireField struct {
	id     protowire.Number
	isText bool
	number uint64
	bytes  []byte
}

// cutField takes the first field off a message.
func cutField(message []byte) (f wireField, rest []byte, err error) {
	id, wire, tag := protowire.ConsumeTag(message)
	f.id = id
	n := -1
	switch {
	case tag < 0:
	case wire == protowire.BytesType:
		f.isText = true
		f.bytes, n = protowire.ConsumeBytes(message[tag:])
	case wire == protowire.VarintType:
		f.number, n = protowire.ConsumeVarint(message[tag:])
	}
	if n < 0 {
		return f, nil, fmt.Errorf("%w: field %d of type %d", ErrProtobuf, id, wire)
	}
	return f, message[tag+n:], nil
}

// AppendJSON appends to dst what a message in protobuf says, as JSON. It fails with ErrProtobuf on a field that the
// type does not have: the server may be newer.
func (m *Message) AppendJSON(dst, message []byte) ([]byte, error) {
	dst, err := m.appendFields(append(dst, '{'), message)
	return append(dst, '}'), err
}

func (m *Message) appendFields(dst, message []byte) ([]byte, error) {
	var seen uint64
	end := "" // of a list or a map that may go on
	last := protowire.Number(0)
	for len(message) > 0 {
		value, rest, err := cutField(message)
		if err != nil {
			return dst, err
		}
		f := m.field(value)
		if f == nil || seen&(1<<value.id) != 0 && (value.id != last || !f.isMany()) {
			return dst, fmt.Errorf("%w: a field %d of %s", ErrProtobuf, value.id, m.name)
		}
		if value.id != last {
			dst, end = f.appendName(append(dst, end...), value)
		}
		if dst, err = f.appendValue(dst, value); err != nil {
			return dst, err
		}
		message, last, seen = rest, value.id, seen|1<<value.id
	}
	return append(dst, end...), nil
}

// field is the field that a value is of. Nil if there is none of its number and type.
func (m *Message) field(value wireField) *messageField {
	if value.id < 1 || value.id > maxFieldNumber {
		return nil
	}
	f := m.fields[value.id]
	if f != nil && value.isText != (f.isMap || f.form != formBool && f.form != formNumber) {
		return nil
	}
	return f
}

// isMany reports whether there may be several values.
func (f *messageField) isMany() bool { return f.isList || f.isMap }

// isLeftOut reports whether JSON does not have the value.
func (f *messageField) isLeftOut(value wireField) bool {
	return f.form == formNone || f.omitEmpty && f.form != formMessage && value.number == 0 && len(value.bytes) == 0
}

// appendName appends what stands before the value, or before the first of many. end is what stands behind the last.
func (f *messageField) appendName(dst []byte, value wireField) (_ []byte, end string) {
	if f.isLeftOut(value) || len(f.name) == 0 {
		return dst, ""
	}
	dst = append(appendComma(dst), f.name...)
	switch {
	case f.isMap:
		return append(dst, '{'), "}"
	case f.isList:
		return append(dst, '['), "]"
	}
	return dst, ""
}

// appendComma appends a comma if a value stands before.
func appendComma(dst []byte) []byte {
	switch dst[len(dst)-1] {
	case '{', '[', ':':
		return dst
	}
	return append(dst, ',')
}

func (f *messageField) appendValue(dst []byte, value wireField) ([]byte, error) {
	switch {
	case f.isLeftOut(value):
		return dst, nil
	case len(f.name) == 0:
		return f.message.appendFields(dst, value.bytes)
	case f.isMap:
		return f.appendPair(appendComma(dst), value.bytes)
	}
	return f.append(appendComma(dst), value)
}

// appendPair appends a pair of a map: its key is field 1, its value field 2.
func (f *messageField) appendPair(dst, pair []byte) ([]byte, error) {
	parts, err := cutTwo(pair)
	if err == nil {
		dst, err = appendText(dst, parts[0].bytes)
	}
	if err != nil {
		return dst, err
	}
	return f.append(append(dst, ':'), parts[1])
}

// cutTwo takes a message apart that has two fields.
func cutTwo(message []byte) (two [2]wireField, err error) {
	for len(message) > 0 {
		var f wireField
		if f, message, err = cutField(message); err != nil {
			return two, err
		}
		if f.id > 2 {
			return two, fmt.Errorf("%w: a third field %d", ErrProtobuf, f.id)
		}
		two[f.id-1] = f
	}
	return two, nil
}

// append appends one value.
func (f *messageField) append(dst []byte, value wireField) ([]byte, error) {
	switch f.form {
	case formBool:
		return strconv.AppendBool(dst, value.number != 0), nil
	case formNumber:
		return strconv.AppendInt(dst, int64(value.number), 10), nil
	case formText:
		return appendText(dst, value.bytes)
	case formBytes:
		return append(base64.StdEncoding.AppendEncode(append(dst, '"'), value.bytes), '"'), nil
	case formMessage:
		return f.message.AppendJSON(dst, value.bytes)
	case formTime, formQuantity:
		return f.appendSpecial(dst, value.bytes)
	}
	return f.appendOwn(dst, value.bytes)
}

// appendSpecial appends a time or a quantity. Field 1 of a quantity is its text, and that of a time are its seconds: in
// JSON it has no fractions.
func (f *messageField) appendSpecial(dst, message []byte) ([]byte, error) {
	two, err := cutTwo(message)
	switch {
	case err != nil:
		return dst, err
	case f.form == formQuantity:
		return appendText(dst, two[0].bytes)
	case len(message) == 0:
		return append(dst, "null"...), nil
	}
	dst = time.Unix(int64(two[0].number), 0).UTC().AppendFormat(append(dst, '"'), time.RFC3339)
	return append(dst, '"'), nil
}

// appendOwn appends a value that knows itself how it is written.
func (f *messageField) appendOwn(dst, value []byte) ([]byte, error) {
	own, isOwn := reflect.New(f.typ).Interface().(ownForm)
	if !isOwn {
		return dst, fmt.Errorf("%w: a value of %s", ErrProtobuf, f.typ)
	}
	err := own.Unmarshal(value)
	text, failed := json.Marshal(own)
	if err = errors.Join(err, failed); err != nil {
		return dst, fmt.Errorf("%w: %s: %w", ErrProtobuf, f.typ, err)
	}
	return append(dst, text...), nil
}

// appendText appends a text with quotes. Most have nothing to escape.
func appendText(dst, text []byte) ([]byte, error) {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, err := jsontext.AppendQuote(dst, text)
			if err != nil {
				err = fmt.Errorf("%w: %w", ErrProtobuf, err)
			}
			return quoted, err
		}
	}
	return append(append(append(dst, '"'), text...), '"'), nil
}
