// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import "github.com/kubecleaner/kubecleaner/pkg/object"

// mergePatch is the JSON merge patch (RFC 7386) that makes a restored map of the original. Null and absent are the same
// to it: a merge patch cannot set null. What the script left where it was is not decoded. The patch holds no nodes.
func mergePatch(from node, to map[string]any) (map[string]any, error) {
	before := from.fields()
	patch := removals(before, to)
	for key, now := range to {
		was := before[key]
		kept, isNode := now.(node)
		if isNull(now) || isNode && kept.isSame(was) {
			continue
		}
		if isNode && kept.raw.Type() == object.Map && was.raw.Type() == object.Map {
			// One that was moved here, into a map that it differs from field by field.
			var err error
			if now, err = kept.raw.Decode(); err != nil {
				return nil, err
			}
		}
		change, err := changeOf(was, now)
		if err != nil {
			return nil, err
		}
		if change != nil {
			patch[key] = change
		}
	}
	return patch, nil
}

// removals is a patch that removes what a restored map has no longer.
func removals(before map[string]node, to map[string]any) map[string]any {
	patch := make(map[string]any)
	for key, was := range before {
		if !was.isNull() && isNull(to[key]) {
			patch[key] = nil
		}
	}
	return patch
}

// changeOf is what a patch holds for one field. Nil when nothing changes.
func changeOf(was node, now any) (any, error) {
	inner, isMap := now.(map[string]any)
	if isMap && was.raw.Type() == object.Map {
		change, err := mergePatch(was, inner)
		if err != nil || len(change) == 0 {
			return nil, err
		}
		return change, nil
	}
	if was.equals(now) {
		return nil, nil
	}
	value, err := decoded(now)
	return withoutNulls(value), err
}

func isNull(restored any) bool {
	kept, ok := restored.(node)
	return restored == nil || ok && kept.isNull()
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
