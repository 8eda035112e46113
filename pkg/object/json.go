// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

// JSON is the text of one value that is known to be well-formed, such as ScanList yields. Nothing is decoded before it
// is asked for. Of text that is not well-formed the answers are arbitrary, but there is no panic.
type JSON []byte

// Type is what a JSON value is.
type Type uint8

// The types of JSON values. Absent is the type of a nil JSON, which Field returns for what is not there.
const (
	Absent Type = iota
	Null
	Bool
	Number
	String
	List
	Map
)

// String is the word for the type in messages.
func (t Type) String() string {
	switch t {
	case Null:
		return "null"
	case Bool:
		return "a boolean"
	case Number:
		return "a number"
	case String:
		return "a string"
	case List:
		return "a list"
	case Map:
		return "a map"
	}
	return "nothing"
}

// Type returns the type, which the first byte shows.
func (j JSON) Type() Type {
	i := skipSpace(j, 0)
	if i == len(j) {
		return Absent
	}
	switch j[i] {
	case '{':
		return Map
	case '[':
		return List
	case '"':
		return String
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	}
	return Number
}

// Key is a field's name as it stands in the text, with its quotes.
type Key []byte

// Is compares without decoding where the text has no escapes.
func (k Key) Is(name string) bool { return string(k.name()) == name }

// String decodes the name.
func (k Key) String() string { return string(k.name()) }

func (k Key) name() []byte {
	if len(k) < 2 || bytes.IndexByte(k, '\\') >= 0 {
		return JSON(k).unquoted()
	}
	return k[1 : len(k)-1]
}

// Fields yields the fields of a map in the order of the text; of anything else, nothing.
func (j JSON) Fields() iter.Seq2[Key, JSON] {
	return func(yield func(Key, JSON) bool) {
		for i, ok := open(j, 0, '{'); ok; {
			var key Key
			if key, i, ok = keyAt(j, i); !ok {
				return
			}
			end := skipValue(j, i)
			if end == i || !yield(key, j[i:end:end]) {
				return
			}
			i = skipComma(j, end)
		}
	}
}

// Elements yields the elements of a list; of anything else, nothing.
func (j JSON) Elements() iter.Seq[JSON] {
	return func(yield func(JSON) bool) {
		for i, ok := open(j, 0, '['); ok; {
			end := skipValue(j, i)
			if end == i || !yield(j[i:end:end]) {
				return
			}
			i = skipComma(j, end)
		}
	}
}

// WalkFields is Fields for who reads a value only once, however deep: rest begins with the field's value and goes on
// behind it. read returns how much of it was read, as WalkFields and WalkElements do; what it did not read is skipped.
// It returns how long the map is.
func (j JSON) WalkFields(read func(key Key, rest JSON) int) int {
	i, ok := open(j, 0, '{')
	for ok {
		var key Key
		if key, i, ok = keyAt(j, i); !ok {
			break
		}
		end := i + read(key, j[i:])
		if end == i {
			end = skipValue(j, i)
		}
		if end == i {
			break
		}
		i = skipComma(j, end)
	}
	return closed(j, i, '}')
}

// WalkElements is WalkFields for a list.
func (j JSON) WalkElements(read func(rest JSON) int) int {
	i, ok := open(j, 0, '[')
	for ok && i < len(j) && j[i] != ']' {
		end := i + read(j[i:])
		if end == i {
			end = skipValue(j, i)
		}
		if end == i {
			break
		}
		i = skipComma(j, end)
	}
	return closed(j, i, ']')
}

// closed is the index behind the bracket at i: the end of the text when none stands there.
func closed(text []byte, i int, bracket byte) int {
	if i < len(text) && text[i] == bracket {
		return i + 1
	}
	return len(text)
}

// Field is the value of a map's field, the last one where a name stands twice, as encoding/json has it. Nil when there
// is none.
func (j JSON) Field(name string) JSON {
	var found JSON
	for key, value := range j.Fields() {
		if key.Is(name) {
			found = value
		}
	}
	return found
}

// At is Field for a path of names.
func (j JSON) At(path ...string) JSON {
	for _, name := range path {
		j = j.Field(name)
	}
	return j
}

// Text decodes a string. Of anything else it is empty.
func (j JSON) Text() string { return string(j.unquoted()) }

// unquoted is Text as bytes, which are part of j where the text has no escapes.
func (j JSON) unquoted() []byte {
	i := skipSpace(j, 0)
	if i == len(j) || j[i] != '"' {
		return nil
	}
	end := skipString(j, i)
	inner := j[i+1 : max(i+1, end-1)]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var text string
	if json.Unmarshal(j[i:end], &text) != nil {
		return nil
	}
	return []byte(text)
}

// Decode makes a Go value: maps, slices, strings, booleans, nil, and json.Number, which keeps every digit.
func (j JSON) Decode() (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(j))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

// String is the text itself, without the white space around it.
func (j JSON) String() string { return strings.TrimSpace(string(j)) }
