// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const listedObjects = `{"type": "array", "items": {"type": "object", "properties": {"kind": {"type": "string"}, "name": {"type": "string"}, "namespace": {"type": "string"}}}}`

// openAPI is what an API server publishes of a kind whose spec and status list objects, and name a claim.
func openAPI(kind schema.GroupKind) []byte {
	part := `{"type": "object", "properties": {"pvcName": {"type": "string"}, "resources": ` + listedObjects + `}}`
	return fmt.Appendf(nil, `{"components": {"schemas": {"k": {"type": "object", "properties": {"spec": %s, "status": %s},
		"x-kubernetes-group-version-kind": [{"group": %q, "version": "v1", "kind": %q}]}}}}`, part, part, kind.Group, kind.Kind)
}

// What a status lists is what a controller made or saw: it does not use it. Of some kinds, nothing that the status names is used.
func TestStatusThatListsObjectsUsesNone(t *testing.T) {
	const spec, claim = "ConfigMap shop/of-spec", "PersistentVolumeClaim shop/claim"
	for text, want := range map[string]struct {
		edges  []string
		isWeak bool // whether the listed object's name is still seen as a text
	}{
		"Release.example.com":                         {[]string{spec, claim}, true},
		"Application.argoproj.io":                     {[]string{spec}, false},
		"Volume.longhorn.io":                          {[]string{spec}, false},
		"K8sRequiredLabels.constraints.gatekeeper.sh": {[]string{spec}, false},
	} {
		kind := schema.ParseGroupKind(text)
		learned, err := LearnDocument(openAPI(kind))
		if err != nil {
			t.Fatal(err)
		}
		for how, source := range map[string]Source{"learned": learned[0], "guessed": {Kind: text, Guess: []string{"."}, Strength: Learned}} {
			t.Run(text+" "+how, func(t *testing.T) {
				table, err := NewTable([]Source{source})
				if err != nil {
					t.Fatal(err)
				}
				o := loaded(t, "apiVersion: "+kind.Group+"/v1\nkind: "+kind.Kind+`
metadata: {namespace: shop, name: self}
spec: {resources: [{kind: ConfigMap, name: of-spec}]}
status: {pvcName: claim, resources: [{kind: ConfigMap, name: of-status, namespace: shop}]}`)[0]
				var edges []string
				isWeak := false
				table.read(o, func(e Edge) { edges = append(edges, cloned(e).To.String()) }, func(_, text object.JSON) {
					isWeak = isWeak || text.Text() == "of-status"
				})
				slices.Sort(edges)
				if diff := cmp.Diff(want.edges, edges); diff != "" || isWeak != want.isWeak {
					t.Error(diff, isWeak)
				}
			})
		}
	}
}
