// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"strings"
	"time"

	gopher "github.com/yuin/gopher-lua"

	"github.com/kubecleaner/kubecleaner/pkg/mark"
)

// expiresAt returns when the time of an object is over by its time marks, in Unix seconds as os.time has them. It
// returns nil when it never is. A mark that cannot be read is an error: the object stays. A list as the second argument
// names the dialects that count.
func expiresAt(state *gopher.LState) int {
	o := state.CheckTable(1)
	var dialects []mark.Dialect
	if names := state.OptTable(2, nil); names != nil {
		for i := 1; ; i++ {
			name := state.GetTable(names, gopher.LNumber(i))
			if name == gopher.LNil {
				break
			}
			dialects = append(dialects, mark.Dialect(name.String()))
			if err := mark.Check(dialects[i-1:]); err != nil {
				state.RaiseError("expiresAt: %s", err)
			}
		}
	}
	metadata := state.GetField(o, "metadata")
	if metadata.Type() != gopher.LTTable {
		state.RaiseError("expiresAt needs an object: write expiresAt(obj)")
	}
	last, ok, err := mark.Last(mark.Of(mark.Read(markedObject(state, o, metadata)), dialects...))
	switch {
	case err != nil:
		state.RaiseError("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	case !ok || last.Never:
		state.Push(gopher.LNil)
	default:
		state.Push(gopher.LNumber(last.Ends.Unix()))
	}
	return 1
}

// markedObject is an object as marks are read from it.
func markedObject(state *gopher.LState, o, metadata gopher.LValue) mark.Object {
	field := func(of gopher.LValue, name string) gopher.LValue {
		if of.Type() != gopher.LTTable {
			return gopher.LNil
		}
		return state.GetField(of, name)
	}
	text := func(of gopher.LValue) func(string) (string, bool) {
		return func(key string) (string, bool) {
			value := field(of, key)
			return value.String(), value != gopher.LNil
		}
	}
	created, _ := time.Parse(time.RFC3339, field(metadata, "creationTimestamp").String()) // zero where nobody knows
	owners := field(metadata, "ownerReferences")
	return mark.Object{
		Created: created, Label: text(field(metadata, "labels")), Annotation: text(field(metadata, "annotations")),
		IsPod:   field(o, "kind").String() == "Pod" && field(o, "apiVersion").String() == "v1",
		IsOwned: owners.Type() == gopher.LTTable && state.GetTable(owners, gopher.LNumber(1)) != gopher.LNil,
	}
}
