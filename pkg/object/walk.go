// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/binary"
	"math/bits"
)

// What follows finds where things end in JSON text that is known to be well-formed. In text that is not, every step
// still either moves forward or says that there is no more, and no index leaves the text.

// open returns the index of the first thing in the map or list that begins at i. ok is false when none begins there.
func open(text []byte, i int, bracket byte) (first int, ok bool) {
	i = skipSpace(text, i)
	if i == len(text) || text[i] != bracket {
		return i, false
	}
	return skipSpace(text, i+1), true
}

// keyAt finds the key that begins at i, and where its value begins. ok is false when there is none, as at the end of
// the map.
func keyAt(text []byte, i int) (key Key, from int, ok bool) {
	if i == len(text) || text[i] != '"' {
		return nil, i, false
	}
	end := skipString(text, i)
	key = Key(text[i:end:end])
	if i = skipSpace(text, end); i == len(text) || text[i] != ':' {
		return nil, i, false
	}
	i = skipSpace(text, i+1)
	return key, i, i < len(text)
}

// closeMap returns the index behind the map whose fields end at i: the end of the text when no bracket stands there.
func closeMap(text []byte, i int) int {
	if i < len(text) && text[i] == '}' {
		return i + 1
	}
	return len(text)
}

func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// skipComma returns the index of what follows the value that ends at i: the next one, or the closing bracket.
func skipComma(text []byte, i int) int {
	if i = skipSpace(text, i); i < len(text) && text[i] == ',' {
		i = skipSpace(text, i+1)
	}
	return i
}

// skipValue returns the index behind the value that begins at i, and i itself when none does.
func skipValue(text []byte, i int) int {
	if i == len(text) {
		return i
	}
	switch text[i] {
	case '"':
		return skipString(text, i)
	case '{', '[':
		return skipBrackets(text, i)
	}
	return skipScalar(text, i)
}

// skipBrackets returns the index behind the map or list that begins at i. It only counts brackets: in well-formed text
// they match.
func skipBrackets(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		if text[i] == '"' {
			i = skipString(text, i)
			continue
		}
		// '[' and '{' differ in this bit only, and so do ']' and '}'; no other byte of JSON text outside of strings becomes
		// one.
		switch text[i] | ('{' ^ '[') {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(text)
}

// skipString returns the index behind the string that begins at i. Most strings are short, so that eight bytes at a
// time are faster than bytes.IndexByte.
func skipString(text []byte, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	const quotes, slashes = '"' * ones, '\\' * ones
	for i++; i+8 <= len(text); {
		word := binary.LittleEndian.Uint64(text[i:])
		quote, slash := word^quotes, word^slashes
		// The top bit of a byte becomes set where it is zero: surely in the first such byte, which is the one that counts.
		found := ((quote-ones)&^quote | (slash-ones)&^slash) & tops
		if found == 0 {
			i += 8
			continue
		}
		if i += bits.TrailingZeros64(found) / 8; text[i] == '"' {
			return i + 1
		}
		i += 2
	}
	for ; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(text)
}

// skipScalar returns the index behind a number, true, false or null.
func skipScalar(text []byte, i int) int {
	for ; i < len(text); i++ {
		switch text[i] {
		case ',', '}', ']', ':', ' ', '\n', '\t', '\r', '"', '{', '[':
			return i
		}
	}
	return i
}
