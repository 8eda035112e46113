// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// inventories are custom resources, or groups of them, whose status says which objects a tool made, checked or mounted.
// It uses none of them.
var inventories = []string{
	"Application.argoproj.io",
	"AppliedManifestWork.work.open-cluster-management.io",
	"ClusterConfiguration.config.projectsveltos.io",
	"InstallPlan.operators.coreos.com",
	"Volume.longhorn.io",
	"constraints.gatekeeper.sh",
	"fleet.cattle.io",
}

// isInventory reports whether the status of a kind names objects that it does not use.
func isInventory(kind schema.GroupKind) bool {
	return slices.Contains(inventories, kind.String()) || slices.Contains(inventories, kind.Group)
}

// leftOut are the fields of an object of the kind in which nothing is named that it uses.
func leftOut(kind schema.GroupKind) []string {
	fields := []string{"metadata", "apiVersion", "kind"}
	if isInventory(kind) {
		fields = append(fields, "status")
	}
	return fields
}

// isListed reports whether a path is in a list in a status: a list of objects there says what a controller made or saw.
func isListed(path string) bool {
	status, rest, _ := strings.Cut(path, ".")
	return status == "status" && strings.Contains(rest, "[]")
}
