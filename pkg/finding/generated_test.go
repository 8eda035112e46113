// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// named are the kinds that are unused when nothing names them, those that are cluster-scoped with a "-".
var named = []string{
	"ConfigMap", "Secret", "PersistentVolumeClaim", "ServiceAccount", "-StorageClass.storage.k8s.io", "-PriorityClass.scheduling.k8s.io",
	"-RuntimeClass.node.k8s.io", "-IngressClass.networking.k8s.io", "-VolumeSnapshotClass.snapshot.storage.k8s.io",
	"Service", "Role.rbac.authorization.k8s.io", "-ClusterRole.rbac.authorization.k8s.io",
}

// use is an object that names others by one path of the table.
type use struct {
	source object.Object
	path   string
	names  []graph.Name
}

// Whatever is named by any path of the table is never Unused, and without what names it, it is.
func TestGeneratedClusters(t *testing.T) {
	t.Parallel()
	table, uses, kinds := tableOf(t), usesOfTable(t), everyKind(t)
	if len(uses) < 3000 {
		t.Fatalf("the table has %d paths to what can be unused", len(uses))
	}
	var wanted []finding.Want
	for _, kind := range named {
		to := gk(strings.TrimPrefix(kind, "-"))
		isOf := func(name graph.Name) bool { return name.GroupKind == to }
		if !slices.ContainsFunc(uses, func(u use) bool { return slices.ContainsFunc(u.names, isOf) }) {
			t.Errorf("no path of the table leads to a %s", to)
		}
		wanted = append(wanted, finding.Want{Kind: to, Type: v1alpha1.FindingUnused})
	}
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfNDistinct(rapid.IntRange(0, len(uses)-1), 1, 20, rapid.ID[int]).Draw(t, "uses")
		left := rapid.IntRange(0, len(some)-1).Draw(t, "the one that goes")
		var objects []object.Object
		var targets, gone []graph.Name
		for i, n := range some {
			objects = append(objects, uses[n].source)
			targets = append(targets, uses[n].names...)
			if i == left {
				gone = uses[n].names
			}
		}
		for _, name := range targets {
			objects = append(objects, target(t, name, kinds))
		}
		options := finding.Options{Table: table, Served: kinds, Now: now, Wanted: wanted}
		for _, f := range judge(options, objects) {
			if name := (graph.Name{GroupKind: f.Kind.GroupKind(), Namespace: f.Namespace, Name: f.Name}); isUnused(f) && slices.Contains(targets, name) {
				t.Fatalf("%s is unused, but named", f.String())
			}
		}
		without := slices.Delete(objects, left, left+1)
		var unused []graph.Name
		for _, f := range judge(options, without) {
			if isUnused(f) {
				unused = append(unused, graph.Name{GroupKind: f.Kind.GroupKind(), Namespace: f.Namespace, Name: f.Name})
			}
		}
		for _, name := range gone {
			if !slices.Contains(unused, name) {
				t.Fatalf("%s is not unused, although %s at %s names it no more", name, uses[some[left]].source, uses[some[left]].path)
			}
		}
	})
}

func isUnused(f *finding.Finding) bool {
	return f.Type == v1alpha1.FindingUnused && len(f.Unknown) == 0
}

func judge(options finding.Options, objects []object.Object) []*finding.Finding {
	f := finding.New(options)
	for _, list := range f.Lists() {
		for _, o := range objects {
			if o.Kind.GroupKind() != list.Kind.GroupKind() || !list.Selects(o) {
				continue
			}
			if list.MetadataOnly {
				o.Raw = []byte(`{"metadata":` + string(object.JSON(o.Raw).Field("metadata")) + `}`)
			}
			f.Look(list, o)
		}
	}
	return slices.Collect(f.Findings())
}

// clusterScoped are kinds of the table that have no namespace, beside those of the tests' resources.
var clusterScoped = []string{"ClusterIssuer", "ClusterSecretStore", "ClusterExternalSecret", "CSIDriver", "CSINode", "ClusterTriggerAuthentication"}

// everyKind are all kinds of the table and of the rows.
func everyKind(t testing.TB) []object.Kind {
	kinds := served(t)
	add := func(gk schema.GroupKind, namespaced bool) {
		if slices.ContainsFunc(kinds, func(k object.Kind) bool { return k.GroupKind() == gk }) {
			return
		}
		kinds = append(kinds, object.Kind{GroupVersionKind: gk.WithVersion("v1"), Resource: strings.ToLower(gk.Kind) + "s", Namespaced: namespaced})
	}
	for _, gk := range tableOf(t).Kinds() {
		add(gk, !slices.Contains(clusterScoped, gk.Kind))
	}
	return kinds
}

// usesOfTable makes an object for each path of the table that leads to what can be unused.
func usesOfTable(t testing.TB) (uses []use) {
	t.Helper()
	sources, err := graph.BuiltInSources()
	if err != nil {
		t.Fatal(err)
	}
	kinds, without := everyKind(t), []string{}
	for _, s := range sources {
		i := slices.IndexFunc(kinds, func(k object.Kind) bool { return k.GroupKind() == gk(s.Kind) })
		if i < 0 { // a part of others
			continue
		}
		for _, r := range referencesOf(s, sources) {
			name := fmt.Sprintf("name-%d", len(uses))
			if u := (use{source: objectWith(t, kinds[i], r, name), path: r.Path}); u.findNames(tableOf(t)) {
				uses = append(uses, u)
			} else if isCertain(r) {
				without = append(without, s.Kind+" "+r.Path)
			}
		}
	}
	// The names of these are made of others.
	want := []string{"Alertmanager.monitoring.coreos.com metadata.name", "Pod spec.volumes[].name", "SleepInfo.kube-green.com metadata.name"}
	if slices.Sort(without); !slices.Equal(without, want) {
		t.Fatalf("these references name nothing:\n%s", strings.Join(without, "\n"))
	}
	return uses
}

// referencesOf are the references of a kind, with those of its templates of Pods and claims, one for each kind that a
// field can say, and one that is guessed below each path of which that is said.
func referencesOf(s graph.Source, all []graph.Source) (references []graph.Reference) {
	below := func(path, part string) {
		for _, p := range all {
			for _, r := range p.References {
				if p.Kind == part {
					r.Path = strings.TrimPrefix(path+"."+r.Path, ".")
					references = append(references, r)
				}
			}
		}
	}
	for _, r := range s.References {
		for _, kind := range r.Kinds {
			one := r
			one.Kinds = []string{kind}
			references = append(references, one)
		}
		if len(r.Kinds) == 0 {
			references = append(references, r)
		}
	}
	for _, path := range s.PodSpecs {
		below(path, "PodSpec")
	}
	for _, path := range s.PodTemplates {
		below(path+".spec", "PodSpec")
	}
	for _, path := range s.ClaimSpecs {
		below(path, "PersistentVolumeClaimSpec")
	}
	for _, path := range s.Guess {
		guessed := strings.TrimPrefix(strings.TrimPrefix(path, ".")+".secretName", ".")
		references = append(references, graph.Reference{Path: guessed, To: "Secret", NamespaceField: "namespace", Strength: graph.Learned})
	}
	return references
}

// isCertain reports whether a reference names one object, of a kind that can be unused.
func isCertain(r graph.Reference) bool {
	return r.Namespace != "*" && r.Strength != graph.Hints && !strings.ContainsAny(r.Format, "*#/") &&
		slices.ContainsFunc(named, func(kind string) bool { return strings.TrimPrefix(kind, "-") == r.To })
}

// findNames takes what the object names for certain of what can be unused.
func (u *use) findNames(table *graph.Table) bool {
	table.Edges(u.source, func(edge graph.Edge) {
		isNamed := func(kind string) bool { return gk(strings.TrimPrefix(kind, "-")) == edge.To.GroupKind }
		if i := slices.IndexFunc(named, isNamed); i >= 0 && edge.Strength != graph.Hints && strings.HasPrefix(edge.To.Name, "name-") && !strings.ContainsAny(edge.To.Name+edge.To.Namespace, "*#") {
			if named[i][0] == '-' {
				edge.To.Namespace = ""
			} else if edge.To.Namespace == "" {
				return
			}
			if !slices.Contains(u.names, edge.To) {
				u.names = append(u.names, edge.To)
			}
		}
	})
	return len(u.names) > 0
}

// objectWith is an object with a name at the path of a reference, and beside it what the reference asks for.
func objectWith(t testing.TB, kind object.Kind, r graph.Reference, name string) object.Object {
	t.Helper()
	metadata := map[string]any{"name": "source-" + name, "uid": "source-" + name, "resourceVersion": "1"}
	if kind.Namespaced {
		metadata["namespace"] = "shop"
	}
	root := map[string]any{"metadata": metadata}
	text := name
	if r.Format == "host" {
		text += ".shop.svc"
	}
	holder := put(root, r.Path, text)
	to := r.To
	if len(r.Kinds) > 0 {
		to = r.Kinds[0]
	}
	beside := func(path string, value any) {
		if path != "" && value != "" {
			put(holder, path, value)
		}
	}
	beside(r.KindField, gk(to).Kind)
	beside(r.GroupField, gk(to).Group)
	beside(r.NamespaceField, "team")
	if field, value, has := strings.Cut(r.Where, "="); has {
		beside(field, value)
	} else if field != r.NamespaceField {
		beside(field, map[string]any{"a": "b"})
	}
	raw, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	o, err := object.New(kind, raw)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// put puts a value at a path, and returns the map that holds it.
func put(root map[string]any, path string, value any) map[string]any {
	field, rest := path, ""
	if inner, ok := strings.CutPrefix(path, "["); ok {
		field, rest, _ = strings.Cut(inner, "]")
	} else if end := strings.IndexAny(path, ".["); end >= 0 {
		field, rest = path[:end], path[end:]
	}
	lists := 0
	for strings.HasPrefix(rest, "[]") {
		rest = rest[2:]
		lists++
	}
	rest = strings.TrimPrefix(rest, ".")
	holder := root
	if rest != "" {
		inner, _ := root[field].(map[string]any)
		if inner == nil || lists > 0 {
			inner = map[string]any{}
		}
		holder, value = put(inner, rest, value), inner
	}
	for range lists {
		value = []any{value}
	}
	root[field] = value
	return holder
}

// target is an object that a reference names.
func target(t *rapid.T, name graph.Name, kinds []object.Kind) object.Object {
	i := slices.IndexFunc(kinds, func(k object.Kind) bool { return k.GroupKind() == name.GroupKind })
	const selector = `"spec":{"selector":{"app":"gone"}}` // for Services: one without is never unused
	raw := fmt.Sprintf(`{"metadata":{"name":%q,"namespace":%q,"uid":"%s","resourceVersion":"1"},%s}`, name.Name, name.Namespace, name, selector)
	o, err := object.New(kinds[i], []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return o
}
