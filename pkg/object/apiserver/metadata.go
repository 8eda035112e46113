// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Metadata decodes an object's metadata.
func Metadata(o object.Object) (metav1.ObjectMeta, error) {
	var metadata metav1.ObjectMeta
	// Of the root, this field alone: encoding/json would also take METADATA for it.
	if err := json.Unmarshal(object.JSON(o.Raw).Field("metadata"), &metadata); err != nil {
		return metav1.ObjectMeta{}, fmt.Errorf("decoding the metadata of %s: %w", o, err)
	}
	return metadata, nil
}
