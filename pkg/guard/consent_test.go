// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func TestConsent(t *testing.T) {
	configMap := object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}}
	role := object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}}
	metadata := func(field string, value any) map[string]any {
		return map[string]any{"metadata": map[string]any{field: value}}
	}
	for name, c := range map[string]struct {
		kind  object.Kind
		patch map[string]any
		allow []v1alpha1.TransformConsent
		want  string
	}{
		"ordinary":          {configMap, map[string]any{"data": map[string]any{"finalizers": "x"}}, nil, ""},
		"labels":            {configMap, metadata("labels", map[string]any{"ownerReferences": "x"}), nil, ""},
		"metadata removed":  {configMap, map[string]any{"metadata": nil}, nil, ""},
		"owners":            {configMap, metadata("ownerReferences", []any{}), nil, "the Cleaner would change its metadata.ownerReferences, which needs its consent: transformOptions: {allow: [OwnerReferences]}"},
		"owners removed":    {configMap, metadata("ownerReferences", nil), []v1alpha1.TransformConsent{"Finalizers"}, "the Cleaner would change its metadata.ownerReferences, which needs its consent: transformOptions: {allow: [OwnerReferences]}"},
		"owners allowed":    {configMap, metadata("ownerReferences", nil), []v1alpha1.TransformConsent{"OwnerReferences"}, ""},
		"finalizers":        {configMap, metadata("finalizers", nil), nil, "the Cleaner would change its metadata.finalizers, which needs its consent: transformOptions: {allow: [Finalizers]}"},
		"finalizers of all": {configMap, metadata("finalizers", nil), []v1alpha1.TransformConsent{"RBAC", "Finalizers"}, ""},
		"owners and finalizers of a role": {
			role,
			map[string]any{"metadata": map[string]any{"ownerReferences": nil, "finalizers": nil}},
			nil,
			"the Cleaner would change its metadata.ownerReferences and its metadata.finalizers and a Role, which needs its consent: transformOptions: {allow: [OwnerReferences, Finalizers, RBAC]}",
		},
		"role":              {role, metadata("labels", map[string]any{"a": "b"}), nil, "the Cleaner would change a Role, which needs its consent: transformOptions: {allow: [RBAC]}"},
		"role allowed":      {role, metadata("labels", map[string]any{"a": "b"}), []v1alpha1.TransformConsent{"RBAC"}, ""},
		"role's finalizers": {role, metadata("finalizers", nil), []v1alpha1.TransformConsent{"RBAC"}, "the Cleaner would change its metadata.finalizers, which needs its consent: transformOptions: {allow: [Finalizers]}"},
	} {
		if got := Consent(c.kind, c.patch, &v1alpha1.TransformOptions{Allow: c.allow}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if Consent(role, nil, nil) == "" {
		t.Error("no options are read as consent")
	}
}
