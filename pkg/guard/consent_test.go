// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func TestConsent(t *testing.T) {
	configMap := object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}}
	role := object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}}
	metadata := func(field, value string) string { return fmt.Sprintf(`{"metadata":{%q:%s}}`, field, value) }
	for name, c := range map[string]struct {
		kind  object.Kind
		patch string
		allow []v1alpha1.TransformConsent
		want  string
	}{
		"ordinary":          {configMap, `{"data":{"finalizers":"x"}}`, nil, ""},
		"labels":            {configMap, metadata("labels", `{"ownerReferences":"x"}`), nil, ""},
		"metadata removed":  {configMap, `{"metadata":null}`, nil, ""},
		"owners":            {configMap, metadata("ownerReferences", "[]"), nil, "the Cleaner would change its metadata.ownerReferences; to allow it, set spec.transformOptions.allow: [OwnerReferences]"},
		"owners removed":    {configMap, metadata("ownerReferences", "null"), []v1alpha1.TransformConsent{"Finalizers"}, "the Cleaner would change its metadata.ownerReferences; to allow it, set spec.transformOptions.allow: [OwnerReferences]"},
		"owners allowed":    {configMap, metadata("ownerReferences", "null"), []v1alpha1.TransformConsent{"OwnerReferences"}, ""},
		"finalizers":        {configMap, metadata("finalizers", "null"), nil, "the Cleaner would change its metadata.finalizers; to allow it, set spec.transformOptions.allow: [Finalizers]"},
		"finalizers of all": {configMap, metadata("finalizers", "null"), []v1alpha1.TransformConsent{"RBAC", "Finalizers"}, ""},
		"owners and finalizers of a role": {
			role,
			`{"metadata":{"ownerReferences":null,"finalizers":null}}`,
			nil,
			"the Cleaner would change its metadata.ownerReferences and its metadata.finalizers and a Role; to allow it, set spec.transformOptions.allow: [OwnerReferences, Finalizers, RBAC]",
		},
		"role":              {role, metadata("labels", `{"a":"b"}`), nil, "the Cleaner would change a Role; to allow it, set spec.transformOptions.allow: [RBAC]"},
		"role allowed":      {role, metadata("labels", `{"a":"b"}`), []v1alpha1.TransformConsent{"RBAC"}, ""},
		"role's finalizers": {role, metadata("finalizers", "null"), []v1alpha1.TransformConsent{"RBAC"}, "the Cleaner would change its metadata.finalizers; to allow it, set spec.transformOptions.allow: [Finalizers]"},
	} {
		if got := Consent(c.kind, object.JSON(c.patch), &v1alpha1.TransformOptions{Allow: c.allow}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if Consent(role, nil, nil) == "" {
		t.Error("no options are read as consent")
	}
}
