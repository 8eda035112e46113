// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"os"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"sigs.k8s.io/yaml"
)

// Whatever the object, the table and its paths, there is an answer.
func FuzzEdges(f *testing.F) {
	sources, err := BuiltInSources()
	if err != nil {
		f.Fatal(err)
	}
	sources = append(sources, Source{Kind: "Widget.example.com", Guess: []string{".", "spec", "spec.*[]"}, PodSpecs: []string{"spec"}})
	table, err := NewTable(sources)
	if err != nil {
		f.Fatal(err)
	}
	text, err := yaml.YAMLToJSON([]byte(widget))
	if err != nil {
		f.Fatal(err)
	}
	var kinds []schema.GroupKind
	for _, kind := range table.Kinds() {
		if irregular[kind].add != nil || slices.Contains([]string{"Pod", "Widget", "StatefulSet", "PersistentVolume", "StorageClass", "Ingress", "Secret"}, kind.Kind) {
			kinds = append(kinds, kind)
		}
	}
	f.Add(text)
	f.Add(realPod(f, 1).Raw)
	f.Add([]byte(`{"metadata":{"name":"a","uid":"b","resourceVersion":"c"},"spec":{"volumes":[{"secret":null},1,{"secret":{"secretName":"${"}}],"a":[[{"secretRefs":["{{","$("]}]]}}`))
	f.Add([]byte(`{"rules":[{"resourceNames":["a",1],"resources":["*"],"apiGroups":["*"]}],"subjects":[{"kind":"User","name":"system:serviceaccount:"}],"spec":`))
	f.Add([]byte(`{"":{"kind":"ConfigMap","name":"a"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, kind := range kinds {
			for _, namespace := range []string{"", "shop"} {
				o := loadedAs(kind, namespace, raw)
				g := New(table, nil)
				g.Add(o.Parts())
				table.Edges(o, func(e Edge) {
					if e.To.Kind == "" || e.To.Name == "" || e.Path == "" || e.Strength.rank() < 0 {
						t.Errorf("%+v", e)
					}
					if use := g.Use(e.To); !e.To.isPattern() && e.To != NameOf(o) && len(use.Users) == 0 && !useOf(o.Parts()).none {
						t.Errorf("nobody uses %+v", e)
					}
				})
			}
		}
	})
}

// A path that is read is written back in the same way.
func FuzzParsePath(f *testing.F) {
	for _, path := range []string{"", "a.b[].c", "a[x.y/z][].*", "a.", ".", "[", "[]", "a[]b", "*", "a[*]", "a..b", "]0", "a.]"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		steps, err := parsePath(path)
		if err != nil {
			return
		}
		written := ""
		for _, s := range steps {
			switch {
			case s.each && s.field == "":
				written += "[]"
			case s.each:
				written = join(written, "*")
			default:
				written = joinName(written, s.field)
			}
		}
		again, err := parsePath(written)
		if err != nil || !slices.Equal(steps, again) {
			t.Errorf("%q is %q: %v, %v", path, written, again, err)
		}
	})
}

func FuzzLearnDocument(f *testing.F) {
	document, err := os.ReadFile("testdata/openapi.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(document)
	f.Fuzz(func(t *testing.T, document []byte) {
		sources, err := LearnDocument(document)
		if err != nil {
			return
		}
		if _, err := NewTable(sources); err != nil {
			t.Error(err)
		}
	})
}
