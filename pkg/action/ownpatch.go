// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// fieldManager is by which name the API server notes who changed what.
const fieldManager = "kubecleaner"

// isOurs reports whether a live object holds a patch because it was carried out: by the API server's notes, which name
// for each field who wrote it last. Of fields that the patch removes there is no note.
func isOurs(live object.Object, patch object.JSON) bool {
	if holds, err := object.Holds(live, patch); len(patch) == 0 || err != nil || !holds {
		return false
	}
	wanted, err := live.StoredPatch(patch)
	if err != nil {
		return false
	}
	metadata, err := apiserver.Metadata(live)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(metadata.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return isOurNote(entry, wanted)
	})
}

// isOurNote reports whether an entry of managedFields says that we wrote all that the patch sets.
func isOurNote(entry metav1.ManagedFieldsEntry, patch map[string]any) bool {
	var fields map[string]any
	return entry.Manager == fieldManager && entry.Subresource == "" && entry.FieldsV1 != nil &&
		json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) == nil && owns(fields, patch)
}

// owns reports whether the fields, as managedFields write them, have all that the patch sets.
func owns(fields, patch map[string]any) bool {
	for key, value := range patch {
		inner, is := value.(map[string]any)
		of, owned := fields["f:"+key].(map[string]any)
		switch {
		case value == nil:
		case !owned:
			return false
		case is && len(of) > 0 && !owns(of, inner):
			return false
		}
	}
	return true
}
