// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// rich has all that Lua cannot distinguish: empty lists and maps, nulls, and integers larger than 2^53.
const rich = `,"spec":{
	"replicas":3,"paused":false,"big":9007199254740993,"huge":1e400,"float":3.0,"fraction":0.5,"none":null,"emptyList":[],
	"emptyMap":{},"onlyNull":{"a":null},"nullList":[null,null],"holes":[1,null,3,null],"nested":[[1,2],[],[[]],{"x":[]}],
	"containers":[{"name":"a","image":"a:1","args":[],"env":{},"n":9007199254740993,"null":null},
		{"name":"b","image":"b:1","args":["x"],"resources":{}}],
	"labels":{"app":"web","a.b/c":"d"},"finalizers":["one","two"]}`

func TestTransform(t *testing.T) {
	cases := []struct{ name, body, want string }{
		{"untouched", `return {resource=obj}`, `null`},
		{"no result", ``, `null`},
		{"nil", `return nil`, `null`},
		{"another case", `s.replicas = 1 return {Resource=obj}`, `{"spec":{"replicas":1}}`},
		{"argument", `return {resource=o}`, `null`},
		{"same values again", `s.replicas = 3 s.labels.app = "web" s.emptyList = {} s.emptyMap = {} s.float = 3 return {resource=obj}`, `null`},
		{"copied deeply", `local function copy(v) if type(v) ~= "table" then return v end
			local c = {} for k, x in pairs(v) do c[k] = copy(x) end return c end return {resource=copy(obj)}`, `null`},
		{"null set to nil", `s.none = nil return {resource=obj}`, `null`},

		{"scale", `s.replicas = 0 return {resource=obj}`, `{"spec":{"replicas":0}}`},
		{"bool", `s.paused = true return {resource=obj}`, `{"spec":{"paused":true}}`},
		{"fraction", `s.replicas = 0.25 return {resource=obj}`, `{"spec":{"replicas":0.25}}`},
		{"largest exact number", `s.replicas = 2^53 return {resource=obj}`, `{"spec":{"replicas":9007199254740992}}`},
		{"deleted field", `s.big = nil return {resource=obj}`, `{"spec":{"big":null}}`},
		{"deleted label", `s.labels["a.b/c"] = nil return {resource=obj}`, `{"spec":{"labels":{"a.b/c":null}}}`},
		{"null filled", `s.none = "x" return {resource=obj}`, `{"spec":{"none":"x"}}`},
		{"new map", `obj.metadata.labels = {app="x"} return {resource=obj}`, `{"metadata":{"labels":{"app":"x"}}}`},
		{"new empty table", `s.podSelector = {} return {resource=obj}`, `{"spec":{"podSelector":{}}}`},
		{
			"empty tables in a new list", `s.volumes = {{name="tmp", emptyDir={}}} return {resource=obj}`,
			`{"spec":{"volumes":[{"name":"tmp","emptyDir":{}}]}}`,
		},
		{
			"new empty table in an element", `s.containers[2].securityContext = {} return {resource=obj}`,
			`{"spec":{"containers":[{"name":"a","image":"a:1","args":[],"env":{},"n":9007199254740993,"null":null},` +
				`{"name":"b","image":"b:1","args":["x"],"resources":{},"securityContext":{}}]}}`,
		},
		{"new empty table named like one of metadata", `s.metadata = {labels={}} return {resource=obj}`, `{"spec":{"metadata":{"labels":{}}}}`},
		{"empty instead of a null", `s.none = {} return {resource=obj}`, `{"spec":{"none":{}}}`},
		{"empty instead of a number", `s.replicas = {} return {resource=obj}`, `{"spec":{"replicas":{}}}`},
		{"new list", `s.new = {"x", 2, {3}} return {resource=obj}`, `{"spec":{"new":["x",2,[3]]}}`},
		{"sloppy default", `s.extra = s.extra or {} s.extra.a = 1 return {resource=obj}`, `{"spec":{"extra":{"a":1}}}`},
		{"emptied map", `s.labels = {} return {resource=obj}`, `{"spec":{"labels":{"a.b/c":null,"app":null}}}`},
		{"emptied list", `s.finalizers = {} return {resource=obj}`, `{"spec":{"finalizers":[]}}`},
		{"list emptied in place", `table.remove(s.finalizers) table.remove(s.finalizers) return {resource=obj}`, `{"spec":{"finalizers":[]}}`},
		{"empty list filled", `table.insert(s.emptyList, "x") return {resource=obj}`, `{"spec":{"emptyList":["x"]}}`},
		{"empty map filled", `s.emptyMap.a = 1 return {resource=obj}`, `{"spec":{"emptyMap":{"a":1}}}`},
		{"list to map", `s.finalizers = {a=1} return {resource=obj}`, `{"spec":{"finalizers":{"a":1}}}`},
		{"map to text", `s.labels = "none" return {resource=obj}`, `{"spec":{"labels":"none"}}`},
		{
			"one image", `s.containers[2].image = "b:2" return {resource=obj}`,
			`{"spec":{"containers":[{"name":"a","image":"a:1","args":[],"env":{},"n":9007199254740993,"null":null},` +
				`{"name":"b","image":"b:2","args":["x"],"resources":{}}]}}`,
		},
		{
			"own fields of an edited element stay exact", `s.containers[1].image = "a:2" table.remove(s.containers, 2) return {resource=obj}`,
			`{"spec":{"containers":[{"name":"a","image":"a:2","args":[],"env":{},"n":9007199254740993,"null":null}]}}`,
		},
		{
			"moved elements stay exact", `local c = s.containers c[1], c[2] = c[2], c[1] return {resource=obj}`,
			`{"spec":{"containers":[{"name":"b","image":"b:1","args":["x"],"resources":{}},` +
				`{"name":"a","image":"a:1","args":[],"env":{},"n":9007199254740993,"null":null}]}}`,
		},
		{
			"moved to another field", `s.first = s.containers[1] return {resource=obj}`,
			`{"spec":{"first":{"name":"a","image":"a:1","args":[],"env":{},"n":9007199254740993}}}`,
		},
		{
			"map moved into another map", `local t = {} t.labels = s.containers[2] t.keep = 1 obj.spec = t return {resource=obj}`,
			`{"spec":{"labels":{"app":null,"a.b/c":null,"name":"b","image":"b:1","args":["x"],"resources":{}},"keep":1,"replicas":null,"paused":null,
				"big":null,"huge":null,"float":null,"fraction":null,"emptyList":null,"emptyMap":null,"onlyNull":null,"nullList":null,"holes":null,
				"nested":null,"containers":null,"finalizers":null}}`,
		},
		{
			"whole object put into itself", `for k in pairs(obj) do end obj.spec = {labels=obj.metadata, metadata=1} return {resource={apiVersion=obj.apiVersion,
				kind=obj.kind, metadata=obj.metadata, spec={labels={app="web", ["a.b/c"]="d"}}}}`,
			`{"spec":{"replicas":null,"paused":null,"big":null,"huge":null,"float":null,"fraction":null,"emptyList":null,"emptyMap":null,"onlyNull":null,
				"nullList":null,"holes":null,"nested":null,"containers":null,"finalizers":null}}`,
		},
		{
			"new list of old elements", `local kept = {} for _, c in ipairs(s.containers) do
				if c.name == "b" then kept[#kept+1] = c end end s.containers = kept return {resource=obj}`,
			`{"spec":{"containers":[{"name":"b","image":"b:1","args":["x"],"resources":{}}]}}`,
		},
		{"nested list", `s.nested[1][2] = 5 return {resource=obj}`, `{"spec":{"nested":[[1,5],[],[[]],{"x":[]}]}}`},
		{"nulls inside a list", `s.holes[1] = 2 return {resource=obj}`, `{"spec":{"holes":[2,null,3,null]}}`},
		{"extra fields of the result", `s.replicas = 1 return {resource=obj, f=print}`, `{"spec":{"replicas":1}}`},
		{
			"nothing in new tables of metadata", `local m = obj.metadata m.labels = {} m.annotations = {} m.finalizers = {} m.ownerReferences = {}
				return {resource=obj}`, `null`,
		},
		{"something in a new table of metadata", `obj.metadata.labels = {a="b"} return {resource=obj}`, `{"metadata":{"labels":{"a":"b"}}}`},
		{"shared table", `local e = {k=1} s.a = e s.b = e return {resource=obj}`, `{"spec":{"a":{"k":1},"b":{"k":1}}}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := session(t, "function transform(o) local s = obj.spec "+c.body+" end")
			patch, _, err := s.Transform(t.Context(), deployment(t, rich))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(sorted(t, c.want), encode(t, patch)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTransformErrors(t *testing.T) {
	const wayOut = "; return {resource=obj}, or nothing to leave the object unchanged"
	cases := []struct{ name, body, want string }{
		{"no resource", `return {message="x"}`, "transform returned a table without resource" + wayOut},
		{"object itself", `return obj`, "transform returned a table without resource" + wayOut},
		{"boolean", `return true`, "transform returned a boolean" + wayOut},
		{"text", `return {resource="x"}`, "transform returned a resource that is no object; return {resource=obj}"},
		{"list", `return {resource={1}}`, "transform returned a resource that is no object; return {resource=obj}"},
		{"message", `return {resource=obj, message=1}`, "transform returned a message that is a number; use tostring to make it a text"},
		{"apiVersion", `obj.apiVersion = "v2"`, "transform changed apiVersion; identity must stay as it was"},
		{"kind", `obj.kind = nil`, "transform changed kind; identity must stay as it was"},
		{"name", `obj.metadata.name = "x"`, "transform changed metadata.name; identity must stay as it was"},
		{"namespace", `obj.metadata.namespace = "x"`, "transform changed metadata.namespace; identity must stay as it was"},
		{"uid", `obj.metadata.uid = nil`, "transform changed metadata.uid; identity must stay as it was"},
		{"resourceVersion", `obj.metadata.resourceVersion = 7`, "transform changed metadata.resourceVersion; identity must stay as it was"},
		{"metadata", `obj.metadata = nil`, "transform changed metadata.name; identity must stay as it was"},
		{"mixed", `s.labels[1] = "x"`, `the table at spec.labels has numbered elements and the key "a.b/c"; it must be a list or a map`},
		{"key 0", `s.new = {[0]="x"}`, "the table at spec.new has the key 0; count lists from 1, and use tostring for keys of maps"},
		{"fractional key", `s.new = {[1.5]="x"}`, "the table at spec.new has the key 1.5; count lists from 1, and use tostring for keys of maps"},
		{"boolean key", `s.new = {[true]="x"}`, "the table at spec.new has a key that is a boolean; keys must be texts"},
		{"hole", `s.new = {[3]="x"}`, "the list at spec.new has nil at index 1; use table.remove to shorten it"},
		{"hole in an old list", `s.finalizers[1] = nil`, "the list at spec.finalizers has nil at index 1; use table.remove to shorten it"},
		{"NaN", `s.replicas = 0/0`, "the number at spec.replicas is not finite; look for a division by zero"},
		{"infinity", `s.labels["a.b/c"] = -1/0`, `the number at spec.labels["a.b/c"] is not finite; look for a division by zero`},
		{"inexact", `s.replicas = 2^53 * 2`, "the number at spec.replicas is larger than 2^53, which Lua cannot hold exactly; leave it unchanged"},
		{"function", `s.f = print`, "transform returned a function at spec.f; set it to a text, number, boolean, table or nil"},
		{"userdata", `local _, u = ("x"):gmatch("x") s.f = {u}`, "transform returned a userdata at spec.f[1]; set it to a text, number, boolean, table or nil"},
		{"cut character", `s.f = ("é"):sub(1, 1)`, "the text at spec.f is not valid UTF-8; string.sub may have cut a character in two"},
		{"cycle", `s.self = s`, "transform returned a table that contains itself at spec.self"},
		{"cycle through new tables", `local a = {} a.b = {a} s.a = a`, "transform returned a table that contains itself at spec.a.b[1]"},
		{"depth", `local t = "x" for i = 1, 70 do t = {a=t} end s.deep = t`, "transform returned a table nested deeper than 64 levels at spec.deep" + strings.Repeat(".a", 62)},
		{"nodes", `local t = {} for i = 1, 1000 do t[i] = i end s.l = {} for i = 1, 200 do s.l[i] = t end`, "transform returned more than 100000 values"},
		{"exponential", `local t = {1} for i = 1, 40 do t = {t, t} end s.l = t`, "transform returned more than 100000 values"},
		{"sparse", `s.l = {[200000]=1}`, "transform returned more than 100000 values"},
		{"no function", `end transform = nil do`, "the script has no global function transform; write: function transform() return {resource=obj} end"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			body := c.body
			if !strings.HasPrefix(body, "return ") && !strings.HasPrefix(body, "end") {
				body += " return {resource=obj}"
			}
			patch, _, err := session(t, "function transform() local s = obj.spec "+body+" end").Transform(t.Context(), deployment(t, rich))
			if text(err) != c.want || patch != nil {
				t.Errorf("got  %v, %v\nwant %s", patch, err, c.want)
			}
			if !isScriptError(err) {
				t.Errorf("%T is no *ScriptError", err)
			}
		})
	}
}

func TestTransformOfLargeObjects(t *testing.T) {
	deep := `,"spec":` + strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 200)
	wide := `,"spec":[` + strings.Repeat(`1,`, 150_000) + `1]`
	for _, rest := range []string{deep, wide} {
		for _, touch := range []string{"", `local t = obj while type(t) == "table" do next(t) t = t.spec or t.a end`} {
			s := session(t, `function transform() `+touch+` return {resource=obj} end`)
			patch, _, err := s.Transform(t.Context(), deployment(t, rest))
			if patch != nil || err != nil {
				t.Errorf("%.30s, %s: %v", rest, touch, err)
			}
		}
	}
}

func TestTransformMessage(t *testing.T) {
	s := session(t, `function transform() obj.spec.replicas = 0 return {resource=obj, message="scaled\ndown"} end`)
	patch, message, err := s.Transform(t.Context(), deployment(t, rich))
	if err != nil || message != "scaled down" || len(patch) != 1 {
		t.Errorf("got %v, %q, %v", patch, message, err)
	}
}

func TestTransformOfMovedParts(t *testing.T) {
	// What is at its own place in the moved part is not at its place in the whole.
	o := object.Object{Kind: kind("", "v1", "Thing"), Raw: []byte(`{"metadata":{"name":"x"},"spec":{"metadata":{"a":1,"name":"x"},"b":2}}`)}
	s := session(t, `function transform() for k in pairs(obj) do end
		return {resource={apiVersion=obj.apiVersion, kind=obj.kind, metadata=obj.metadata, spec=obj}} end`)
	patch, _, err := s.Transform(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"spec":{"apiVersion":"v1","b":null,"kind":"Thing","metadata":{"a":null},"spec":{"b":2,"metadata":{"a":1,"name":"x"}}}}`
	if diff := cmp.Diff(want, encode(t, patch)); diff != "" {
		t.Error(diff)
	}
}

func TestNodeEquals(t *testing.T) {
	cases := []struct {
		raw  string
		now  any
		want bool
	}{
		{`null`, nil, true},
		{``, nil, true},
		{`1`, nil, false},
		{`1`, json.Number("1"), true},
		{`1`, json.Number("1.0"), false},
		{`"1"`, json.Number("1"), false},
		{`"a"`, "a", true},
		{`{"a":null}`, map[string]any{"b": "x"}, false},
		{`{"a":null}`, map[string]any{"a": nil}, true},
		{`{"a":[1]}`, map[string]any{"a": []any{json.Number("1")}}, true},
		{`{"a":[1]}`, map[string]any{"a": []any{}}, false},
		{`{"a":[1]}`, map[string]any{"a": node{raw: object.JSON(` [ 1 ]`)}}, true},
		{`{}`, []any{}, false},
		{`[]`, map[string]any{}, false},
		{`{"a":1,"a":2}`, node{raw: object.JSON(`{"a":2}`)}, true},
	}
	for _, c := range cases {
		if got := (node{raw: object.JSON(c.raw)}).equals(c.now); got != c.want {
			t.Errorf("%s equals %v: %v", c.raw, c.now, got)
		}
	}
}
