// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import "github.com/kubecleaner/kubecleaner/pkg/object"

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
