// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	crd "github.com/kubecleaner/kubecleaner/config/crd"
)

// definition is our CustomResourceDefinition of Cleaners, in which somebody changed something.
func definition(t *testing.T, plural string, change func(definition, version, spec map[string]any)) map[string]any {
	t.Helper()
	text, err := crd.YAML(plural)
	if err != nil {
		t.Fatal(err)
	}
	var d map[string]any
	if err := yaml.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	v := version(d)
	schema := field(v, "schema", "openAPIV3Schema", "properties", "spec").(map[string]any)
	change(d, v, schema)
	return d
}

func TestChangesOf(t *testing.T) {
	t.Parallel()
	property := func(spec map[string]any, name string) map[string]any {
		return field(spec, "properties", name).(map[string]any)
	}
	for name, test := range map[string]struct {
		change func(definition, version, spec map[string]any)
		want   Changes
	}{
		"ours": {func(_, _, _ map[string]any) {}, Changes{}},
		"as an API server shows it": {func(d, _, spec map[string]any) {
			d["status"] = map[string]any{"storedVersions": []any{"v1alpha1"}}
			d["spec"].(map[string]any)["conversion"] = map[string]any{"strategy": "None"}
			property(spec, "schedule")["description"] = "another text"
		}, Changes{}},
		"a field more or less": {func(_, _, spec map[string]any) {
			properties := spec["properties"].(map[string]any)
			delete(properties, "timeZone")
			properties["newer"] = map[string]any{"type": "string"}
		}, Changes{Fields: []string{"spec.timeZone"}}},
		"a field less, and all are kept": {func(_, _, spec map[string]any) {
			delete(spec["properties"].(map[string]any), "timeZone")
			spec["x-kubernetes-preserve-unknown-fields"] = true
		}, Changes{Loose: []string{"spec (x-kubernetes-preserve-unknown-fields)"}}},
		"no status": {func(_, v, _ map[string]any) { delete(v, "subresources") }, Changes{NoStatus: true}},
		"stored before": {func(d, _, _ map[string]any) {
			d["status"] = map[string]any{"storedVersions": []any{"v1", "v1alpha1"}}
		}, Changes{Stored: []string{"v1", "v1alpha1"}}},
		"another stored version": {func(d, v, _ map[string]any) {
			v["storage"] = false
			spec := d["spec"].(map[string]any)
			spec["versions"] = append(spec["versions"].([]any), map[string]any{"name": "v2", "storage": true})
		}, Changes{Stored: []string{"v2"}}},
		"no rules": {func(_, _, spec map[string]any) {
			delete(spec, "x-kubernetes-validations")
		}, Changes{Rules: []string{"spec"}}},
		"another rule": {func(_, _, spec map[string]any) {
			rules := spec["x-kubernetes-validations"].([]any)
			rules[0] = map[string]any{"rule": "true"}
		}, Changes{Rules: []string{"spec"}, Others: []string{"spec (x-kubernetes-validations)"}}},
		"a bound": {func(_, _, spec map[string]any) {
			property(spec, "schedule")["maxLength"] = float64(1)
			spec["required"] = []any{"schedule", "action"}
		}, Changes{Others: []string{"spec.schedule (maxLength)", "spec (required)"}}},
		"no checks of values": {func(_, v, _ map[string]any) {
			root := field(v, "schema", "openAPIV3Schema").(map[string]any)
			delete(root, "properties")
			root["x-kubernetes-preserve-unknown-fields"] = true
		}, Changes{Loose: []string{"the object (x-kubernetes-preserve-unknown-fields)"}}},
		"fewer checks of values": {func(_, _, spec map[string]any) {
			delete(property(spec, "schedule"), "maxLength")
			delete(spec, "required")
		}, Changes{Loose: []string{"spec.schedule (maxLength)", "spec (required)"}}},
		"conversion, names, columns": {func(d, v, _ map[string]any) {
			spec := d["spec"].(map[string]any)
			spec["conversion"] = map[string]any{"strategy": "Webhook"}
			delete(spec["names"].(map[string]any), "shortNames")
			delete(v, "additionalPrinterColumns")
		}, Changes{Others: []string{"additionalPrinterColumns", "spec.names"}, Converted: true}},
	} {
		got, err := ChangesOf("cleaners", definition(t, "cleaners", test.change))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
	for _, plural := range Plurals() {
		got, err := ChangesOf(plural, definition(t, plural, func(_, _, _ map[string]any) {}))
		if diff := cmp.Diff(Changes{}, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", plural, err, diff)
		}
	}
}
