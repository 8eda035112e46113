// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utilclock "k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// readsCases are scripts, and whether metadata, kind and apiVersion are surely all that they look at.
var readsCases = []struct {
	name, source string
	want         bool
}{
	{"nothing", `function evaluate() return {matching=true} end`, true},
	{"metadata", `function evaluate() return {matching=obj.metadata.name == "web"} end`, true},
	{"metadata by text", `function evaluate() return {matching=obj["metadata"]["name"] == "web"} end`, true},
	{"kind and version", `function evaluate() return {matching=true, message=obj.apiVersion .. obj.kind} end`, true},
	{"in brackets", `function evaluate() return {matching=((obj).metadata).name == "web"} end`, true},
	{"alias of metadata", `function evaluate() local m = obj.metadata return {matching=m.labels == nil} end`, true},
	{"metadata enumerated", `function evaluate() local n = 0 for k in pairs(obj.metadata) do n = n + 1 end return {matching=true, message=tostring(n)} end`, true},
	{"metadata passed on", `local function f(m) return m.name end function evaluate() return {matching=f(obj.metadata) == "web"} end`, true},
	{"metadata by a variable", `function evaluate() local k = "labels" return {matching=obj.metadata[k] == nil} end`, true},
	{"metadata changed", `function evaluate() obj.metadata.labels = {name="x"} return {matching=true, message=obj.metadata.labels.name} end`, true},
	{"helper function reads obj", `function f() return obj.metadata.name end function evaluate() return {matching=true, message=f()} end`, true},
	{"upvalue of metadata", `function evaluate() local m = obj.metadata local f = function() return m.uid end return {matching=true, message=f()} end`, true},
	{"local that was never set", `function evaluate() local x local a, b, c return {matching=x ~= nil or a ~= nil or b ~= nil or c ~= nil} end`, true},
	{"a field called obj", `function evaluate() local t = {obj=1} return {matching=t.obj == 1} end`, true},
	{"a text called obj", `function evaluate() return {matching=true, message="obj.spec"} end`, true},
	{"a comment", "-- obj.spec\nfunction evaluate() return {matching=true} end", true},
	{"a key called spec", `function evaluate() return {matching=(obj.metadata.annotations or {}).spec == nil} end`, true},
	{"evaluate within a block", `if true then function evaluate() return {matching=true} end end`, true},
	{"arguments of the chunk", `local t = {...} function evaluate() return {matching=#t > 0} end`, true},
	{"age", `function evaluate() local y = string.match(obj.metadata.creationTimestamp or "", "%d+") return {matching=y == nil} end`, true},

	{"spec", `function evaluate() return {matching=obj.spec ~= nil} end`, false},
	{"spec by text", `function evaluate() return {matching=obj["spec"] ~= nil} end`, false},
	{"spec in brackets", `function evaluate() return {matching=(obj).spec ~= nil} end`, false},
	{"spec in a text of brackets", `function evaluate() return {matching=obj[ [[spec]] ] ~= nil} end`, false},
	{"spec with an escape", `function evaluate() return {matching=obj["s\112ec"] ~= nil} end`, false},
	{"key of two texts", `function evaluate() return {matching=obj["sp" .. "ec"] ~= nil} end`, false},
	{"key in a variable", `function evaluate() local k = "spec" return {matching=obj[k] ~= nil} end`, false},
	{"metadata in a variable", `function evaluate() local k = "metadata" return {matching=obj[k] ~= nil} end`, false},
	{"alias", `function evaluate() local o = obj return {matching=o.spec ~= nil} end`, false},
	{"alias of an alias", `function evaluate() local o, p = 1, obj local q = p return {matching=q.spec ~= nil} end`, false},
	{"alias in brackets", `function evaluate() local o = (obj) return {matching=o.spec ~= nil} end`, false},
	{"alias by or", `function evaluate() local o = nil or obj return {matching=o.spec ~= nil} end`, false},
	{"alias by and", `function evaluate() return {matching=(true and obj).spec ~= nil} end`, false},
	{"alias in a table", `function evaluate() local t = {obj} return {matching=t[1].spec ~= nil} end`, false},
	{"alias as a value", `function evaluate() local t = {o=obj} return {matching=t.o.spec ~= nil} end`, false},
	{"alias as a key", `function evaluate() local t = {[obj]=1} for o in pairs(t) do return {matching=o.spec ~= nil} end end`, false},
	{"global alias", `function evaluate() o = obj return f() end function f() return {matching=o.spec ~= nil} end`, false},
	{"passed to a function", `local function f(o) return o.spec end function evaluate() return {matching=f(obj) ~= nil} end`, false},
	{"passed to pairs", `function evaluate() for k in pairs(obj) do if k == "spec" then return {matching=true} end end return {} end`, false},
	{"passed to next", `function evaluate() local n = 0 local k = next(obj) while k do n = n + 1 k = next(obj, k) end return {matching=n > 3} end`, false},
	{"passed to rawget", `function evaluate() return {matching=rawget(obj, "spec") ~= nil} end`, false},
	{"passed to pcall", `function evaluate() local _, s = pcall(function(o) return o.spec end, obj) return {matching=s ~= nil} end`, false},
	{"passed to select", `function evaluate() return {matching=select(1, obj).spec ~= nil} end`, false},
	{"passed to error", `function evaluate() local _, o = pcall(error, obj) return {matching=o.spec ~= nil} end`, false},
	{"returned", `function evaluate() return obj end`, false},
	{"returned by a helper", `local function f() return obj end function evaluate() return {matching=f().spec ~= nil} end`, false},
	{"length", `function evaluate() return {matching=#obj > 0} end`, false},
	{"compared", `function evaluate() return {matching=obj ~= nil} end`, false},
	{"metatable", `function evaluate() local m = setmetatable({}, {__index=obj}) return {matching=m.spec ~= nil} end`, false},
	{"method of obj", `function evaluate() return {matching=pcall(function() obj:spec() end)} end`, false},
	{"method defined on obj", `function evaluate() function obj:f() return self.spec end return {matching=obj:f() ~= nil} end`, false},
	{"iterated", `function evaluate() for o in function(_, c) if c == nil then return obj end end do return {matching=o.spec ~= nil} end end`, false},
	{"metadata written", `function evaluate() obj.metadata = {name="x"} return {matching=true, message=obj.metadata.name} end`, false},
	{"spec written", `function evaluate() obj.spec = nil return {matching=true, message=obj.metadata.name} end`, false},
	{"obj is set", `function evaluate() local x = obj.metadata obj = {metadata=x} return {matching=true} end`, false},
	{"the parameter", `function evaluate(o) return {matching=o.spec ~= nil} end`, false},
	{"a parameter of the same name", `function evaluate(obj) return {matching=obj.metadata ~= nil} end`, false},
	{"variable arguments", `function evaluate(...) local o = ... return {matching=o.spec ~= nil} end`, false},
	{"evaluate is a variable", `evaluate = function(o) return {matching=o.spec ~= nil} end`, false},
	{"evaluate of another name", `local function f(o) return {matching=o.spec ~= nil} end evaluate = f`, false},
	{"evaluate among others", `a, evaluate = 1, function(o) return {matching=o.spec ~= nil} end`, false},
	{"evaluate twice", `function evaluate() return {} end function evaluate(o) return {matching=o.spec ~= nil} end`, false},
	{"evaluate again at last", `function evaluate() evaluate = nil return {} end`, false},
	{"evaluate is a function of the library", `evaluate = assert`, false},
	{"evaluate by a loop", `for _, f in pairs({function(o) return {matching=o.spec ~= nil} end}) do evaluate = f end`, false},
	{"globals", `function evaluate() return {matching=_G.obj.spec ~= nil} end`, false},
	{"globals by text", `function evaluate() return {matching=_G["o" .. "bj"].spec ~= nil} end`, false},
	{"globals enumerated", `function evaluate() for k, v in pairs(_G) do if k == "obj" then return {matching=v.spec ~= nil} end end return {} end`, false},
	{"globals kept", `local g = _G function evaluate() return {matching=g.obj.spec ~= nil} end`, false},
	{"globals set", `_G.evaluate = function(o) return {matching=o.spec ~= nil} end`, false},
	{"globals by rawset", `rawset(_G, "evaluate", function(o) return {matching=o.spec ~= nil} end)`, false},
	{"globals with a metatable", `setmetatable(_G, {__newindex=function(t, k, v) rawset(t, "o", v) end}) function evaluate() return {matching=o ~= nil} end`, false},
	{"environment", `function evaluate() return {matching=getfenv and getfenv().obj.spec ~= nil} end`, false},
	{"loaded", `function evaluate() return {matching=loadstring and loadstring("return obj")().spec ~= nil} end`, false},
	{"no Lua", `function evaluate( return end`, false},
	{"too long", "function evaluate() return {} end --" + strings.Repeat("x", MaxSource), false},
	{"too deep", "function evaluate() return {matching=" + strings.Repeat("not ", 500) + "true} end", false},
}

func TestReadsMetadataOnly(t *testing.T) {
	for _, test := range readsCases {
		if got := Reads(test.source).MetadataOnly(); got != test.want {
			t.Errorf("%s: reads metadata only: %t, want %t:\n%s", test.name, got, test.want, test.source)
		}
	}
}

func TestReads(t *testing.T) {
	for body, want := range map[string]object.Part{
		`return {}`: {Narrow: true},
		`return {matching=obj.status.phase == "Failed"}`:                       {Narrow: true, Fields: []string{"status"}},
		`return {matching=obj["status"] ~= nil and (obj).spec ~= nil}`:         {Narrow: true, Fields: []string{"spec", "status"}},
		`return {matching=obj.metadata.name == "web"}`:                         {Narrow: true, Fields: []string{"metadata"}},
		`return {matching=(obj["metadata"])["labels"] == nil}`:                 {Narrow: true, Fields: []string{"metadata"}},
		`obj.metadata.labels.x = "y" return {matching=obj.metadata ~= nil}`:    {Narrow: true, Fields: []string{"metadata"}, ManagedFields: true},
		`local m = obj.metadata return {matching=m.name == "web"}`:             {Narrow: true, Fields: []string{"metadata"}, ManagedFields: true},
		`for k in pairs(obj.metadata) do return {message=k} end`:               {Narrow: true, Fields: []string{"metadata"}, ManagedFields: true},
		`return {matching=#obj.metadata.managedFields > 0}`:                    {Narrow: true, Fields: []string{"metadata"}, ManagedFields: true},
		`return {matching=obj.metadata["managed\070ields"] ~= nil}`:            {Narrow: true, Fields: []string{"metadata"}, ManagedFields: true},
		`local k = "managedFields" return {matching=obj.metadata[k] ~= nil}`:   {Narrow: true, Fields: []string{"metadata"}, ManagedFields: true},
		`return {matching=pcall(function() obj.metadata:managedFields() end)}`: {Narrow: true, Fields: []string{"metadata"}, ManagedFields: true},
		`function obj.status.f() end return {}`:                                {Narrow: true, Fields: []string{"status"}},
		`return {matching=math.random() < 0.5}`:                                {Narrow: true, Fields: []string{"metadata"}},
		`local m = math return {matching=m.floor(obj.spec.replicas) == 0}`:     {Narrow: true, Fields: []string{"metadata", "spec"}},
		`return {matching=obj.kind == "Pod", message=obj.apiVersion}`:          {Narrow: true, Fields: []string{"apiVersion", "kind"}},
		`return {matching=obj[1] ~= nil}`:                                      {},
		`return {matching=obj[nil] ~= nil}`:                                    {},
		`return {matching=obj.status[obj] ~= nil}`:                             {},
		`return {matching=obj.metadata.labels[obj] ~= nil}`:                    {},
		`return {matching=obj[obj.kind] ~= nil}`:                               {},
		`local t = {obj = 1} return {matching=t.obj == 1}`:                     {Narrow: true},
		`return {matching=obj` + fieldsNamed(17) + `}`:                         {},
	} {
		if diff := cmp.Diff(want, Reads("function evaluate() "+body+" end")); diff != "" {
			t.Errorf("%s:\n%s", body, diff)
		}
	}
}

func fieldsNamed(n int) string {
	text := ".a0"
	for i := range n {
		text += fmt.Sprintf(" or obj.a%d", i)
	}
	return text
}

// The proof of it: every script of the table says the same of an object and of the part that it reads.
func TestThePartThatIsReadIsEnough(t *testing.T) {
	const text = `{"status":{"phase":"Failed"},"metadata":{"managedFields":[{"manager":"a"}],"namespace":"default","name":"web","uid":"u1","resourceVersion":"7","labels":{"a":"b"},
		"creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"replicas":0},"status":{"phase":"Succeeded","a":[1]},"\u0073pec":{"replicas":2},"matching":true,"data":{"k":"v"}}`
	o := newObject(t, kind("apps", "v1", "Deployment"), text)
	parts := 0
	for _, test := range readsCases {
		if _, err := Compile(test.source); err != nil {
			continue
		}
		e := newEngines(t, test.source)
		if part := Reads(test.source); e.comparePart(t, test.source, o, part) && part.Narrow {
			parts++
		}
		e.lazy.Close()
	}
	if parts < 20 {
		t.Errorf("only %d scripts were tried", parts)
	}
}

// The same with random scripts is among those of TestMillionPairs. Of a good part of them the object is not read whole.
func TestRandomScriptsReadParts(t *testing.T) {
	parts, all := 0, 0
	for seed := range uint64(400) {
		if d := draw(newChooser(nil, seed), 1); d.function == "part" {
			all++
			if reads := Reads(d.source); reads.Narrow && len(reads.Fields) < 5 {
				parts++
			}
		}
	}
	if parts < all/2 || all < 50 {
		t.Errorf("%d of %d scripts read a part", parts, all)
	}
}

// The proof of it: such a script says the same of an object and of what the API server sends as its metadata.
func TestMetadataIsEnoughForScriptsThatReadOnlyIt(t *testing.T) {
	const metadata = `"metadata":{"namespace":"default","name":"web","uid":"u1","resourceVersion":"7","labels":{"a":"b"},"creationTimestamp":"2026-01-01T00:00:00Z"}`
	whole := newObject(t, kind("apps", "v1", "Deployment"), `{`+metadata+`,"spec":{"replicas":0},"status":{"a":[1]},"matching":true}`)
	partial := newObject(t, kind("apps", "v1", "Deployment"), `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",`+metadata+`}`)
	proved := 0
	for _, test := range readsCases {
		if !Reads(test.source).MetadataOnly() {
			continue
		}
		proved++
		s := session(t, test.source)
		of, err := s.Evaluate(t.Context(), whole)
		ofPartial, partialErr := s.Evaluate(t.Context(), partial)
		if of != ofPartial || text(err) != text(partialErr) {
			t.Errorf("%s: of the object %+v (%v), of its metadata %+v (%v)", test.name, of, err, ofPartial, partialErr)
		}
	}
	if proved < 15 {
		t.Errorf("only %d scripts were tried", proved)
	}
}

// Most scripts of the table that need more would really be wrong with less: the table is not there for its own sake.
func TestScriptsThatReadMoreWouldBeFooled(t *testing.T) {
	const metadata = `"metadata":{"namespace":"default","name":"web","uid":"u1","resourceVersion":"7"}`
	whole := newObject(t, kind("apps", "v1", "Deployment"), `{`+metadata+`,"spec":{"replicas":0},"matching":true}`)
	partial := newObject(t, kind("apps", "v1", "Deployment"), `{`+metadata+`}`)
	fooled := 0
	for _, test := range readsCases {
		program, err := Compile(test.source)
		if test.want || err != nil {
			continue
		}
		s := program.NewSession(Options{Now: now, Clock: utilclock.RealClock{}})
		of, err := s.Evaluate(t.Context(), whole)
		ofPartial, partialErr := s.Evaluate(t.Context(), partial)
		s.Close()
		if of != ofPartial || text(err) != text(partialErr) {
			fooled++
		}
	}
	if fooled < 30 {
		t.Errorf("only %d scripts would be fooled", fooled)
	}
}
