// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
		Kind: "Widget.example.com", Strength: Learned, anyName: true, PodTemplates: []string{"spec.template"},
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
			{Path: "spec.resourceClaimName", To: "ResourceClaim.resource.k8s.io"},
			{Path: "spec.target.name", KindField: "kind", GroupField: "apiVersion"},
			{Path: "spec.template.spec.customSecretName", To: "Secret"},
			{Path: "spec.tls.secretName", To: "Secret", NamespaceField: "secretNamespace"},
			{Path: "spec.valuesFrom[].name", KindField: "kind"},
			{Path: "status.credentialName", To: "Secret"},
		},
	}
	for _, want := range []Source{
		want,
		{Kind: "Open.example.com", Strength: Learned, Guess: []string{"."}},
		// Of an old CustomResourceDefinition without a schema the server publishes no more than that it is an object.
		{Kind: "Bare.example.com", Strength: Learned, Guess: []string{"."}},
		// Its only texts are a time, and what its controller saw.
		{Kind: "Plain.example.com", Strength: Learned},
		// Each of its fields may be a name, and none says of what.
		{Kind: "Theme.example.com", Strength: Learned, anyName: true},
		{Kind: "Keys.example.com", Strength: Learned, anyName: true},
		{Kind: "Port.example.com", Strength: Learned, anyName: true},
	} {
		if diff := cmp.Diff(want, found[want.Kind], cmp.AllowUnexported(Source{})); diff != "" {
			t.Error(diff)
		}
	}
	deep := found["Deep.example.com"]
	if len(deep.References) < 10 || len(deep.References) > 30 || len(deep.Guess) != 1 || deep.References[0].Path != "spec.children[].children[].children[].children[].children[]."+
		"children[].children[].children[].children[].children[].secretName" && deep.References[len(deep.References)-1].Path != "spec.secretName" {
		t.Errorf("%d references, guessing at %v: %v", len(deep.References), deep.Guess, deep.References)
	}
	if len(found) != 8 {
		t.Errorf("learned of %d kinds", len(found))
	}
}

func TestFreeTextMayNameAnything(t *testing.T) {
	table, err := NewTable(slices.Collect(maps.Values(learned(t))))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, kind := range table.NamedBy(schema.GroupKind{Kind: "ConfigMap"}) {
		got = append(got, kind.Kind)
	}
	if want := []string{"Bare", "Deep", "Keys", "Open", "Port", "Theme", "Widget"}; !slices.Equal(got, want) {
		t.Errorf("ConfigMaps are named by %v, not by %v", got, want)
	}
	theme := schema.GroupKind{Group: "example.com", Kind: "Theme"}
	if !table.NeedsBody(theme) || slices.Contains(table.PodKinds(), theme) {
		t.Error("a text is read as metadata, or as a template of Pods")
	}
}

// widget names everything in ways that are learned, or guessed.
const widget = `
apiVersion: example.com/v1
kind: Widget
metadata: {namespace: shop, name: w, annotations: {secretName: no}}
spec:
  note: no
  resourceClaimName: gpu
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner}]
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
	"ConfigMap shop/env", "ConfigMap shop/values", "Deployment shop/web", "PersistentVolumeClaim shop/claim", "ResourceClaim shop/gpu", "Secret certs/ca", "Secret certs/tls",
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
			if !slices.Contains(table.NamedBy(secretKind), kind) || !table.NamesElsewhere(kind, secretKind) || !table.NeedsBody(kind) {
				t.Error("the table does not know what Widgets may name")
			}
		})
	}
}

// CloudNativePG and others name Secrets by fields that do not say so: accessKeyId has the name, and a key in it.
func TestGuessedKeys(t *testing.T) {
	table, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	g := New(table, nil)
	g.Add(loaded(t, "{apiVersion: postgresql.cnpg.io/v1, kind: Cluster, metadata: {namespace: shop, name: pg}, spec: {backup: {barmanObjectStore: {s3Credentials: {accessKeyId: {name: s3, key: a}}}}}}")[0].Parts())
	if !g.Use(named("Secret shop/s3")).IsUsed() {
		t.Error("the Secret is not used")
	}
}

// A text that was learned may say the namespace, too.
func TestLearnedPairs(t *testing.T) {
	for name, source := range map[string]Source{"learned": learned(t)["Widget.example.com"], "guessed": {Kind: "Widget.example.com", Guess: []string{"."}}} {
		table, err := NewTable([]Source{source})
		if err != nil {
			t.Fatal(err)
		}
		g := New(table, nil)
		g.Add(loaded(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {namespace: shop, name: w}, spec: {extraSecrets: [certs/tls, a/b/c, own]}}")[0].Parts())
		if widget := (schema.GroupKind{Group: "example.com", Kind: "Widget"}); !table.NamesElsewhere(widget, claimKind) {
			t.Errorf("%s: the table does not know that a Widget may name claims of other namespaces", name)
		}
		for secret, want := range map[string]bool{"certs/tls": true, "shop/own": true, "shop/tls": false, "a/b": false} {
			if got := g.Use(named("Secret " + secret)).IsUsed(); got != want {
				t.Errorf("%s: %s is used: %t", name, secret, got)
			}
		}
	}
}

// A reference that says no group means the kind of Kubernetes that has the name, and a role may have any name.
func TestKindsWithoutGroup(t *testing.T) {
	const object = `
apiVersion: example.com/v1
kind: Widget
metadata: {namespace: shop, name: w}
spec:
  valuesFrom: [{kind: ClusterRole, name: "shop:Reader"}, {kind: PriorityClass, name: high}, {kind: ConfigMap, name: settings}]
  target: {kind: Role, name: writer}
`
	for name, source := range map[string]Source{"learned": learned(t)["Widget.example.com"], "guessed": {Kind: "Widget.example.com", Guess: []string{"."}}} {
		table, err := NewTable([]Source{source})
		if err != nil {
			t.Fatal(err)
		}
		g := New(table, map[schema.GroupKind]bool{clusterRoleKind: true, {Group: "scheduling.k8s.io", Kind: "PriorityClass"}: true})
		g.Add(loaded(t, strings.TrimSpace(object))[0].Parts())
		for _, used := range []string{
			"ClusterRole.rbac.authorization.k8s.io shop:Reader", "PriorityClass.scheduling.k8s.io high", "ConfigMap shop/settings",
			"Role.rbac.authorization.k8s.io shop/writer",
		} {
			if !g.Use(named(used)).IsUsed() {
				t.Errorf("%s: %s is not used", name, used)
			}
		}
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
	g.Add(o.Parts())
	if use := g.Use(named("Secret anywhere/a")); !use.IsUsed() || use.Users[0].Strength != Learned {
		t.Errorf("%+v", use)
	}
}

// A field that no path can name is found by what it looks like.
func TestLearnOddNames(t *testing.T) {
	for field, want := range map[string]Source{
		"a]tokenSecretName":  {References: []Reference{{Path: "spec.a]tokenSecretName", To: "Secret"}}},
		"a.tokenSecretName":  {References: []Reference{{Path: "spec[a.tokenSecretName]", To: "Secret"}}},
		"a].tokenSecretName": {Guess: []string{"spec"}},
		"":                   {Guess: []string{"spec"}},
	} {
		document := fmt.Sprintf(`{"components": {"schemas": {"Odd": {"type": "object", "properties": {"spec": {"type": "object", "properties": {%q: {"type": "string"}}}},
			"x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Odd"}]}}}}`, field)
		sources, err := LearnDocument([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		want.Kind, want.Strength, want.anyName = "Odd.example.com", Learned, want.Guess == nil
		if diff := cmp.Diff([]Source{want}, sources, cmp.AllowUnexported(Source{})); diff != "" {
			t.Errorf("%q: %s", field, diff)
		}
		table, err := NewTable(sources)
		if err != nil {
			t.Fatalf("%q: %v", field, err)
		}
		g := New(table, nil)
		g.Add(loaded(t, fmt.Sprintf("{apiVersion: example.com/v1, kind: Odd, metadata: {namespace: shop, name: w}, spec: {%q: named}}", field))[0].Parts())
		if field != "" && !g.Use(named("Secret shop/named")).IsUsed() {
			t.Errorf("%q names nothing", field)
		}
	}
}

func TestLearnDocumentIsBroken(t *testing.T) {
	if _, err := LearnDocument([]byte(`{"components":{"schemas":[]}}`)); err == nil || !strings.HasPrefix(err.Error(), "learning references from schemas: ") {
		t.Error(err)
	}
}
