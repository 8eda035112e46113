// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// crd reads a CustomResourceDefinition as it is published.
func crd(t *testing.T, plural string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "config", "crd", "bases", "apps.projectsveltos.io_"+plural+".yaml"))
	must(t, err)
	var definition apiextensionsv1.CustomResourceDefinition
	must(t, yaml.UnmarshalStrict(raw, &definition))
	return &definition
}

// properties walks a schema and calls each with the path of every property in it: "spec.notifications[0].name".
func properties(schema *apiextensionsv1.JSONSchemaProps, path string, each func(path string, property *apiextensionsv1.JSONSchemaProps)) {
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := schema.Properties[name]
		under := name
		if path != "" {
			under = path + "." + name
		}
		each(under, &property)
		properties(&property, under, each)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		each(path+"[0]", schema.Items.Schema)
		properties(schema.Items.Schema, path+"[0]", each)
	}
}

func rootOf(definition *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.JSONSchemaProps {
	return definition.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// manifest is a Cleaner as a user writes one, changed at these paths. A nil value takes a field away.
func manifest(t *testing.T, changes ...map[string]any) *unstructured.Unstructured {
	t.Helper()
	var u unstructured.Unstructured
	must(t, yaml.Unmarshal([]byte(fmt.Sprintf(`
apiVersion: apps.projectsveltos.io/v1alpha1
kind: Cleaner
metadata: {name: crd-%d}
spec:
  schedule: 0 3 * * *
  resourcePolicySet:
    resourceSelectors:
    - {group: "", version: v1, kind: ConfigMap, namespace: default}
`, serial.Add(1))), &u.Object))
	for _, change := range changes {
		for _, path := range slices.Sorted(maps.Keys(change)) {
			u.Object = put(u.Object, steps(path), change[path]).(map[string]any)
		}
	}
	return &u
}

var step = regexp.MustCompile(`[^.\[\]]+`)

func steps(path string) []string { return step.FindAllString(path, -1) }

// put sets what is at the path, and makes what is missing on the way.
func put(in any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	if i, err := strconv.Atoi(path[0]); err == nil {
		list, _ := in.([]any)
		for len(list) <= i {
			list = append(list, nil)
		}
		list[i] = put(list[i], path[1:], value)
		return list
	}
	object, _ := in.(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	if len(path) == 1 && value == nil {
		delete(object, path[0])
		return object
	}
	object[path[0]] = put(object[path[0]], path[1:], value)
	return object
}

// apply asks the API server whether it would take the manifest, strictly as kubectl does.
func (b *bench) apply(u *unstructured.Unstructured) error {
	return b.user.Create(b.t.Context(), u, client.DryRunAll, client.FieldValidation("Strict"))
}
