// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// collected is all that a Pod adds to a Graph: what it names, and what could be a name in its texts.
func collected(table *Table, raw []byte) map[string]int {
	all := map[string]int{}
	o := object.Object{Kind: object.Kind{}, Namespace: "shop", Raw: raw}
	o.Kind.Version, o.Kind.Kind = "v1", "Pod"
	table.read(o, func(e Edge) { all[fmt.Sprint(e)]++ }, func(_, text object.JSON) { all[text.Text()]++ })
	return all
}

// It makes no difference whether the API server sends a Pod as JSON or as protobuf.
func TestProtobufTellsTheSameReferences(t *testing.T) {
	table, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	message, err := apiserver.MessageOf(corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	edges := 0
	for seed := range int64(500) {
		var pod corev1.Pod
		n := 0
		fill := randfill.NewWithSeed(seed).NilChance(0.3).NumElements(1, 2).MaxDepth(12).Funcs(
			func(s *string, c randfill.Continue) {
				if n++; c.Intn(5) > 0 {
					*s = fmt.Sprintf("name-%d", n)
				}
			},
			func(*metav1.FieldsV1, randfill.Continue) {},
		)
		fill.Fill(&pod.ObjectMeta)
		fill.Fill(&pod.Spec)
		text, err := json.Marshal(pod)
		if err != nil {
			t.Fatal(err)
		}
		binary, err := pod.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		same, err := message.AppendJSON(nil, binary)
		if err != nil {
			t.Fatal(err)
		}
		want := collected(table, text)
		edges += len(want)
		if diff := cmp.Diff(want, collected(table, same)); diff != "" {
			t.Fatalf("seed %d: -JSON +protobuf:\n%s", seed, diff)
		}
	}
	if edges < 5000 {
		t.Errorf("there were %d references", edges)
	}
}
