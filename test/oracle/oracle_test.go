// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package oracle compares the references that pkg/graph finds with those that the API server itself finds.
package oracle

import (
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/v1/persistentvolume"
	"k8s.io/kubernetes/pkg/api/v1/pod"
	"sigs.k8s.io/randfill"

	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// tries is how many Pods and volumes are made. Each has most of the fields that there are.
const tries = 1500

// random fills fields so that each text is another name, or empty.
func random(seed int64) *randfill.Filler {
	n := 0
	return randfill.NewWithSeed(seed).NilChance(0.3).NumElements(1, 2).MaxDepth(12).Funcs(
		func(s *string, c randfill.Continue) {
			if n++; c.Intn(5) > 0 {
				*s = fmt.Sprintf("name-%d", n)
			}
		},
	)
}

// edges are the names of a kind that pkg/graph finds in an object.
func edges(t *testing.T, table *graph.Table, kind string, o any, to string) map[string]bool {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var value struct {
		Metadata struct{ Namespace string } `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	k := object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: kind}}
	found := map[string]bool{}
	table.Edges(object.Object{Kind: k, Namespace: value.Metadata.Namespace, Raw: raw}, func(e graph.Edge) {
		if e.To.GroupKind == schema.ParseGroupKind(to) {
			found[e.To.Namespace+"/"+e.To.Name] = true
		}
	})
	return found
}

func table(t *testing.T) *graph.Table {
	t.Helper()
	table, err := graph.BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestPods(t *testing.T) {
	table, seen := table(t), 0
	for seed := range int64(tries) {
		var p corev1.Pod
		fill := random(seed)
		fill.Fill(&p.Spec)
		p.Name, p.Namespace = "web", "shop"
		secrets, configMaps := edges(t, table, "Pod", &p, "Secret"), edges(t, table, "Pod", &p, "ConfigMap")
		pod.VisitPodSecretNames(&p, func(name string) bool {
			if seen++; !secrets["shop/"+name] {
				t.Errorf("seed %d: no Secret %s among %v", seed, name, secrets)
			}
			return true
		})
		pod.VisitPodConfigmapNames(&p, func(name string) bool {
			if seen++; !configMaps["shop/"+name] {
				t.Errorf("seed %d: no ConfigMap %s among %v", seed, name, configMaps)
			}
			return true
		})
		accounts := edges(t, table, "Pod", &p, "ServiceAccount")
		if name := p.Spec.ServiceAccountName; name != "" && !accounts["shop/"+name] || name == "" && !accounts["shop/default"] {
			t.Errorf("seed %d: no ServiceAccount %q among %v", seed, name, accounts)
		}
		if t.Failed() {
			return
		}
	}
	if seen < 5*tries {
		t.Errorf("the API server found %d names in %d Pods", seen, tries)
	}
}

func TestPersistentVolumes(t *testing.T) {
	table, seen := table(t), map[string]int{}
	for seed := range int64(tries) {
		var pv corev1.PersistentVolume
		fill := random(seed)
		fill.Fill(&pv.Spec)
		only(&pv.Spec.PersistentVolumeSource, seed)
		secrets := edges(t, table, "PersistentVolume", &pv, "Secret")
		persistentvolume.VisitPVSecretNames(&pv, func(namespace, name string, _ bool) bool {
			seen[source(&pv.Spec.PersistentVolumeSource)]++
			if !secrets[namespace+"/"+name] && (namespace != "" || !secrets["*/"+name]) {
				t.Errorf("seed %d: no Secret %s/%s among %v", seed, namespace, name, secrets)
			}
			return true
		})
		if t.Failed() {
			return
		}
	}
	if len(seen) != 9 {
		t.Errorf("the API server found names in volumes of %v", seen)
	}
}

// only leaves one of the sources that hold Secrets: the API server looks at the first that there is.
func only(s *corev1.PersistentVolumeSource, seed int64) {
	all := *s
	*s = corev1.PersistentVolumeSource{}
	switch seed % 9 {
	case 0:
		s.AzureFile = all.AzureFile
	case 1:
		s.CephFS = all.CephFS
	case 2:
		s.Cinder = all.Cinder
	case 3:
		s.FlexVolume = all.FlexVolume
	case 4:
		s.RBD = all.RBD
	case 5:
		s.ScaleIO = all.ScaleIO
	case 6:
		s.ISCSI = all.ISCSI
	case 7:
		s.StorageOS = all.StorageOS
	case 8:
		s.CSI = all.CSI
	}
}

// source says which source there is.
func source(s *corev1.PersistentVolumeSource) string {
	raw, _ := json.Marshal(s)
	var fields map[string]any
	_ = json.Unmarshal(raw, &fields)
	for name := range fields {
		return name
	}
	return ""
}
