// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crd carries the CustomResourceDefinitions in the binary, for tools that check manifests without a cluster.
package crd

import (
	"embed"
	"fmt"
)

//go:embed bases/*.yaml
var bases embed.FS

// YAML is the definition of one of our kinds, by its plural name: cleaners, cleanerruns, cleanerapprovals or reports.
func YAML(plural string) ([]byte, error) {
	text, err := bases.ReadFile("bases/apps.projectsveltos.io_" + plural + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("there is no CustomResourceDefinition of %s in this program: %w", plural, err)
	}
	return text, nil
}
