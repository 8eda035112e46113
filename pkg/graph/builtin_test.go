// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// testObject makes an object of a kind from JSON that has no identity.
func testObject(t *testing.T, kind schema.GroupKind, namespace, name string, value map[string]any) object.Object {
	t.Helper()
	metadata, _ := value["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["name"], metadata["uid"], metadata["resourceVersion"] = name, "uid-"+kind.String()+namespace+name, "1"
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	value["metadata"] = metadata
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	o, err := object.New(object.Kind{GroupVersionKind: kind.WithVersion("v1"), Namespaced: namespace != ""}, raw)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// put puts a value at a path, and returns what then is in its place. size is how many elements and values there are of each list and map.
func put(in any, path []step, value any, size int) any {
	if len(path) == 0 {
		return value
	}
	s, next := path[0], path[1:]
	switch {
	case !s.each:
		fields, _ := in.(map[string]any)
		if fields == nil {
			fields = map[string]any{}
		}
		fields[s.field] = put(fields[s.field], next, value, size)
		return fields
	case s.field == "*":
		fields, _ := in.(map[string]any)
		if fields == nil {
			fields = map[string]any{"other": map[string]any{}}
		}
		fields["some"] = put(fields["some"], next, value, size)
		return fields
	}
	list, _ := in.([]any)
	for len(list) < size {
		list = append(list, map[string]any{"other": "x"})
	}
	list[size-1] = put(list[size-1], next, value, size)
	return list
}

// beside is the path of a field beside the name.
func beside(path []step, field []string) []step {
	end := len(path) - 1
	for end > 0 && path[end].each && path[end].field == "" {
		end-- // the map that holds a list of names
	}
	found := slices.Clone(path[:end])
	for _, name := range field {
		found = append(found, step{field: name})
	}
	return found
}

// loadedAs is an object of any text, that need be none.
func loadedAs(kind schema.GroupKind, namespace string, raw []byte) object.Object {
	return object.Object{Kind: object.Kind{GroupVersionKind: kind.WithVersion("v1"), Namespaced: namespace != ""}, Namespace: namespace, Name: "self", UID: "uid", Raw: raw}
}

func edgesOf(t *Table, o object.Object) (found []Edge) {
	t.Edges(o, func(e Edge) { found = append(found, cloned(e)) })
	return found
}

// What is visited in their order is visited in the same order each time.
func TestPodKindsAreSorted(t *testing.T) {
	table, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	if kinds := table.PodKinds(); !slices.IsSortedFunc(kinds, func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) }) {
		t.Error(kinds)
	}
}

// Each reference of the table comes out of an object that has a name there, with the kind and the namespace that it says, and of no other.
func TestEachReferenceIsRead(t *testing.T) {
	sources, err := BuiltInSources()
	if err != nil {
		t.Fatal(err)
	}
	table, err := NewTable(sources)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string][]Reference{}
	for _, part := range []string{claimSpec, podSpec} {
		for _, s := range sources {
			if s.Kind == part {
				parts[part] = append(parts[part], expand(s, parts)...)
			}
		}
	}
	tried := 0
	for _, s := range sources {
		if s.Kind == podSpec || s.Kind == claimSpec {
			continue
		}
		kind := schema.ParseGroupKind(s.Kind)
		for _, r := range expand(s, parts) {
			tried++
			t.Run(s.Kind+" "+r.Path, func(t *testing.T) {
				for seed := range 12 {
					checkReferenceIsRead(t, table, kind, r, scenes.Example(seed))
				}
			})
		}
	}
	if tried < 500 {
		t.Errorf("the table has %d references only", tried)
	}
}

// scene says what stands beside a name, where the reference may have it.
type scene struct {
	own, self, name, other                              string
	size                                                int
	kind, namespaceFrom, namespaceField, optional, pair bool
}

var scenes = rapid.Custom(func(t *rapid.T) scene {
	name := rapid.StringMatching(`[a-z]([a-z0-9-]{0,10}[a-z])?`)
	return scene{
		rapid.SampledFrom([]string{"", "shop"}).Draw(t, "own"), name.Draw(t, "self"), name.Draw(t, "name"), name.Draw(t, "other"), rapid.IntRange(1, 3).Draw(t, "size"),
		rapid.Bool().Draw(t, "kind"), rapid.Bool().Draw(t, "from"), rapid.Bool().Draw(t, "namespace"), rapid.Bool().Draw(t, "optional"), rapid.Bool().Draw(t, "pair"),
	}
})

func checkReferenceIsRead(t *testing.T, table *Table, kind schema.GroupKind, r Reference, s scene) {
	t.Helper()
	c, path, err := compile(r)
	if err != nil {
		t.Fatal(err)
	}
	own, self, name, other, size := s.own, s.self, s.name, s.other, s.size
	want := Name{GroupKind: c.to, Namespace: own, Name: name}
	if own == "" {
		want.Namespace = "*"
	}
	value := map[string]any{}
	set := func(path []step, text string) { value, _ = put(value, path, text, size).(map[string]any) }
	set(path, name)
	if r.Namespace != "" {
		want.Namespace = strings.TrimPrefix(r.Namespace, "-")
	}
	if len(c.where) > 0 {
		set(beside(path, c.where), cmp.Or(c.whereValue, "x"))
	}
	if len(c.kind) > 0 && s.kind || c.to.Kind == "" {
		want.GroupKind = schema.GroupKind{Kind: "Widget", Group: c.to.Group}
		set(beside(path, c.kind), "Widget")
		if len(c.group) > 0 {
			want.Group = "example.com"
			set(beside(path, c.group), "example.com/v1")
		}
	}
	if len(c.namespaceFrom) > 0 && s.namespaceFrom {
		want.Namespace = "from"
		set(beside([]step{{}}, c.namespaceFrom), "from")
	}
	if len(c.namespace) > 0 && (s.namespaceField || r.Where == r.NamespaceField) {
		want.Namespace = other
		set(beside(path, c.namespace), other)
	}
	switch {
	case r.Format == pairFormat && s.pair:
		want.Namespace = other
		set(path, other+"/"+name)
	case r.Format == hostFormat:
		want.Namespace = other
		set(path, "https://"+name+"."+other+".svc.cluster.local:443/x")
	case r.Format != "" && r.Format != pairFormat:
		want.Name = strings.NewReplacer("{}", name, "{metadata.name}", self).Replace(r.Format)
	}
	if r.Path == "metadata.name" {
		self = name
	}
	optional := r.Optional
	if len(c.option) > 0 && s.optional {
		optional = true
		value, _ = put(value, beside(path, c.option), true, size).(map[string]any)
	}
	wanted := Edge{To: want, Path: r.Path, Optional: optional, Strength: c.Strength}
	if edges := edgesOf(table, testObject(t, kind, own, self, value)); !slices.Contains(edges, wanted) {
		t.Fatalf("no %+v in %+v", wanted, edges)
	}
	if r.Path == "metadata.name" || r.Absent != "" {
		return
	}
	value, _ = put(value, path, nil, size).(map[string]any)
	if edges := edgesOf(table, testObject(t, kind, own, self, value)); slices.Contains(edges, wanted) {
		t.Fatalf("there is still %+v", wanted)
	}
}

func TestServiceInAURL(t *testing.T) {
	for text, want := range map[string]string{
		"web.shop.svc": "shop/web", "web.shop.svc.cluster.local": "shop/web", "web.shop.svc.cluster.local.": "shop/web", "https://web.shop.svc": "shop/web",
		"https://web.shop.svc:443/validate?a=b": "shop/web", "web.shop.svc:80": "shop/web",
		"web.shop": "/", "web": "/", "example.com": "/", "https://hooks.example.com/svc": "/", "https://a.b.c.svc": "/", "": "/", "://": "/",
	} {
		if namespace, name := serviceIn(text); namespace+"/"+name != want {
			t.Errorf("%q names %s/%s, want %s", text, namespace, name, want)
		}
	}
}

// Who need not be read for the findings of a kind is not.
func TestNamedBy(t *testing.T) {
	table, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		kind, by string
		want     bool
	}{
		{"ConfigMap", "Pod", true},
		{"ConfigMap", "ConfigMap", true},
		{"ConfigMap", "Role." + rbacGroup, true},
		{"ConfigMap", "RoleBinding." + rbacGroup, false},
		{"ConfigMap", "HorizontalPodAutoscaler.autoscaling", false},
		{"ConfigMap", "PersistentVolume", true},
		{"ConfigMap", "Secret", false},
		{"Secret", "PersistentVolume", true},
		{"Secret", "ServiceAccount", true},
		{"Secret", "Workflow.argoproj.io", true},
		{"ServiceAccount", "ClusterRoleBinding." + rbacGroup, true},
		{"ServiceAccount", "Ingress.networking.k8s.io", false},
		{"ClusterRole." + rbacGroup, "ClusterRole." + rbacGroup, true},
		{"Role." + rbacGroup, "ClusterRole." + rbacGroup, true},
		{"Role." + rbacGroup, "Pod", false},
		{"PriorityClass.scheduling.k8s.io", "CronJob.batch", true},
		{"PriorityClass.scheduling.k8s.io", "Ingress.networking.k8s.io", false},
		{"PersistentVolumeClaim", "StatefulSet.apps", true},
		{"PersistentVolumeClaim", "PersistentVolume", true},
		{"ServiceAccount", "PersistentVolume", false},
	} {
		if got := slices.Contains(table.NamedBy(schema.ParseGroupKind(test.kind)), schema.ParseGroupKind(test.by)); got != test.want {
			t.Errorf("a %s may name a %s: %t", test.by, test.kind, got)
		}
	}
	for kind, want := range map[string]bool{"Secret": false, "ConfigMap": false, "Service": true, "Pod": true, "ClusterRole." + rbacGroup: true, "Widget": false} {
		if got := table.NeedsBody(schema.ParseGroupKind(kind)); got != want {
			t.Errorf("the body of a %s is needed: %t", kind, got)
		}
	}
}
