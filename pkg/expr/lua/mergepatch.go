// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import "reflect"

// mergePatch is the JSON merge patch (RFC 7386) that makes to of from. Null and absent are the same to it: a merge patch
// cannot set null.
func mergePatch(from, to map[string]any) map[string]any {
	patch := make(map[string]any)
	for key, was := range from {
		if was != nil && to[key] == nil {
			patch[key] = nil
		}
	}
	for key, now := range to {
		was := from[key]
		if now == nil {
			continue
		}
		wasMap, nowMap, both := twoMaps(was, now)
		if both {
			if inner := mergePatch(wasMap, nowMap); len(inner) > 0 {
				patch[key] = inner
			}
			continue
		}
		if !reflect.DeepEqual(was, now) {
			patch[key] = withoutNulls(now)
		}
	}
	return patch
}

func twoMaps(a, b any) (map[string]any, map[string]any, bool) {
	aMap, aOK := a.(map[string]any)
	bMap, bOK := b.(map[string]any)
	return aMap, bMap, aOK && bOK
}

// withoutNulls drops nulls from the maps of a new value, where a merge patch would take them for deletions. Lists are
// written as they are, with all that they hold.
func withoutNulls(value any) any {
	old, ok := value.(map[string]any)
	if !ok {
		return value
	}
	kept := make(map[string]any, len(old))
	for key, inner := range old {
		if inner != nil {
			kept[key] = withoutNulls(inner)
		}
	}
	return kept
}
