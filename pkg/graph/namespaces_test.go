// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Other namespaces stand in fields of custom resources, in flags and in variables.
func TestOtherNamespaces(t *testing.T) {
	table := tableOf(t)
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf("-n, ns-%d", i))
	}
	for spec, want := range map[string][]string{
		`{namespace: builds, ref: {configNamespace: config}}`: {"builds", "config"},
		`{namespace: shop}`:                    nil,
		`{args: [-n, builds, --claim, cache]}`: {"builds"},
		`{args: [--cache-namespace=builds]}`:   {"builds"},
		`{a: [-n], b: builds}`:                 nil,
		`{a: [[-n], builds]}`:                  nil,
		`{env: [{name: BUILD_NAMESPACE, value: builds}, {name: CLAIM, value: cache}]}`: {"builds"},
		`{env: [{name: BUILD_NAMESPACE}, {name: CLAIM, value: cache}]}`:                nil,
		`{env: [{name: BUILD_NAMESPACE, value: {a: b}}]}`:                              nil,
		`{source: "kubectl -n builds get secret login"}`:                               {"builds"},
		`{args: [` + strings.Join(many, ", ") + `]}`:                                   anyOther,
		strings.Repeat("{a: ", maxDepth+1) + "b" + strings.Repeat("}", maxDepth+1):     anyOther,
	} {
		o := loaded(t, "apiVersion: example.com/v1\nkind: Chooser\nmetadata: {namespace: shop, name: c}\nspec: "+spec)[0].Parts()
		if got := table.otherNamespaces(o, true); !slices.Equal(got, want) {
			t.Errorf("%.60s: got %q, want %q", spec, got, want)
		}
	}
}
