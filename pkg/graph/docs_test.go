// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the tables of docs/reference/references.md anew")

const docs = "../../docs/reference/references.md"

// TestReferencesAreDocumented: go test ./pkg/graph -run TestReferencesAreDocumented -update writes the tables.
func TestReferencesAreDocumented(t *testing.T) {
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	sources, err := BuiltInSources()
	if err != nil {
		t.Fatal(err)
	}
	want := between(t, string(text), "<!-- irregular -->\n", "<!-- end of irregular -->", irregularRows())
	want = between(t, want, "|---|---|---|---|---|\n", "<!-- end of the table -->", rowsOf(sources))
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s is out of date: go test ./pkg/graph -run TestReferencesAreDocumented -update writes it", docs)
	}
	if err := os.WriteFile(docs, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
}

// between puts lines between two others.
func between(t *testing.T, text, begin, end string, lines []string) string {
	t.Helper()
	head, rest, found := strings.Cut(text, begin)
	_, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no %s", docs, end)
	}
	return head + begin + strings.Join(lines, "") + end + tail
}

func irregularRows() (rows []string) {
	for kind, i := range irregular {
		rows = append(rows, fmt.Sprintf("- **%s**: %s.\n", kind, i.about))
	}
	slices.Sort(rows)
	return rows
}

func rowsOf(sources []Source) (rows []string) {
	slices.SortStableFunc(sources, func(a, b Source) int {
		x, y := schema.ParseGroupKind(a.Kind), schema.ParseGroupKind(b.Kind)
		return cmp.Or(cmp.Compare(x.Group, y.Group), cmp.Compare(x.Kind, y.Kind))
	})
	for _, s := range sources {
		add := func(path string, columns ...string) {
			rows = append(rows, fmt.Sprintf("| %s | `%s` | %s |\n", s.Kind, path, strings.Join(columns, " | ")))
		}
		for _, path := range s.PodTemplates {
			add(path, "PodSpec of `"+join(path, "spec")+"`", "", "")
		}
		for _, path := range s.PodSpecs {
			add(path, "PodSpec", "", "")
		}
		for _, path := range s.ClaimSpecs {
			add(path, "PersistentVolumeClaimSpec", "", "")
		}
		for _, path := range s.Guess {
			add(path, "guessed from field names", "", "Learned")
		}
		for _, path := range s.Texts {
			add(path, "objects whose names are in the text", "", "Weak")
		}
		for _, r := range s.References {
			add(r.Path, toColumn(r), namespaceColumn(r), furtherColumn(r))
		}
	}
	return rows
}

func toColumn(r Reference) string {
	to := r.To
	if r.KindField != "" {
		to = "the kind in `" + r.KindField + "`"
		if len(r.Kinds) > 0 {
			to += ": " + strings.Join(r.Kinds, ", ")
		}
	}
	return to
}

func namespaceColumn(r Reference) string {
	var said []string
	for _, field := range []string{r.NamespaceField, r.NamespaceFrom} {
		if field != "" {
			said = append(said, "`"+field+"`")
		}
	}
	switch {
	case r.Format == pairFormat:
		said = append(said, "before the slash")
	case r.Namespace == "*":
		said = append(said, "any")
	case r.Namespace != "" && r.Namespace != "-":
		said = append(said, r.Namespace)
	}
	return strings.Join(said, ", else ")
}

func furtherColumn(r Reference) string {
	var said []string
	if r.Optional || r.OptionalField != "" {
		said = append(said, "optional")
	}
	if r.Where != "" {
		said = append(said, "where `"+r.Where+"`")
	}
	if r.Absent != "" {
		said = append(said, "`"+r.Absent+"` when absent")
	}
	if r.Format != "" && r.Format != pairFormat {
		said = append(said, "as `"+r.Format+"`")
	}
	if r.Strength != "" {
		said = append(said, string(r.Strength))
	}
	return strings.Join(said, ", ")
}

// What the page shows can be declared, and the page has every field.
func TestDeclaredReferences(t *testing.T) {
	page, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	var configMap struct{ Data map[string]string }
	if err := yaml.Unmarshal([]byte(example), &configMap); err != nil {
		t.Fatal(err)
	}
	declared, err := Parse([]byte(configMap.Data["shop.yaml"]), nil)
	if err != nil || len(declared) != 1 || len(declared[0].References) != 4 {
		t.Fatalf("%+v: %v", declared, err)
	}
	sources, err := BuiltInSources()
	if err != nil {
		t.Fatal(err)
	}
	table, err := NewTable(append(sources, declared...))
	if err != nil {
		t.Fatal(err)
	}
	g := New(table, nil)
	for _, o := range loaded(t, strings.TrimSpace(`
apiVersion: shop.example.com/v1
kind: Storefront
metadata: {namespace: shop, name: front}
spec:
  theme: dark
  regions: [{vault: keys, vaultNamespace: eu}, {vault: keys}]
  backup: {apiVersion: v1, kind: PersistentVolumeClaim, name: copy}
  workers: {template: {spec: {containers: [{envFrom: [{configMapRef: {name: env}}]}]}}}`)) {
		g.Add(o.Parts())
	}
	for _, name := range []string{
		"ConfigMap shop/dark", "Secret eu/keys", "Secret shop/keys", "PersistentVolumeClaim shop/copy", "ConfigMap shop/env", "Secret shop/front-session",
	} {
		if !g.Use(named(name)).IsUsed() {
			t.Errorf("%s is not used", name)
		}
	}
	storefront := schema.GroupKind{Group: "shop.example.com", Kind: "Storefront"}
	for kind, want := range map[schema.GroupKind]bool{configMapKind: true, claimKind: true, {Group: rbacGroup, Kind: "Role"}: false} {
		if got := slices.Contains(table.NamedBy(kind), storefront); got != want {
			t.Errorf("a Storefront may name a %s: %t", kind, got)
		}
	}
}
