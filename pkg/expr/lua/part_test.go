// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// leaking gets at obj.status although its text says obj.spec: the interpreter's compiler leaves x, which the function keeps, in a register
// that is used again.
const leaking = `function evaluate()
	local f, l
	while true do do local a, b, c, d, e, g, h local x = 1 f = function() return x end break end end
	do local a, b, c, d, e, g, h l = obj.spec end
	return {matching = f().status == nil}
end`

func TestEvaluatePartNoticesWhatIsBeyond(t *testing.T) {
	o := newObject(t, kind("apps", "v1", "Deployment"),
		`{"metadata":{"managedFields":[{"manager":"a"}],"name":"web","uid":"u1","resourceVersion":"7"},"spec":{"replicas":0},"status":{"phase":"x"}}`)
	part := object.Part{Narrow: true, Fields: []string{"metadata", "spec"}}
	for body, beyond := range map[string]bool{
		`return {matching=obj.spec.replicas == 0 and obj.metadata.name == "web" and obj.kind == "Deployment" and obj.apiVersion == "apps/v1"}`: false,
		`for k in pairs(obj.spec) do return {matching=k == "replicas"} end`:                                                                    false,
		`obj.spec.replicas = 1 return {matching=obj.spec.replicas == 1}`:                                                                       false,
		`return {matching=obj ~= nil and type(obj) == "table" and #obj == 0}`:                                                                  false,
		`local t = {obj} return {matching=t[1].metadata.labels == nil}`:                                                                        false,
		`return {matching=obj.status == nil}`:                                                                                                  true,
		`return {matching=obj["sta" .. "tus"] == nil}`:                                                                                         true,
		`return {matching=obj.nothing == nil}`:                                                                                                 true,
		`return {matching=rawget(obj, "status") == nil}`:                                                                                       true,
		`for k in pairs(obj) do if k == "status" then return {} end end return {matching=true}`:                                                true,
		`return {matching=next(obj) == "apiVersion"}`:                                                                                          true,
		`local n = 0 for k in pairs(obj.metadata) do n = n + 1 end return {matching=n > 3}`:                                                    true,
		`return {matching=obj.metadata.managedFields == nil}`:                                                                                  true,
		`local m = obj.metadata return {matching=m["managed" .. "Fields"] == nil}`:                                                             true,
		`obj.metadata.name = "x" return {matching=true}`:                                                                                       true,
		`obj.status = nil return {matching=true}`:                                                                                              true,
		`return {matching=setmetatable({}, {__index=obj}).status == nil}`:                                                                      true,
		`setmetatable(obj, {}) return {matching=true}`:                                                                                         true,
		`pcall(function() error(obj.status) end) return {matching=true}`:                                                                       true,
		`error(obj.status == nil)`:                                                                                                             true,
		`return obj`:                                                                                                                           true,
		`return {matching=_G.obj.status == nil}`:                                                                                               true,
		`local s = "" for k in pairs(setmetatable({}, {__index=obj}).metadata) do s = s .. k end return {message=s}`:                           true,
	} {
		s := session(t, "function evaluate() "+body+" end")
		o := o
		whole, errWhole := s.Evaluate(t.Context(), o)
		o.Raw = part.Append(nil, o.Raw)
		match, err := s.EvaluatePart(t.Context(), o, nil, part)
		switch {
		case errors.Is(err, ErrBeyondPart) != beyond:
			t.Errorf("%s: got %+v, %v; beyond should be %t", body, match, err, beyond)
		case !beyond && (match != whole || text(err) != text(errWhole) || !match.Matching):
			t.Errorf("%s: got %+v, %v; of the whole object %+v, %v", body, match, err, whole, errWhole)
		}
		if again, err := s.Evaluate(t.Context(), newObject(t, kind("apps", "v1", "Deployment"), string(o.Raw))); errors.Is(err, ErrBeyondPart) {
			t.Errorf("%s: the next object, which is whole: %+v, %v", body, again, err)
		}
	}
}

// The text of a script does not show all that it reads: so the interpreter must watch.
func TestEvaluatePartNoticesALeakOfTheInterpreter(t *testing.T) {
	o := newObject(t, kind("", "v1", "Pod"), `{"metadata":{"name":"web","uid":"u1","resourceVersion":"7"},"spec":{},"status":{}}`)
	part := Reads(leaking)
	if !part.Narrow || part.Has("status") {
		t.Fatalf("the script is known to read %+v: another one is needed", part)
	}
	s := session(t, leaking)
	if match, err := s.Evaluate(t.Context(), o); err != nil || match.Matching {
		t.Fatalf("of the whole object: %+v, %v; another script is needed", match, err)
	}
	o.Raw = part.Append(nil, o.Raw)
	if match, err := s.EvaluatePart(t.Context(), o, nil, part); !errors.Is(err, ErrBeyondPart) {
		t.Errorf("got %+v, %v", match, err)
	}
}

// comparePart compares what a script says of an object with what it says of a part of it, unless it looked further. It reports whether
// it did not.
func (e *engines) comparePart(t testing.TB, source string, whole object.Object, part object.Part) bool {
	e.begin()
	match, err := e.lazy.Evaluate(t.Context(), whole)
	want := seen(t, match, err, e.lazyNotes.lines)
	some := whole
	some.Raw = part.Append(nil, whole.Raw)
	e.begin()
	match, err = e.lazy.EvaluatePart(t.Context(), some, nil, part)
	if errors.Is(err, ErrBeyondPart) {
		return false
	}
	if diff := cmp.Diff(want, seen(t, match, err, e.lazyNotes.lines)); diff != "" {
		t.Fatalf("the whole object (-) and its part %+v (+) differ:\n%s\non %s\nand %s\nby %s", part, diff, whole.Raw, some.Raw, strings.TrimPrefix(source, prelude))
	}
	return true
}

// hasPlainFields is false for objects that no API server sends: with names at their root or in their metadata that must be decoded to be
// compared. Their tables become plain ones at the first look, and then nobody watches them.
func hasPlainFields(item string) bool {
	for _, table := range []object.JSON{object.JSON(item), object.JSON(item).Field("metadata")} {
		for key := range table.Fields() {
			if !isPlain(key) {
				return false
			}
		}
	}
	return true
}

// What the text shows is enough for nearly every script: one that is asked twice costs twice.
func TestRandomScriptsReadWhatTheirTextShows(t *testing.T) {
	within, beyond, withinAny, beyondAny := 0, 0, 0, 0
	for seed := range uint64(3000) {
		d := draw(newChooser(nil, seed), 1)
		reads := Reads(d.source)
		if d.function != "evaluate" && (d.function != "part" || !reads.Narrow) || !hasPlainFields(d.items[0]) {
			continue
		}
		e := newEngines(t, d.source)
		o := objectsOf(d)[0]
		if d.function == "evaluate" {
			if e.comparePart(t, d.source, o, d.part) {
				withinAny++
			} else {
				beyondAny++
			}
		} else if e.comparePart(t, d.source, o, reads) {
			within++
		} else {
			beyond++
		}
		e.lazy.Close()
	}
	if within < 60 || beyond > within/20 {
		t.Errorf("by their text: %d scripts read what it shows, %d more", within, beyond)
	}
	if withinAny < 3 || beyondAny < 50 {
		t.Errorf("of any part: %d scripts read what it has, %d more", withinAny, beyondAny)
	}
}
