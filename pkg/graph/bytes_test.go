// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// alikePod is one of many Pods that differ in their names only.
func alikePod(t *testing.T, i int, owner string) object.Object {
	t.Helper()
	raw := fmt.Sprintf(`{"metadata":{"name":"web-%d","namespace":"shop","uid":"web-%d","resourceVersion":"1","labels":{"app":"web"}%s},`+
		`"spec":{"serviceAccountName":"web","containers":[{"name":"a","image":"i","args":["--config=/etc/web/config.yaml"],`+
		`"envFrom":[{"configMapRef":{"name":"settings"}},{"secretRef":{"name":"password"}}]}],`+
		`"volumes":[{"name":"a","persistentVolumeClaim":{"claimName":"data"}}]},"status":{"phase":"Running"}}`, i, i, owner)
	kind := object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Resource: "pods", Namespaced: true}
	o, err := object.New(kind, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestGraphOfAlikePods: a Graph grows with what is named, and not with how many Pods name it. Of Pods that nothing owns,
// it keeps as many apart as it keeps of any users.
func TestGraphOfAlikePods(t *testing.T) {
	t.Parallel()
	table, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	const owner = `,"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"1","controller":true}]`
	for name, test := range map[string]struct {
		owner string
		few   int
		many  int
	}{
		"of one workload": {owner, 100, 50 * 100},
		"of nothing":      {"", maxUsers, maxUsers + 5000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, few := New(table, nil), int64(0)
			for i := range test.many {
				if i == test.few {
					few = g.Bytes()
				}
				g.Add(alikePod(t, i, test.owner).Parts())
			}
			if many := g.Bytes(); few == 0 || many != few {
				t.Errorf("%d Pods take %d bytes, and %d take %d", test.few, few, test.many, many)
			}
		})
	}
}
