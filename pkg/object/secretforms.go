// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// form is how a value may be written in a text. The form of a part of a value, from its beginning on, is the beginning
// of the value's form, but for up to unsure bytes at its end: white space is left out there, and a character may be
// incomplete. A part for which that holds is a multiple of three bytes long.
type form func(plain string) string

const (
	// unsure is as long as Go writes the bytes of an incomplete character.
	unsure = 24
	// firstPart is how much of a value is enough, mostly, to see that a text goes on in another way.
	firstPart = 48
)

var forms = [...]form{
	func(plain string) string { return plain },
	strings.TrimSpace,
	onOneLine,
	func(plain string) string { return base64.StdEncoding.EncodeToString([]byte(plain)) },
	func(plain string) string { return base64.RawStdEncoding.EncodeToString([]byte(plain)) },
	func(plain string) string { return inner(strconv.Quote(plain)) },
	asJSON,
	asNumbers,
}

// beginning is how a form of a value begins: minSecret bytes at least, unless the form is shorter.
func beginning(form form, plain string) string {
	for size := firstPart; ; size *= 4 {
		part := form(plain[:min(size, len(plain))])
		if size >= len(plain) || len(part) >= minSecret+unsure {
			return part
		}
	}
}

// onOneLine is a value as messages have it.
func onOneLine(plain string) string {
	return strings.TrimSpace(withoutBreaks.Replace(plain))
}

var withoutBreaks = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ")

// asJSON is as Go programs write JSON: <, > and & by their numbers.
func asJSON(plain string) string {
	written, err := json.Marshal(plain)
	if err != nil {
		return ""
	}
	return inner(string(written))
}

// asNumbers is as Go programs print bytes.
func asNumbers(plain string) string {
	if len(plain) < minSecret {
		return ""
	}
	return inner(fmt.Sprintf("%d", []byte(plain)))
}

// inner is what stands between quotes or brackets.
func inner(quoted string) string { return quoted[1 : len(quoted)-1] }
