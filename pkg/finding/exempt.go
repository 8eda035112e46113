// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// exempt reports whether an object is never a finding of the row.
func exempt(_ *row, o object.Object) bool {
	_, owned := graph.Controller(o)
	return owned // the finding is about the owner
}

// managedBy names what manages an object: "Helm release shop/web".
func managedBy(o object.Object) string {
	annotations := raw(o).At("metadata", "annotations")
	if release := annotations.Field("meta.helm.sh/release-name").Text(); release != "" {
		return "Helm release " + annotations.Field("meta.helm.sh/release-namespace").Text() + "/" + release
	}
	return ""
}
