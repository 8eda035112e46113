// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

func learned(t *testing.T) map[string]Source {
	t.Helper()
	document, err := os.ReadFile("testdata/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := LearnDocument(document)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]Source{}
	for _, s := range sources {
		found[s.Kind] = s
	}
	return found
}

func TestLearnDocument(t *testing.T) {
	found := learned(t)
	want := Source{
		Kind: "Widget.example.com", Strength: Learned, PodTemplates: []string{"spec.template"},
		Guess: []string{"spec.openSecretRef", "spec.template.metadata", "spec.values"},
		References: []Reference{
			{Path: "spec.caSecretRef.name", To: "Secret", NamespaceField: "namespace", OptionalField: "optional"},
			{Path: "spec.env[].valueFrom.configMapKeyRef.name", To: "ConfigMap"},
			{Path: "spec.extraSecrets[]", To: "Secret"},
			{Path: "spec.imagePullSecrets[].name", To: "Secret"},
			{Path: "spec.openSecretRef.name", To: "Secret"},
			{Path: "spec.pools.*.existingClaim", To: "PersistentVolumeClaim"},
			{Path: "spec.pools.*.storageClassName", To: "StorageClass.storage.k8s.io"},
			{Path: "spec.pools.*[the.tokenSecretName]", To: "Secret"},
			{Path: "spec.target.name", KindField: "kind", GroupField: "apiVersion"},
			{Path: "spec.template.spec.customSecretName", To: "Secret"},
			{Path: "spec.tls.secretName", To: "Secret", NamespaceField: "secretNamespace"},
			{Path: "spec.valuesFrom[].name", KindField: "kind"},
			{Path: "status.credentialName", To: "Secret"},
		},
	}
	if diff := cmp.Diff(want, found["Widget.example.com"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Source{Kind: "Open.example.com", Strength: Learned, Guess: []string{"."}}, found["Open.example.com"]); diff != "" {
		t.Error(diff)
	}
	deep := found["Deep.example.com"]
	if len(deep.References) < 10 || len(deep.References) > 30 || len(deep.Guess) != 1 || deep.References[0].Path != "spec.children[].children[].children[].children[].children[]."+
		"children[].children[].children[].children[].children[].secretName" && deep.References[len(deep.References)-1].Path != "spec.secretName" {
		t.Errorf("%d references, guessing at %v: %v", len(deep.References), deep.Guess, deep.References)
	}
	if len(found) != 3 {
		t.Errorf("learned of %d kinds", len(found))
	}
}

// widget names everything in ways that are learned, or guessed.
const widget = `
apiVersion: example.com/v1
kind: Widget
metadata: {namespace: shop, name: w, annotations: {secretName: no}}
spec:
  note: no
  tls: {secretName: tls, secretNamespace: certs}
  caSecretRef: {name: ca, namespace: certs, optional: true}
  env: [{valueFrom: {configMapKeyRef: {name: env, key: k}}}]
  extraSecrets: [extra]
  imagePullSecrets: [{name: registry}]
  pools: {one: {existingClaim: claim, storageClassName: fast, the.tokenSecretName: pool}}
  target: {apiVersion: apps/v1, kind: Deployment, name: web}
  valuesFrom: [{kind: ConfigMap, name: values}]
  template: {metadata: {}, spec: {containers: [{image: i, env: [{valueFrom: {secretKeyRef: {name: db, key: k}}}]}], serviceAccountName: robot, customSecretName: custom}}
  values: {deep: [{auth: {existingSecret: helm, password: Not/a/name}}, {secretRef: {name: "{{ .Release }}-x"}}]}
  openSecretRef: {name: open}
status: {credentialName: cred}
`

var widgetNames = []string{
	"ConfigMap shop/env", "ConfigMap shop/values", "Deployment shop/web", "PersistentVolumeClaim shop/claim", "Secret certs/ca", "Secret certs/tls",
	"Secret shop/*-x", "Secret shop/cred", "Secret shop/custom", "Secret shop/db", "Secret shop/extra", "Secret shop/helm", "Secret shop/open", "Secret shop/pool",
	"Secret shop/registry", "ServiceAccount shop/robot", "StorageClass fast",
}

func namesOf(edges []Edge) []string {
	var names []string
	for _, e := range edges {
		if e.To.Kind == "StorageClass" {
			e.To.Namespace = "" // a Graph knows that it has none
		}
		names = append(names, e.To.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// What is learned from a schema, and what is guessed from the object alone, are the same; and neither can make anything look missing.
func TestLearnedReferences(t *testing.T) {
	sources, err := BuiltInSources()
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]Source{
		"learned": learned(t)["Widget.example.com"],
		"guessed": {Kind: "Widget.example.com", Guess: []string{"."}},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := NewTable(append(slices.Clone(sources), source))
			if err != nil {
				t.Fatal(err)
			}
			edges := edgesOf(table, loaded(t, strings.TrimSpace(widget))[0])
			if diff := cmp.Diff(widgetNames, namesOf(edges)); diff != "" {
				t.Error(diff)
			}
			for _, e := range edges {
				if e.Strength == Names || (e.Strength == Reads) != strings.Contains(e.To.Name, "*") {
					t.Errorf("%s at %s is %s", e.To, e.Path, e.Strength)
				}
			}
			kind := schema.GroupKind{Group: "example.com", Kind: "Widget"}
			if !slices.Contains(table.NamedBy(secretKind), kind) || !table.CrossesNamespaces(kind) || !table.NeedsBody(kind) {
				t.Error("the table does not know what Widgets may name")
			}
		})
	}
}

// A cluster-scoped resource that does not say which namespace it means may mean any.
func TestLearnedOfClusterScoped(t *testing.T) {
	table, err := NewTable([]Source{learned(t)["Widget.example.com"]})
	if err != nil {
		t.Fatal(err)
	}
	o := loaded(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {extraSecrets: [a]}}")[0]
	g := New(table, nil)
	g.Add(o)
	if use := g.Use(named("Secret anywhere/a")); !use.IsUsed() || use.Users[0].Strength != Learned {
		t.Errorf("%+v", use)
	}
}

func TestLearnDocumentIsBroken(t *testing.T) {
	if _, err := LearnDocument([]byte(`{"components":{"schemas":[]}}`)); err == nil || !strings.HasPrefix(err.Error(), "learning references from schemas: ") {
		t.Error(err)
	}
}

// Each error says what is wrong and what to write, and all of them come at once.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		`kind: Widget`: `references: this is no list: begin each kind with a dash, as in "- kind: Deployment.apps"`,
		`- 1`:          `references: entry 1 (it has no kind): it is no map: write "kind:" and "references:"`,
		`- kind: Widget.example.com
- kinds: [x]
  references: [{path: a, two: b, To: Secret}]`: `references: entry 1 (Widget.example.com): it says nothing: write references, podTemplates, podSpecs, claimSpecs or guess
references: entry 2 (it has no kind): there is no field "kinds": it can be kind, podTemplates, podSpecs, claimSpecs, guess, references, strength
there is no field "references[0].To": it can be FIELDS
there is no field "references[0].two": it can be FIELDS
kind is missing: write the kind whose objects hold the names, with its group after a dot, as in Deployment.apps`,
		`- kind: Widget
  references: [{path: [a], to: Secret}]`: `references: entry 1 (Widget): references.path is a array: write a string`,
		`- kind: Widget.example.com
  podTemplates: ["a..b"]
  references:
  - {path: "a[", to: Secret}
  - {path: spec.x}
  - {to: Secret}
  - {path: spec.y, to: Secret, format: "x-{", kinds: [Secret], strength: Sure, kindField: "a[]"}
  - {path: spec.z, to: Secret, format: "x", groupField: group}
  - {path: "spec.l[]", to: Secret, absent: a}`: `references of Widget.example.com: path "a[": there is no ] after "["
references of Widget.example.com: path "spec.x": to is missing: write the kind that is named, with its group after a dot, as in Secret or Role.rbac.authorization.k8s.io, ` +
			`or kindField, if a field beside the name says it
references of Widget.example.com: path "": path is missing: write which field holds the name, for example spec.secretName
references of Widget.example.com: path "spec.y": "a[]" must lead to one field, without [] and *
format "x-{" has a { without }
there is no strength "Sure": write Names, Learned, Reads or Hints, or leave it out
references of Widget.example.com: path "spec.z": format "x" has no {}: put it where the name goes, as in {}-tls, or write namespace/name
groupField and kinds go with kindField only: write to, or add kindField
references of Widget.example.com: path "spec.l[]": absent goes with a path that ends with a field's name
references of Widget.example.com: podTemplates "a..b": a field's name is missing before ".b"`,
	} {
		_, err := Parse([]byte(text))
		want = strings.ReplaceAll(want, "FIELDS", "path, to, kinds, kindField, groupField, namespaceField, namespaceFrom, namespace, optionalField, optional, where, absent, format, strength")
		if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
			t.Errorf("%s\n%s", text, diff)
		}
	}
}

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
	f.Add(text)
	f.Add(realPod(f, 1).Raw)
	f.Add([]byte(`{"metadata":{"name":"a","uid":"b","resourceVersion":"c"},"spec":{"volumes":[{"secret":null},1,{"secret":{"secretName":"${"}}],"a":[[{"secretRefs":["{{","$("]}]]}}`))
	f.Add([]byte(`{"rules":[{"resourceNames":["a",1],"resources":["*"],"apiGroups":["*"]}],"subjects":[{"kind":"User","name":"system:serviceaccount:"}],"spec":`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, kind := range table.Kinds() {
			for _, namespace := range []string{"", "shop"} {
				o := loadedAs(kind, namespace, raw)
				g := New(table, nil)
				g.Add(o)
				table.Edges(o, func(e Edge) {
					if e.To.Kind == "" || e.To.Name == "" || e.Path == "" || e.Strength.rank() < 0 {
						t.Errorf("%+v", e)
					}
					if use := g.Use(e.To); !e.To.isPattern() && e.To != NameOf(o) && len(use.Users) == 0 && !useOf(o).none {
						t.Errorf("nobody uses %+v", e)
					}
				})
			}
		}
	})
}

// A path that is read is written back in the same way.
func FuzzParsePath(f *testing.F) {
	for _, path := range []string{"", "a.b[].c", "a[x.y/z][].*", "a.", ".", "[", "[]", "a[]b", "*", "a[*]", "a..b"} {
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
