// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package inputs holds what a selector looks at besides the object itself, its events and logs, and metrics, and writes
// it down as scripts and conditions read it. It reads nothing from the cluster, and asks only sources of metrics. What
// could not be read is an error, so that an empty value always means that there is nothing.
package inputs

import (
	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Check says what is wrong with the inputs that a selector asks for, as far as that shows without reading them, each
// with its field.
func Check(spec *v1alpha1.ResourceSelector) []error {
	return append(checkMetrics(spec), checkLogs(spec)...)
}

// Join makes one map of two that have nothing in common and are not empty. Nil is none.
func Join(a, b object.JSON) object.JSON {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	joined := make(object.JSON, 0, len(a)+len(b)-1)
	joined = append(joined, a[:len(a)-1]...)
	joined = append(joined, ',')
	return append(joined, b[1:]...)
}
