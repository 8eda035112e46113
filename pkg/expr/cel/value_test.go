// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// asked are expressions on object.x and object.y. What they do does not depend on the order of a map's fields, which
// cel-go's own maps do not keep.
var asked = []string{
	"object.x", "object.y", "object.x == object.y", "object.x != object.y", "object.x.a", "object.x.a.b", "object.x[0]", "object.x['a']", "object[object.x]",
	"has(object.x)", "has(object.x.a)", "has(object.x.a.b)", "object.?x.?a.?b.orValue(1)", "object.x[?'a'].hasValue()", "object.x[?1].orValue(object.y)",
	"size(object.x)", "object.x + object.y", "object.x < object.y", "object.x in object.y", "'a' in object.x", "1 in object.x", "object.x == 1", "object.x == 1.0",
	"object.x == 'a'", "object.x == null", "object.x == [] || object.x == {}", "type(object.x)", "string(object.x)", "int(object.x)", "double(object.x)", "bool(object.x)",
	"object.x.all(e, e == 1)", "object.x.exists(e, e == 'a')", "object.x.filter(e, e == 'a')", "object.x.map(e, e).size()", "object.x.all(k, v, v == 1)",
	"object.x.transformMap(k, v, v)", "object.x.transformList(i, v, v).size()", "[object.x] == [object.y]", "{'k': object.x} == {'k': object.y}", "[object.x, object.y].distinct()",
	"object.x.sort()", "object.x.sum()", "object.x.max()", "object.x.min()", "object.x.isSorted()", "object.x.reverse()", "object.x.flatten()", "object.x.distinct()",
	"object.x.join(',')", "object.x.indexOf('a')", "object.x.contains('a')", "object.x.matches('a+')", "object.x.find('a+')", "object.x.findAll('a')",
	"sets.equivalent(object.x, object.y)", "sets.contains(object.x, object.y)", "'%s %s'.format([object.x, object.y])", "optional.ofNonZeroValue(object.x).hasValue()",
	"object.x ? 1 : 2", "!object.x", "-object.x", "object.x * 2", "object.x % 2", "quantity(object.x)", "timestamp(object.x)", "dyn(object.x)", "object == object",
	"object.kind + object.apiVersion", "object.size()", "object.x.lowerAscii()", "object.x.split('a')", "object.x.replace('a', 'bb')", "object.x.slice(0, 1)", "object.x.first()",
}

// What an expression sees of the text is the same as of the object that Kubernetes decodes from it.
func TestTextIsAsGoodAsDecoded(t *testing.T) {
	var conditions []v1alpha1.MatchCondition
	for _, expression := range asked {
		conditions = append(conditions, v1alpha1.MatchCondition{Name: expression, Expression: "dyn(" + expression + ")"})
	}
	program := compiled(t, conditions...)
	kind := raw("").Kind
	agreed := map[bool]int{}
	enough := meter{left: far, stop: func() {}}
	rapid.Check(t, func(t *rapid.T) {
		text := fmt.Sprintf(`{"x":%s,"kind":"Other","y":%s}`, jsonText(3).Draw(t, "x"), jsonText(3).Draw(t, "y"))
		var decoded map[string]any
		if err := kubejson.Unmarshal([]byte(text), &decoded); err != nil {
			t.Fatal(err)
		}
		decoded["kind"], decoded["apiVersion"] = kind.Kind, kind.APIVersion()
		for i := range program.conditions {
			c := &program.conditions[i]
			lazy := &variables{object: &mapValue{text: object.JSON(text), kind: &kind, mem: new(memory)}, now: types.Timestamp{Time: noon}, meter: enough}
			eager := &variables{object: types.DefaultTypeAdapter.NativeToValue(decoded), now: lazy.now, meter: enough}
			got, _, gotErr := c.program.ContextEval(t.Context(), lazy)
			want, _, wantErr := c.program.ContextEval(t.Context(), eager)
			if (gotErr == nil) != (wantErr == nil) {
				t.Fatalf("%s of %s: got %v, %v; want %v, %v", c.name, text, got, gotErr, want, wantErr)
			}
			if gotErr == nil && !same(got, want) {
				t.Fatalf("%s of %s: got %v, want %v", c.name, text, got, want)
			}
			agreed[gotErr == nil]++
		}
	})
	if agreed[true] < 1000 || agreed[false] < 1000 {
		t.Errorf("it proves nothing: %d results and %d errors", agreed[true], agreed[false])
	}
}

// same compares both ways, and the types.
func same(a, b ref.Val) bool {
	return a.Type().TypeName() == b.Type().TypeName() && types.Equal(a, b) == types.True && types.Equal(b, a) == types.True
}

// jsonText makes JSON of few words, so that values are often equal, with white space and repeated names.
func jsonText(depth int) *rapid.Generator[string] {
	scalars := rapid.OneOf(
		rapid.SampledFrom([]string{
			"null", "true", "false", "0", "1", "-1", "1.0", "1e2", "0.5", "9223372036854775807", "9223372036854775808", "-9223372036854775808", `""`, `"a"`, `"1"`, `"aab"`,
			`"\u0061"`, `"\"\\\n"`, `"2026-01-01T00:00:00Z"`, `"1Gi"`, `"é"`,
		}),
		rapid.Map(rapid.Int64(), func(i int64) string { return fmt.Sprint(i) }),
	)
	if depth == 0 {
		return scalars
	}
	space := rapid.SampledFrom([]string{"", "", " ", "\n\t"})
	inner := jsonText(depth - 1)
	list := rapid.Custom(func(t *rapid.T) string {
		return "[" + strings.Join(rapid.SliceOfN(inner, 0, 4).Draw(t, "elements"), space.Draw(t, "space")+",") + space.Draw(t, "space") + "]"
	})
	fields := rapid.Custom(func(t *rapid.T) string {
		var out []string
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{`"a"`, `"b"`, `"c"`, `"k\n"`}), 0, 4, rapid.ID).Draw(t, "names") {
			out = append(out, name+space.Draw(t, "space")+":"+space.Draw(t, "space")+inner.Draw(t, "value"))
		}
		return "{" + strings.Join(out, ",") + "}"
	})
	return rapid.OneOf(scalars, list, fields, fields)
}

func TestWhatStandsTwiceIsThereOnce(t *testing.T) {
	o := raw(`{"m":{"a":1,"b":2,"a":3,"\u0061":4},"apiVersion":"wrong","kind":"wrong"}`)
	for _, expression := range []string{
		"object.m.a == 4", "size(object.m) == 2", "object.m == {'a': 4, 'b': 2}", "object.m.map(k, k) == ['b', 'a']",
		"object.m.all(k, v, v == 4 || v == 2)", "object.size() == 3", "object.kind == 'Thing' && object['apiVersion'] == 'v1'",
	} {
		if matches, err := ask(t, expression, o); err != nil || !matches {
			t.Errorf("%s: got %v, %v", expression, matches, err)
		}
	}
}

// A large map that is asked again and again is indexed; the answers stay the same.
func TestLargeMap(t *testing.T) {
	data := map[string]string{}
	for i := range 2000 {
		data[fmt.Sprintf("key-%d", i)] = fmt.Sprint(i)
	}
	text, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		t.Fatal(err)
	}
	for _, expression := range []string{
		"lists.range(2000).all(i, object.data['key-' + string(i)] == string(i))", "!lists.range(100).exists(i, ('x' + string(i)) in object.data)",
		"object.data.size() == 2000", "object.data.all(k, object.data[k] == k.substring(4))",
	} {
		if matches, err := ask(t, expression, raw(string(text))); err != nil || !matches {
			t.Errorf("%s: got %v, %v", expression, matches, err)
		}
	}
}

// Text that is not well-formed gives any answer, but an answer.
func FuzzAnyText(f *testing.F) {
	var conditions []v1alpha1.MatchCondition
	for _, expression := range asked {
		conditions = append(conditions, v1alpha1.MatchCondition{Name: "c", Expression: "dyn(" + expression + ") == object.x || true"})
	}
	run := compiled(f, conditions...).NewRun(noon)
	f.Add([]byte(thing))
	f.Add([]byte(`{"x":[1,{"a":"b"}],"y":{"a":null}}`))
	f.Add([]byte(`{"x":[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		run.spent.Store(0)
		_, _, err := run.Evaluate(t.Context(), raw(string(text)))
		if err != nil && strings.Contains(err.Error(), "internal error") {
			t.Fatal(err)
		}
	})
}
