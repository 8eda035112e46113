// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// Merge applies a JSON merge patch (RFC 7386).
func Merge(value, patch map[string]any) map[string]any {
	for key, wanted := range patch {
		inner, isMap := wanted.(map[string]any)
		switch {
		case wanted == nil:
			delete(value, key)
		case isMap:
			was, ok := value[key].(map[string]any)
			if !ok {
				was = map[string]any{}
			}
			value[key] = Merge(was, inner)
		default:
			value[key] = wanted
		}
	}
	return value
}

// PlainYAML writes a value so that equal values are equal texts: sorted, without nulls, and 1.0 as 1.
func PlainYAML(value map[string]any) (string, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	var plain map[string]any
	if err := utiljson.Unmarshal(raw, &plain); err != nil {
		return "", err
	}
	return terminal.AsYAML(withoutNulls(plain))
}

func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			if inner == nil {
				delete(value, key)
				continue
			}
			value[key] = withoutNulls(inner)
		}
	case []any:
		for i := range value {
			value[i] = withoutNulls(value[i])
		}
	}
	return value
}
