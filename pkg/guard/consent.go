// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Consent says why a Transform may not send the merge patch to an object of the kind, or is empty. Some changes have
// consequences that reach beyond the object: they need the Cleaner's explicit consent.
func Consent(kind object.Kind, patch object.JSON, options *v1alpha1.TransformOptions) string {
	var allowed []v1alpha1.TransformConsent
	if options != nil {
		allowed = options.Allow
	}
	has := func(field string) bool { return patch.At("metadata", field) != nil }
	var needs, what []string
	for _, change := range []struct {
		touched bool
		needs   v1alpha1.TransformConsent
		what    string
	}{
		{has("ownerReferences"), v1alpha1.ConsentOwnerReferences, "its metadata.ownerReferences"},
		{has("finalizers"), v1alpha1.ConsentFinalizers, "its metadata.finalizers"},
		{kind.Group == rbacv1.GroupName, v1alpha1.ConsentRBAC, "a " + kind.Kind},
	} {
		if change.touched && !slices.Contains(allowed, change.needs) {
			needs, what = append(needs, string(change.needs)), append(what, change.what)
		}
	}
	if needs == nil {
		return ""
	}
	return fmt.Sprintf("the Cleaner would change %s; to allow it, set spec.transformOptions.allow: [%s]",
		strings.Join(what, " and "), strings.Join(needs, ", "))
}
