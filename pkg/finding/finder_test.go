// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// now is when the tests look.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// resources are the kinds of the tests, by what objects write: apiVersion and kind.
var resources = map[string]struct {
	resource   string
	namespaced bool
}{
	"v1 Pod": {"pods", true}, "v1 ConfigMap": {"configmaps", true}, "apps/v1 Deployment": {"deployments", true},
	"v1 PersistentVolumeClaim": {"persistentvolumeclaims", true}, "storage.k8s.io/v1 StorageClass": {"storageclasses", false},
}

// served are the kinds of the tests.
func served(t *testing.T) (kinds []object.Kind) {
	t.Helper()
	for name, r := range resources {
		apiVersion, kind, _ := strings.Cut(name, " ")
		gv, err := schema.ParseGroupVersion(apiVersion)
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, object.Kind{GroupVersionKind: gv.WithKind(kind), Resource: r.resource, Namespaced: r.namespaced})
	}
	return kinds
}

// find lets all objects pass that stand in the YAML, and returns the findings, one a line.
func find(t *testing.T, manifests string, options finding.Options, unread ...string) string {
	t.Helper()
	table, err := graph.BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	options.Table, options.Served, options.Now = table, served(t), now
	objects := map[string][]object.Object{}
	for i, text := range strings.Split(manifests, "\n---\n") {
		o := load(t, text, i, options.Served)
		objects[o.Kind.Kind] = append(objects[o.Kind.Kind], o)
	}
	f := finding.New(options)
	for _, list := range f.Lists() {
		for _, kind := range unread {
			if kind == list.Kind.Kind {
				f.Unread(list, fmt.Errorf("forbidden"))
			}
		}
		for _, o := range objects[list.Kind.Kind] {
			f.Look(list, o)
		}
	}
	var lines []string
	for _, found := range f.Findings() {
		line := fmt.Sprintf("%s %s", found.String(), found.Type)
		if len(found.Unknown) > 0 {
			line += " unknown"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func load(t *testing.T, text string, i int, kinds []object.Kind) object.Object {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	value := object.JSON(raw)
	for _, kind := range kinds {
		if kind.Kind != value.Field("kind").Text() || kind.APIVersion() != value.Field("apiVersion").Text() {
			continue
		}
		meta := fmt.Sprintf(`"metadata":{"uid":"uid-%d","resourceVersion":"1",`, i)
		o, err := object.New(kind, []byte(strings.Replace(string(raw), `"metadata":{`, meta, 1)))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	t.Fatalf("the tests do not know the kind of:\n%s", text)
	return object.Object{}
}

func TestUnusedConfigMaps(t *testing.T) {
	const cluster = `
apiVersion: v1
kind: ConfigMap
metadata: {namespace: shop, name: used}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: shop, name: unused}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: shop, name: asleep}
---
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: web}
spec: {containers: [{name: a, image: i, envFrom: [{configMapRef: {name: used}}]}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: shop, name: night}
spec: {replicas: 0, template: {spec: {containers: [{name: a, image: i, envFrom: [{configMapRef: {name: asleep}}]}]}}}
`
	unknown := "ConfigMap shop/asleep Unused unknown\nConfigMap shop/unused Unused unknown"
	for name, test := range map[string]struct {
		unread []string
		want   string
	}{
		"all read":             {nil, "ConfigMap shop/asleep Cascading\nConfigMap shop/unused Unused"},
		"Deployments not read": {[]string{"Deployment"}, unknown},
		"claims not read":      {[]string{"PersistentVolumeClaim"}, "ConfigMap shop/asleep Cascading\nConfigMap shop/unused Unused"},
	} {
		t.Run(name, func(t *testing.T) {
			got := find(t, strings.TrimSpace(cluster), finding.Options{}, test.unread...)
			if got != test.want {
				t.Errorf("found:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}
