// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func TestAggregate(t *testing.T) {
	const never = `, which was never selected; return objects of resources only`
	cases := []struct {
		name, body string
		want       []Selected
		wantErr    string
	}{
		{name: "argument", body: `return {resources={{resource=list[2], message="two"}}}`, want: []Selected{{1, "two"}}},
		{name: "another case", body: `return {Resources={{Resource=list[2], Message="two"}}}`, want: []Selected{{1, "two"}}},
		{name: "global", body: `return {resources={{resource=resources[1]}}}`, want: []Selected{{0, ""}}},
		{
			name: "order and messages are kept", body: `return {resources={{resource=list[3], message="c"}, {resource=list[1], message="a"}}}`,
			want: []Selected{{2, "c"}, {0, "a"}},
		},
		{
			name: "messages of a duplicate are joined",
			body: `return {resources={{resource=list[1], message="first"}, {resource=list[2]}, {resource=list[1], message="second"}, {resource=list[1]}}}`,
			want: []Selected{{0, "first; second"}, {1, ""}},
		},
		{
			name: "the same message is kept once",
			body: `return {resources={{resource=list[1]}, {resource=list[1], message="a; b"}, {resource=list[1], message="a"}, {resource=list[1], message="a; b"}}}`,
			want: []Selected{{0, "a; b"}},
		},
		{
			name: "joined messages are cut", want: []Selected{{0, "x; " + strings.Repeat("é", 510)}},
			body: `local r = {{resource=list[1], message="x"}} for i = 2, 300 do r[i] = {resource=list[1], message=string.rep("é", 509 + i % 3)} end return {resources=r}`,
		},
		{name: "no result", body: ``},
		{name: "nil", body: `return nil`},
		{name: "missing", body: `return {}`},
		{name: "empty", body: `return {resources={}}`},
		{name: "extra fields", body: `return {n=1, resources={{resource=list[1], f=print}, n=3}}`, want: []Selected{{0, ""}}},
		{name: "holes", body: `return {resources={nil, {resource=list[1]}, nil, {resource=list[2]}}}`, want: []Selected{{0, ""}, {1, ""}}},
		{name: "edited content", body: `list[1].data = {evil=list} list[1].metadata.labels = {} return {resources={{resource=list[1]}}}`, want: []Selected{{0, ""}}},
		{
			name: "built with the uid", want: []Selected{{1, ""}},
			body: `return {resources={{resource={apiVersion="v1", kind="ConfigMap", metadata={name="b", namespace="default", uid="uid-b"}}}}}`,
		},
		{
			name: "built without uid", want: []Selected{{1, ""}},
			body: `return {resources={{resource={apiVersion="v1", kind="ConfigMap", metadata={name="b", namespace="default"}}}}}`,
		},

		{name: "boolean", body: `return true`, wantErr: `evaluate returned a boolean; return a table such as {resources={{resource=obj}}}`},
		{name: "resources text", body: `return {resources="all"}`, wantErr: `evaluate returned resources that is a string; it must be a list`},
		{
			name: "resources map", body: `return {resources={a={resource=list[1]}}}`,
			wantErr: `evaluate returned resources with the key a; it must be a list, filled with table.insert`,
		},
		{
			name: "bare object", body: `return {resources={list[1]}}`,
			wantErr: `resources[1].resource is nothing; write {resource=obj, message="why"}`,
		},
		{name: "entry text", body: `return {resources={"a"}}`, wantErr: `resources[1] is a string; write {resource=obj, message="why"}`},
		{name: "resource text", body: `return {resources={{resource="a"}}}`, wantErr: `resources[1].resource is a string; write {resource=obj, message="why"}`},
		{
			name: "message table", body: `return {resources={{resource=list[1], message={}}}}`,
			wantErr: `evaluate returned a message that is a table; use tostring to make it a text`,
		},
		{
			name: "part of an object", body: `return {resources={{resource=list[1].metadata}}}`,
			wantErr: `resources[1].resource has no metadata.name; return an object of resources`,
		},
		{
			name: "foreign object", wantErr: `resources[2].resource is v1 ConfigMap kube-system/x` + never,
			body: `return {resources={{resource=list[1]}, {resource={apiVersion="v1", kind="ConfigMap", metadata={name="x", namespace="kube-system"}}}}}`,
		},
		{
			name: "foreign uid", wantErr: `resources[1].resource is v1 ConfigMap default/a (uid other)` + never,
			body: `return {resources={{resource={apiVersion="v1", kind="ConfigMap", metadata={name="a", namespace="default", uid="other"}}}}}`,
		},
		{
			name: "other kind", wantErr: `resources[1].resource is v1 Secret default/a` + never,
			body: `return {resources={{resource={apiVersion="v1", kind="Secret", metadata={name="a", namespace="default"}}}}}`,
		},
		{
			name: "identity by metatable", wantErr: `resources[1].resource has no metadata.name; return an object of resources`,
			body: `return {resources={{resource=setmetatable({}, {__index=list[1]})}}}`,
		},
		{
			name: "altered name", body: `list[1].metadata.name = "b" return {resources={{resource=list[1]}}}`,
			wantErr: `resources[1].resource was v1 ConfigMap default/a (uid uid-a), ` +
				`but the script made it v1 ConfigMap default/b (uid uid-a); return objects as they were given`,
		},
		{
			name: "altered kind", body: `list[1].kind = "Secret" return {resources={{resource=list[1]}}}`,
			wantErr: `resources[1].resource was v1 ConfigMap default/a (uid uid-a), ` +
				`but the script made it v1 Secret default/a (uid uid-a); return objects as they were given`,
		},
		{
			name: "swapped metadata", body: `list[1].metadata = list[2].metadata return {resources={{resource=list[1]}}}`,
			wantErr: `resources[1].resource was v1 ConfigMap default/a (uid uid-a), ` +
				`but the script made it v1 ConfigMap default/b (uid uid-b); return objects as they were given`,
		},
		{
			name: "endless duplicates", body: `local r, e = {}, {resource=list[1]} for i = 1, 200000 do r[i] = e end return {resources=r}`,
			wantErr: "evaluate returned 200000 resources; it was given 3",
		},
		{name: "raised", body: "\nerror('x')", wantErr: "line 2: x"},
	}
	objects := []object.Object{configMap(t, "a"), configMap(t, "b"), configMap(t, "c")}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := session(t, "function evaluate(list) "+c.body+" end").Aggregate(t.Context(), collection(objects...))
			if text(err) != c.wantErr {
				t.Fatalf("got  %v\nwant %s", err, c.wantErr)
			}
			if err != nil && !isScriptError(err) {
				t.Errorf("%T is no *ScriptError", err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAggregateSeesAList(t *testing.T) {
	s := session(t, `function evaluate()
		local names = {}
		for i, o in ipairs(resources) do names[i] = o.metadata.name end
		return {resources={{resource=resources[#resources], message=table.concat(names, " ") .. tostring(obj)}}}
	end`)
	got, err := s.Aggregate(t.Context(), collection(configMap(t, "a"), configMap(t, "b")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Selected{{1, "a bnil"}}, got); diff != "" {
		t.Error(diff)
	}
	if got, err := session(t, `function evaluate() return {message=#resources} end`).Aggregate(t.Context(), NewCollection()); got != nil || err != nil {
		t.Errorf("of nothing: %v, %v", got, err)
	}
}

func TestAggregateLimits(t *testing.T) {
	s := sessionWith(t, `function evaluate() while true do end end`, Options{AggregateTimeout: 20 * time.Millisecond})
	_, err := s.Aggregate(t.Context(), NewCollection())
	if want := "evaluate took longer than 20ms"; !strings.HasPrefix(text(err), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	s = session(t, `function evaluate() return {resources={{resource=resources[1], message=("é"):rep(1000)}}} end`)
	got, err := s.Aggregate(t.Context(), collection(configMap(t, "a")))
	if err != nil || len(got) != 1 || len(got[0].Message) != 1024 {
		t.Errorf("long message: %d, %v", len(got), err)
	}
}
