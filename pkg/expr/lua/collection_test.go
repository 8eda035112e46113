// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func TestCollection(t *testing.T) {
	c := NewCollection()
	if c.Len() != 0 {
		t.Errorf("a new one has %d", c.Len())
	}
	var want []object.Object
	add := func(o object.Object) {
		// The collection has copied what the caller reuses.
		mine := o
		mine.Raw = []byte(string(o.Raw))
		c.Add(o)
		clear(o.Raw)
		want = append(want, mine)
	}
	add(configMap(t, "a"))
	add(deployment(t, ""))
	add(object.Object{Kind: kind("", "v1", "ConfigMap"), Raw: []byte(`{"data":{"large":"` + strings.Repeat("x", 2*lastBlock) + `"}}`)})
	for i := range 2000 {
		add(object.Object{Kind: kind("", "v1", "ConfigMap"), Raw: fmt.Appendf(nil, `{"data":{"k":"%d%s"}}`, i, strings.Repeat("x", i))})
	}
	compare := func() {
		t.Helper()
		if c.Len() != len(want) {
			t.Fatalf("%d objects, want %d", c.Len(), len(want))
		}
		for i := range want {
			if got := c.Object(i); !reflect.DeepEqual(want[i], got) {
				t.Fatalf("object %d: %.200v, want %.200v", i, got, want[i])
			}
		}
	}
	compare()
	c.Truncate(5000)
	c.Truncate(2)
	want = want[:2]
	compare()
	add(configMap(t, "b"))
	compare()
}

// TestAggregateTouchedObjects returns objects that the script has changed or looked through, and copies of its own.
func TestAggregateTouchedObjects(t *testing.T) {
	cases := []struct {
		name, body string
		want       []Selected
		wantErr    string
	}{
		{name: "looked through", body: `for _, o in ipairs(list) do for k, v in pairs(o) do end for k, v in pairs(o.metadata) do end end
			return {resources={{resource=list[3]}, {resource=list[1]}}}`, want: []Selected{{Index: 2}, {Index: 0}}},
		{name: "changed elsewhere", body: `list[2].data.k = "new" list[2].extra = 1 list[2].metadata.labels = {a="b"}
			return {resources={{resource=list[2]}}}`, want: []Selected{{Index: 1}}},
		{name: "deep copy", body: `local function copy(t) if type(t) ~= "table" then return t end
			local c = {} for k, v in pairs(t) do c[k] = copy(v) end return c end
			return {resources={{resource=copy(list[2])}}}`, want: []Selected{{Index: 1}}},
		{name: "lazy entries", body: `local entries = {{resource=list[1]}} return {resources=entries, other=list[1].metadata}`, want: []Selected{{Index: 0}}},
		{name: "the list itself", body: `return {resources=list}`, wantErr: `resources[1].resource is nothing; write {resource=obj, message="why"}`},
		{
			name: "uid of an object looked through", body: `for k in pairs(list[1].metadata) do end list[1].metadata.uid = nil return {resources={{resource=list[1]}}}`,
			wantErr: `resources[1].resource was v1 ConfigMap default/a (uid uid-a), but the script made it v1 ConfigMap default/a; return objects as they were given`,
		},
		{
			name: "metatable over an object", body: `setmetatable(list[1], {__index={metadata={name="b"}}}) return {resources={{resource=list[1]}}}`,
			want: []Selected{{Index: 0}},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := session(t, "function evaluate(list) "+c.body+" end")
			got, err := s.Aggregate(t.Context(), collection(configMap(t, "a"), configMap(t, "b"), configMap(t, "c")))
			if text(err) != c.wantErr {
				t.Fatalf("got  %v\nwant %s", err, c.wantErr)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAggregateWithoutIdentity adds objects as a child process gets them: with their bytes and nothing else.
func TestAggregateWithoutIdentity(t *testing.T) {
	c := NewCollection()
	for _, name := range []string{"a", "b"} {
		o := configMap(t, name)
		c.Add(object.Object{Kind: o.Kind, Raw: o.Raw})
	}
	s := session(t, `function evaluate(list) return {resources={{resource=list[2]}, {resource={apiVersion="v1", kind="ConfigMap",
		metadata={name="a", namespace="default", uid="uid-a"}}}}} end`)
	got, err := s.Aggregate(t.Context(), c)
	if diff := cmp.Diff([]Selected{{Index: 1}, {Index: 0}}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

// TestWithout: a collection without some objects has the others in their order, and knows where they were.
func TestWithout(t *testing.T) {
	all := collection(configMap(t, "a"), configMap(t, "b"), configMap(t, "c"), configMap(t, "d"))
	for _, test := range []struct{ without, want []int }{
		{nil, []int{0, 1, 2, 3}},
		{[]int{1}, []int{0, 2, 3}},
		{[]int{3, 0}, []int{1, 2}},
		{[]int{0, 1, 2, 3}, nil},
	} {
		rest, place := all.Without(test.without)
		var got []int
		for i := range rest.Len() {
			if string(rest.Object(i).Raw) != string(all.Object(place(i)).Raw) {
				t.Errorf("without %v, the %d-th is %s", test.without, i, rest.Object(i).Raw)
			}
			got = append(got, place(i))
		}
		if !slices.Equal(got, test.want) || all.Len() != 4 {
			t.Errorf("without %v: %v, want %v", test.without, got, test.want)
		}
	}
}
