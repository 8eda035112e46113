// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"strings"
	"time"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/kubecleaner/kubecleaner/pkg/mark"
)

// expiresAt is the function that reads time marks: when the time of an object is over.
const expiresAt = "expiresAt"

// expiresCost is what a call of it costs: it looks at a few fields, however large the object is.
const expiresCost = 50

// Earlier and later times than these are not given, and endOfTime stands for never, too. A duration has at most 292
// years: the difference between now and each time that is given is one, so that an object without a mark does not keep
// others from being judged.
var (
	beginOfTime = time.Unix(0, 0).UTC()
	endOfTime   = time.Date(2200, time.January, 1, 0, 0, 0, 0, time.UTC)
)

func marks() celgo.EnvOption {
	return celgo.Function(
		expiresAt,
		celgo.Overload(
			"expires_at_dyn",
			[]*celgo.Type{celgo.DynType},
			celgo.TimestampType,
			celgo.UnaryBinding(func(o ref.Val) ref.Val {
				return expiry(o, nil)
			}),
		),
		celgo.Overload(
			"expires_at_dyn_list",
			[]*celgo.Type{celgo.DynType, celgo.ListType(celgo.StringType)},
			celgo.TimestampType,
			celgo.BinaryBinding(expiryOf),
		),
	)
}

// expiryOf reads the marks of some dialects.
func expiryOf(o, of ref.Val) ref.Val {
	list, ok := of.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(of)
	}
	var dialects []mark.Dialect
	for i := range elements(list) {
		name, ok := list.Get(types.Int(i)).(types.String)
		if !ok {
			return types.NewErr("%s: a dialect must be a text", expiresAt)
		}
		dialects = append(dialects, mark.Dialect(name))
	}
	if err := mark.Check(dialects); err != nil {
		return types.NewErr("%s: %s", expiresAt, err)
	}
	return expiry(o, dialects)
}

func expiry(o ref.Val, dialects []mark.Dialect) ref.Val {
	metadata := fieldOf(o, "metadata")
	if metadata == nil {
		return types.NewErr("%s: it needs an object: write %s(object)", expiresAt, expiresAt)
	}
	text := func(of ref.Val) func(string) (string, bool) {
		return func(key string) (string, bool) {
			text, ok := fieldOf(of, key).(types.String)
			return string(text), ok
		}
	}
	created, _ := fieldOf(metadata, "creationTimestamp").(types.String)
	at, _ := time.Parse(time.RFC3339, string(created)) // zero where nobody knows
	last, ok, err := mark.Last(mark.Of(mark.Read(mark.Object{
		Created: at, Label: text(fieldOf(metadata, "labels")), Annotation: text(fieldOf(metadata, "annotations")),
		IsPod:   fieldOf(o, "kind") == types.String("Pod") && fieldOf(o, "apiVersion") == types.String("v1"),
		IsOwned: elements(fieldOf(metadata, "ownerReferences")) > 0,
	}), dialects...))
	switch {
	case err != nil:
		return types.NewErr("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	case !ok || last.Never || last.Ends.After(endOfTime):
		return types.Timestamp{Time: endOfTime}
	case last.Ends.Before(beginOfTime):
		return types.Timestamp{Time: beginOfTime}
	}
	return types.Timestamp{Time: last.Ends.UTC()}
}

// fieldOf is a field of a map; nil when it is not there, or when there is no map.
func fieldOf(v ref.Val, name string) ref.Val {
	m, ok := v.(traits.Mapper)
	if !ok {
		return nil
	}
	found, ok := m.Find(types.String(name))
	if !ok {
		return nil
	}
	return found
}

// readsMarks reports whether an expression is the call that reads the marks of the object.
func readsMarks(e ast.Expr) bool {
	if e.Kind() != ast.CallKind {
		return false
	}
	call := e.AsCall()
	return call.FunctionName() == expiresAt && !call.IsMemberFunction() && len(call.Args()) > 0 && isObject(call.Args()[0])
}
