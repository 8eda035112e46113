// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// Labels that a custom resource may select, in any of the forms that projects have, are a hint. What selects Pods and
// the like is none.
func TestSelectorsOfCustomResources(t *testing.T) {
	for spec, labels := range map[string]struct{ selected, not string }{
		`{selector: {matchLabels: {a: b, c: d}}}`:                                                  {`{a: b, c: d}`, `{a: b}`},
		`{any: [{at: {matchExpressions: [{key: a, operator: In, values: [b, c]}]}}]}`:              {`{a: c}`, `{a: d}`},
		`{at: {matchExpressions: [{key: a, operator: Exists}]}}`:                                   {`{a: x}`, `{b: x}`},
		`{at: {matchExpressions: [{key: a, operator: Odd, values: [b]}]}}`:                         {`{a: x}`, `{b: x}`},
		`{at: {matchLabels: {a: "{{ .name }}"}}}`:                                                  {`{a: x}`, `{b: x}`},
		`{secretSelector: {a: b}}`:                                                                 {`{a: b}`, `{a: c}`},
		`{labelSelector: "a=b,c in (d, e)"}`:                                                       {`{a: b, c: e}`, `{a: b, c: f}`},
		`{labelSelectors: ["a=b"]}`:                                                                {`{a: b}`, `{}`},
		`{labelFilters: [{key: a, operation: Equal, value: b}]}`:                                   {`{a: b}`, `{a: c}`},
		`{labels: [{key: a, operation: "==", value: b}]}`:                                          {`{a: b}`, `{}`},
		`{at: {matchLabels: {a: b}, matchExpressions: [{key: c, operator: NotIn, values: [d]}]}}`:  {`{a: b}`, `{c: d}`},
		`{podSelector: {matchLabels: {a: b}}}`:                                                     {``, `{a: b}`},
		`{affinity: {podAffinity: [{labelSelector: {matchLabels: {a: b}}}]}}`:                      {``, `{a: b}`},
		`{selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}}}`:                {``, `{a: b}`},
		`{match: {any: [{resources: {selector: {matchLabels: {a: b}}}}]}}`:                         {``, `{a: b}`},
		`{at: {matchExpressions: [{key: a, operator: DoesNotExist}]}}`:                             {``, `{b: c}`},
		`{at: {matchLabels: {a: b}, matchExpressions: [{key: c, operator: NOT_IN, values: [d]}]}}`: {`{a: b}`, `{c: d}`},
		`{at: {matchLabels: {a: b}, matchExpressions: [{key: c, operator: Odd, values: [d]}]}}`:    {`{a: b}`, `{c: d}`},
		`{ruleConfigSelector: {matchLabels: {a: b}}}`:                                              {`{a: b}`, `{a: c}`},
		`{serviceAccountSecretSelector: {a: b}}`:                                                   {`{a: b}`, `{a: c}`},
		`{selector: {labels: {a: b}}}`:                                                             {`{a: b}`, `{a: c}`},
		`{selector: {}}`:                                                                           {``, `{a: b}`},
	} {
		g := New(tableOf(t), nil)
		g.Add(loaded(t, "apiVersion: example.com/v1\nkind: Chooser\nmetadata: {namespace: far, name: c}\nspec: "+spec)[0].Parts())
		for i, set := range []string{labels.selected, labels.not} {
			if set == "" {
				continue
			}
			for _, kind := range []string{"ConfigMap", "Secret", "PersistentVolumeClaim", "Service"} {
				name := fmt.Sprintf("o%d", i)
				g.Saw(loaded(t, "apiVersion: v1\nkind: "+kind+"\nmetadata: {namespace: shop, name: "+name+", labels: "+set+"}")[0])
				use := g.Use(named(kind + " shop/" + name))
				if want := i == 0 && kind != "Service"; use.Hinted != want || use.IsUsed() {
					t.Errorf("%s: %s with %s: hinted %t, want %t; used %t", spec, kind, set, use.Hinted, want, use.IsUsed())
				}
			}
		}
	}
}

// TestOneUserOfManySelectors: an object that many select takes no more memory than one that one does.
func TestOneUserOfManySelectors(t *testing.T) {
	g := New(tableOf(t), nil)
	for i := range 100 {
		g.inCustom.keep(Name{Name: fmt.Sprint("c", i)}, "spec", ofLabels([]byte(fmt.Sprintf(`{"k":"v","l%d":"v"}`, i))))
	}
	labels := "k: v"
	for i := range 100 {
		labels += fmt.Sprintf(", l%d: v", i)
	}
	g.Saw(loaded(t, "apiVersion: v1\nkind: Secret\nmetadata: {namespace: shop, name: s, labels: {"+labels+"}}")[0])
	if use := g.Use(named("Secret shop/s")); len(use.Users) != 1 || !use.Hinted {
		t.Errorf("%+v", use)
	}
	if n := len(g.inCustom.byLabel["k=v"]); n > 2 {
		t.Errorf("%d selectors are looked for by the label that all have", n)
	}
}

// TestLongKeysTakeLittle: a path with a long key in it is kept for each selector and each user, and must be short.
func TestLongKeysTakeLittle(t *testing.T) {
	key := strings.Repeat("k", 100_000)
	var selectors, names []string
	for i := range 1000 {
		selectors = append(selectors, fmt.Sprintf("{matchLabels: {a: v%d}}", i))
		names = append(names, fmt.Sprintf("{secretName: s%d}", i))
	}
	text := "apiVersion: example.com/v1\nkind: Chooser\nmetadata: {namespace: shop, name: c}\nspec:\n  ? " + key + "\n  : {a: [" +
		strings.Join(selectors, ", ") + "], b: [" + strings.Join(names, ", ") + "]}"
	o := loaded(t, text)[0].Parts()
	g, before := New(tableOf(t), nil), heap()
	g.Add(o)
	if grown := heap() - before; grown > 3*g.Bytes() {
		t.Errorf("the graph took %d bytes, and counts %d", grown, g.Bytes())
	}
	if use := g.Use(named("Secret shop/s1")); len(use.Users) != 1 || !strings.HasSuffix(use.Users[0].Path, "...") {
		t.Errorf("%+v", use)
	}
	runtime.KeepAlive(o)
}

func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// Beyond so many selectors, whatever has labels may be selected.
func TestManySelectors(t *testing.T) {
	g := New(tableOf(t), nil)
	for i := range maxSelectors + 1 {
		g.inCustom.keep(Name{Name: "c"}, "spec", ofLabels([]byte(fmt.Sprintf(`{"k":"v%d"}`, i))))
	}
	for labels, want := range map[string]bool{"{a: b}": true, "{}": false} {
		g.Saw(loaded(t, "apiVersion: v1\nkind: Secret\nmetadata: {namespace: shop, name: s"+fmt.Sprint(len(labels))+", labels: "+labels+"}")[0])
		if use := g.Use(named("Secret shop/s" + fmt.Sprint(len(labels)))); use.Hinted != want {
			t.Errorf("with labels %s: %+v", labels, use)
		}
	}
}

// tableOf is a table in which Chooser is a custom resource with open fields.
func tableOf(t *testing.T) *Table {
	t.Helper()
	table, err := NewTable([]Source{{Kind: "Chooser.example.com", Guess: []string{"spec"}}})
	if err != nil {
		t.Fatal(err)
	}
	return table
}
