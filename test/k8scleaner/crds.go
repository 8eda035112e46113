// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package k8scleaner has what tests and the bench need of k8s-cleaner.
package k8scleaner

import _ "embed"

// CRDs are its CustomResourceDefinitions, as YAML.
//
//go:embed crds.yaml
var CRDs []byte
