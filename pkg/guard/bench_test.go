// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// BenchmarkChain shows what the guards cost for each object that matches: the occurrence threshold, protection and the blast
// radius. It must be small beside the millisecond of a delete.
func BenchmarkChain(b *testing.B) {
	const objects = 1000
	kind := object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Resource: "configmaps", Namespaced: true}
	keys, all := make([]string, objects), make([]object.Object, objects)
	for i := range all {
		name := fmt.Sprintf("config-%04d", i)
		keys[i] = "ConfigMap/default/" + name
		all[i] = object.Object{Kind: kind, Namespace: "default", Name: name, Raw: fmt.Appendf(nil,
			`{"metadata":{"name":%q,"namespace":"default","labels":{"app":"web","tier":"front"},"annotations":{"note":%q}},"data":{"k":"v"}}`,
			name, strings.Repeat("x", 200))}
	}
	namespace := &metav1.ObjectMeta{Name: "default"}
	protection := Protection{Namespaces: strings.Split(DefaultProtectedNamespaces, ",")}
	limit := &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To[int32](objects)}
	seen := Counts{}.Seen(keys, 3)
	b.ReportAllocs()
	for b.Loop() {
		counts := seen.Seen(keys, 3)
		for i, o := range all {
			if reason, err := protection.Reason(v1alpha1.ActionDelete, o, namespace); reason != "" || err != nil || counts[keys[i]] != 2 {
				b.Fatal(reason, err, counts[keys[i]])
			}
		}
		if err := BlastRadius(limit, objects, objects); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/objects, "ns/object")
}
