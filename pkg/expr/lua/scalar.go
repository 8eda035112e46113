// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	gopher "github.com/yuin/gopher-lua"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// maxExact is the largest whole number up to which a double has them all.
const maxExact = 1 << 53

// scalarOf converts what is neither a map nor a list. Numbers are doubles in Lua, which prints whole ones without ".0";
// a number out of range is infinite there, and its text survives in the source.
func scalarOf(raw object.JSON) gopher.LValue {
	switch raw[0] {
	case '"':
		return gopher.LString(raw.Text())
	case 't':
		return gopher.LTrue
	case 'f':
		return gopher.LFalse
	case 'n':
		return gopher.LNil
	}
	if number, ok := smallNumber(raw); ok {
		return number
	}
	number, _ := strconv.ParseFloat(string(raw), 64)
	return gopher.LNumber(number)
}

// smallNumber reads what most numbers are: a few digits.
func smallNumber(raw object.JSON) (gopher.LNumber, bool) {
	if len(raw) > 15 {
		return 0, false
	}
	number := 0
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		number = 10*number + int(c-'0')
	}
	return gopher.LNumber(number), true
}

// newScalar makes a JSON value of what a script set.
func newScalar(value gopher.LValue, at *path) (any, error) {
	switch value := value.(type) {
	case gopher.LBool:
		return bool(value), nil
	case gopher.LString:
		if !utf8.ValidString(string(value)) {
			return nil, faultf("the text at %s is not valid UTF-8; string.sub may have cut a character in two", at)
		}
		return string(value), nil
	case gopher.LNumber:
		return newNumber(float64(value), at)
	}
	return nil, faultf("transform returned %s at %s", described(value), at)
}

func newNumber(number float64, at *path) (any, error) {
	switch {
	case math.IsNaN(number) || math.IsInf(number, 0):
		return nil, faultf("the number at %s is not finite; look for a division by zero", at)
	case number != math.Trunc(number):
		return json.Number(strconv.FormatFloat(number, 'g', -1, 64)), nil
	case math.Abs(number) > maxExact:
		return nil, faultf("the number at %s is larger than 2^53, which Lua cannot hold exactly; leave it unchanged", at)
	}
	return json.Number(strconv.FormatInt(int64(number), 10)), nil
}
