// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import "time"

// ChangedAt is when the spec of an object, or a field of it, was last written, by its managedFields: or something else
// by the one who wrote it, so it may have been so for longer. Zero when nobody knows.
func ChangedAt(metadata JSON, field ...string) (last time.Time) {
	path := []string{"fieldsV1", "f:spec"}
	for _, name := range field {
		path = append(path, "f:"+name)
	}
	for entry := range metadata.Field("managedFields").Elements() {
		at, err := time.Parse(time.RFC3339, entry.Field("time").Text())
		if err == nil && at.After(last) && entry.At(path...) != nil {
			last = at
		}
	}
	return last
}
