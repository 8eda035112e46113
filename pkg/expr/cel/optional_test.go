// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func TestMissingFields(t *testing.T) {
	text := *spec.StringProperty()
	entry := objectOf(map[string]spec.Schema{"name": text, "reason": text})
	entry.Required = []string{"name"}
	filled := *spec.StringProperty()
	filled.Default = true
	status := objectOf(map[string]spec.Schema{"phase": filled, "reason": text, "parts": *spec.ArrayProperty(&entry)})
	root := objectOf(map[string]spec.Schema{"status": status})
	root.Required = []string{"status"}
	tests := []struct {
		name        string
		expressions []string
		want        []Missing
	}{
		{"what each object has", []string{"object.status.phase == object.metadata.name && object.kind == ''"}, nil},
		{"an optional field", []string{"true", "true &&\n object.status.reason == ''"}, []Missing{{1, 2, 15, "object.status.reason"}}},
		{"as an index", []string{"object['status']['reason'] == ''"}, []Missing{{0, 1, 17, "object.status.reason"}}},
		{"asked first", []string{"has(object.status.reason) && object.status.reason == ''"}, nil},
		{"asked in another condition", []string{"object.status.reason == ''", "has(object.status.reason)"}, nil},
		{"asked with in", []string{"'reason' in object.status && object.status.reason == ''"}, nil},
		{"optional values", []string{"object.?status.?reason.orValue('') == '' && object.status.?reason.hasValue()"}, nil},
		{"a label", []string{"has(object.metadata.labels) && object.metadata.labels['a/b'] == ''"}, []Missing{{0, 1, 54, `object.metadata.labels["a/b"]`}}},
		{"an entry of a list", []string{"has(object.status.parts) && object.status.parts.exists(p, p.name == p.reason)"}, []Missing{{0, 1, 70, "p.reason"}}},
		{"only the outer one asked", []string{"has(object.status) && object.status.reason == ''"}, []Missing{{0, 1, 36, "object.status.reason"}}},
		{"of the first entry", []string{"object.status.parts[0].reason == ''"}, []Missing{{0, 1, 14, "object.status.parts"}, {0, 1, 23, "object.status.parts[0].reason"}}},
		{"asked of the first entry", []string{"has(object.status.parts) && has(object.status.parts[0].reason) && object.status.parts[0].reason == ''"}, nil},
		{"what does not compile", []string{"object.status.reason ==", "object.status.other == 1"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var conditions []v1alpha1.MatchCondition
			for _, expression := range tt.expressions {
				conditions = append(conditions, v1alpha1.MatchCondition{Name: "a", Expression: expression})
			}
			got, err := MissingFields(conditions, &root)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
