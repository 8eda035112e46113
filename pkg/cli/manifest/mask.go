// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import "reflect"

// Masked stands in place of a Secret's value.
const Masked = "******"

// lastApplied is where kubectl apply keeps the whole object, a Secret's values among it.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// MaskSides hides a Secret's values, and shows which of them differ.
func MaskSides(mask func(string) string, was, becomes map[string]any) (map[string]any, map[string]any) {
	for _, field := range []string{"data", "stringData"} {
		left, _ := was[field].(map[string]any)
		right, _ := becomes[field].(map[string]any)
		for key, value := range left {
			other, both := right[key]
			if both && reflect.DeepEqual(other, value) {
				left[key], right[key] = Masked, Masked
				continue
			}
			if left[key] = Masked; both {
				left[key] = Masked + " (before)"
				right[key] = Masked + " (after)"
			}
		}
		for key := range right {
			if _, both := left[key]; !both {
				right[key] = Masked
			}
		}
	}
	return MaskFields(mask, was), MaskFields(mask, becomes)
}

// MaskFields hides a Secret's values wherever they stand.
func MaskFields(mask func(string) string, fields map[string]any) map[string]any {
	clean := make(map[string]any, len(fields))
	for key, inner := range fields {
		if key == lastApplied && inner != nil {
			inner = Masked
		}
		clean[mask(key)] = maskTexts(mask, inner)
	}
	return clean
}

func maskTexts(mask func(string) string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		return MaskFields(mask, value)
	case []any:
		clean := make([]any, len(value))
		for i, inner := range value {
			clean[i] = maskTexts(mask, inner)
		}
		return clean
	case string:
		return mask(value)
	}
	return value
}
