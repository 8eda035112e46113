// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"strings"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Costs are counted much as Kubernetes does: a step of an evaluation costs 1, ten bytes of text that are read or made
// cost 1.
const (
	// objectCost is what all conditions together may cost on one object.
	objectCost = 100_000
	// runCost is what one run may cost. At about 0.1 microseconds a unit it is a hundred seconds, and a million objects at
	// a thousand units each; a usual condition costs 10 to 100.
	runCost = 1_000_000_000
	// interruptEvery is after how many turns of a loop it is seen that the context has ended.
	interruptEvery = 100
	// maxPattern is how many steps a regular expression may have when its repetitions are written out, and maxPatterns all
	// of a selector together. A step takes about 50 bytes.
	maxPattern  = 10_000
	maxPatterns = 100_000

	bytesPerUnit = 10
	// sizeShare is how much cheaper it is to count the characters of a text than to read or make it.
	sizeShare = 16
	// far is more than any limit, and can be added and multiplied a few times.
	far = 1 << 31
)

// isConstant reports whether a function takes the same time whatever the size of its arguments, though they may be maps
// or lists. Everything that is not listed here is taken to read its arguments to the bottom.
func isConstant(function string) bool {
	switch function {
	case operators.NotStrictlyFalse, "type", "dyn", "cel.@mapInsert", "first", "last",
		"optional.of", "optional.none", "optional.ofNonZeroValue", "value", "hasValue", "or", "orValue":
		return true
	}
	return false
}

// makingCost is what it costs to make a list or a map, beside its elements.
const makingCost = 10

// meter counts what is left of what one object may cost. It belongs to one evaluation.
type meter struct {
	left uint64
	// exhausted is true when something was not done because it cost more than was left.
	exhausted bool
	// stop ends the evaluation: an error alone does not, "||" and loops go on behind it.
	stop func()
}

// charge reports whether the units could be paid.
func (m *meter) charge(units uint64) bool {
	if units <= m.left {
		m.left -= units
		return true
	}
	if !m.exhausted {
		m.left, m.exhausted = 0, true
		m.stop()
	}
	return false
}

// callCost is what a call will cost, as far as its arguments show. It is asked before the call is
// made, so it must itself not cost more than that.
//
// cel-go's own accounting asks what a call has cost after it was made, and takes a list of lists to be as large as the
// outer one. That is too late for a result that is a million times larger than the expression.
func callCost(function string, args []ref.Val) uint64 { //nolint:cyclop // a flat switch over functions
	switch function {
	case operators.Add:
		return 1 + sumCost(args)
	case operators.Equals, operators.NotEquals:
		return 1 + weigh(args[1], weigh(args[0], far))
	case operators.In:
		if _, isMap := args[1].(traits.Mapper); isMap {
			return 1
		}
		return 1 + weigh(args[1], far)
	case "size": // the result costs 1
		return units(uint64(len(textAt(args, 0)))) / sizeShare
	case expiresAt:
		return expiresCost
	case "lists.range":
		n, _ := args[0].(types.Int)
		return 1 + uint64(max(0, min(n, far)))
	case "replace":
		return 1 + replaceCost(args)
	case "join":
		return 1 + weigh(args[0], far) + units(uint64(elements(args[0])*len(textAt(args, 1))))
	case "format":
		return 1 + weighAll(args) + units(precisions(textAt(args, 0)))
	case "matches", "find", "findAll":
		return patternCost(textAt(args, 0), stepsOfText(textAt(args, 1)))
	case "distinct", "sets.contains", "sets.equivalent", "sets.intersects":
		return 1 + weighAll(args)*uint64(1+elements(args[0]))
	case "indexOf", "lastIndexOf": // of texts, each place is compared; of lists, each element
		return 1 + weighAll(args) + units(uint64(len(textAt(args, 0)))*uint64(len(textAt(args, 1))))
	case "sort", "list.@sortByAssociatedKeys", "@sortByAssociatedKeys":
		return 1 + 16*weighAll(args)
	}
	return 1 + weighAll(args)
}

// textAt is the argument, if it is there and is text.
func textAt(args []ref.Val, i int) string {
	if i < len(args) {
		if s, ok := args[i].(types.String); ok {
			return string(s)
		}
	}
	return ""
}

func units(bytes uint64) uint64 { return min(bytes, far) / bytesPerUnit }

// elements is the size of a list. Of anything else it is 0.
func elements(v ref.Val) int {
	if list, ok := v.(traits.Lister); ok {
		if n, ok := list.Size().(types.Int); ok {
			return int(max(0, min(n, far)))
		}
	}
	return 0
}

func weighAll(args []ref.Val) uint64 {
	var total uint64
	for _, arg := range args {
		total += weigh(arg, far)
	}
	return total
}

// weigh is what it costs to read a value to the bottom. It stops soon behind the limit, and behind the limit of an
// object.
func weigh(v ref.Val, limit uint64) uint64 {
	limit = min(limit, objectCost)
	switch v := v.(type) {
	case types.String:
		return 1 + units(uint64(len(v)))
	case types.Bytes:
		return 1 + units(uint64(len(v)))
	case *mapValue:
		return weighText(v.text, &v.weight)
	case *listValue:
		return weighText(v.text, &v.weight)
	case *types.Optional:
		if v.HasValue() {
			return 1 + weigh(v.GetValue(), limit)
		}
	case traits.Mapper:
		return weighMap(v, limit)
	case traits.Lister:
		return weighList(v, limit)
	}
	return 1
}

func weighMap(v traits.Mapper, limit uint64) uint64 {
	total := uint64(1)
	for it := v.Iterator(); total <= limit && it.HasNext() == types.True; {
		key := it.Next()
		total += 1 + weigh(key, limit-total)
		if held, ok := v.Find(key); ok && total <= limit {
			total += weigh(held, limit-total)
		}
	}
	return total
}

func weighList(v traits.Lister, limit uint64) uint64 {
	total := uint64(1)
	n := types.Int(elements(v))
	for i := types.Int(0); i < n && total <= limit; i++ {
		total += 1 + weigh(v.Get(i), limit-total)
	}
	return total
}

// shallow is up to how many levels JSON text is read in one go. To format what is deeper is to copy it that many times.
const shallow = 32

// weighText is what it costs to read JSON text to the bottom. It is found out once.
func weighText(text object.JSON, known *uint64) uint64 {
	if *known == 0 {
		depth, deepest := 0, 0
		for _, c := range text { // brackets in strings only make it dearer
			switch c {
			case '{', '[':
				depth++
				deepest = max(deepest, depth)
			case '}', ']':
				depth--
			}
		}
		*known = 1 + units(uint64(len(text)))*uint64(1+deepest/shallow)
	}
	return *known
}

// sumCost is what it costs to put two texts or lists together. Lists are not copied, but what is in one is read.
func sumCost(args []ref.Val) uint64 {
	var total uint64
	for _, arg := range args {
		switch arg := arg.(type) {
		case types.String, types.Bytes, *listValue:
			total += weigh(arg, far)
		}
	}
	return total
}

// replaceCost counts the result, which can be as long as the product of the arguments.
func replaceCost(args []ref.Val) uint64 {
	from, put := textAt(args, 0), textAt(args, 2)
	found := strings.Count(from, textAt(args, 1)) // of nothing, it is one more than there are characters
	if len(args) > 3 {
		if n, ok := args[3].(types.Int); ok && n >= 0 {
			found = min(found, int(min(n, far)))
		}
	}
	return units(uint64(2*len(from))) + units(uint64(found)*uint64(len(put)))
}

// precisions adds up the numbers in a format, such as 1000 in "%.1000f": so long may the result be.
func precisions(format string) uint64 {
	var total, number uint64
	for i := range len(format) {
		if c := format[i]; c >= '0' && c <= '9' {
			number = min(number*10+uint64(c-'0'), far)
			continue
		}
		total, number = total+number, 0
	}
	return total + number
}
