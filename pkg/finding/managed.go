// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// applications are Argo CD's.
var applications = schema.GroupKind{Group: "argoproj.io", Kind: "Application"}

// managedBy names what manages an object.
func (f *Finder) managedBy(o *object.Parts) string {
	_, argo := f.served[applications]
	return o.ManagedBy(argo)
}
