// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// A ConfigMap or Secret may stand in an annotation of an object that names nothing else.
func TestAnnotations(t *testing.T) {
	table, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	text := Name{GroupKind: configMapKind, Namespace: "shop", Name: "settings"}
	for annotations, want := range map[string]bool{
		`"example.com/config": "settings"`:                               true,
		`"example.com/config": "shop/settings"`:                          true,
		`"example.com/config": "team/settings-1"`:                        false,
		`"meta.helm.sh/release-name": "settings"`:                        false,
		`"kubectl.kubernetes.io/last-applied-configuration": "settings"`: false,
		`"settings": "none"`:                                             false,
	} {
		for kind, is := range map[string]bool{
			"PersistentVolumeClaim": true, "ServiceAccount": true, "NetworkPolicy.networking.k8s.io": true, "ConfigMap": false, "Widget.example.com": false,
		} {
			for _, name := range []string{"other", "settings"} {
				g := New(table, map[schema.GroupKind]bool{})
				of := object.Kind{GroupVersionKind: schema.ParseGroupKind(kind).WithVersion("v1"), Namespaced: true}
				raw := `{"metadata": {"name": "` + name + `", "namespace": "shop", "annotations": {` + annotations + `}}}`
				g.AddAnnotations(object.Object{Kind: of, Namespace: "shop", Name: name, Raw: []byte(raw)}.Parts())
				if got := g.IsMentioned(text); got != (want && is) {
					t.Errorf("%s %s with %s: mentioned is %t", kind, name, annotations, got)
				}
				if g.IsMentioned(Name{GroupKind: serviceKind, Namespace: "shop", Name: "settings"}) {
					t.Errorf("%s with %s: it counts for a Service", kind, annotations)
				}
			}
		}
	}
}
