// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func (a *Actor) transform(ctx context.Context, o object.Object, patch map[string]any) (v1alpha1.OutcomeResult, string, error) {
	if len(patch) == 0 {
		return v1alpha1.OutcomeUnchanged, "there is nothing to change", nil
	}
	payload, err := guarded(patch, o)
	if err != nil {
		return "", "", err
	}
	request, cancel := inHand(ctx, requestTimeout)
	defer cancel()
	answer, err := a.do(request, a.client.Patch(types.MergePatchType).AbsPath(o.Path()).Param("fieldManager", "kubecleaner").Body(payload))
	if err != nil {
		return "", "", err
	}
	if after, err := object.New(o.Kind, answer); err == nil && after.ResourceVersion == o.ResourceVersion {
		return v1alpha1.OutcomeUnchanged, "the API server kept it as it was", nil
	}
	return v1alpha1.OutcomeTransformed, "", nil
}

// guarded puts the judged resourceVersion into a patch: the server answers 409 when the object has any other.
func guarded(patch map[string]any, o object.Object) ([]byte, error) {
	metadata := map[string]any{"resourceVersion": o.ResourceVersion}
	if changed, ok := patch["metadata"].(map[string]any); ok {
		for key, value := range changed {
			if _, guard := metadata[key]; !guard {
				metadata[key] = value
			}
		}
	}
	whole := map[string]any{"metadata": metadata}
	for key, value := range patch {
		if key != "metadata" {
			whole[key] = value
		}
	}
	return json.Marshal(whole)
}
