// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import "slices"

// Part is what somebody may read of an object, besides its kind and apiVersion. The zero Part is all of it.
type Part struct {
	// Narrow says that the part is no more than the other fields say.
	Narrow bool
	// Fields are the names of fields at the root.
	Fields []string
	// ManagedFields is whether metadata.managedFields, half of a small object, are read too where metadata is.
	ManagedFields bool
}

// MetadataOnly reports whether the part is in what the API server sends as an object's metadata
// (PartialObjectMetadata).
func (p Part) MetadataOnly() bool {
	return p.Narrow && !slices.ContainsFunc(p.Fields, func(field string) bool { return !IsInMetadataOnly(field) })
}

// Append appends the part to dst as a map of its own. Every field has the text that it has in the object.
func (p Part) Append(dst []byte, raw JSON) []byte {
	i, ok := open(raw, 0, '{')
	if !p.Narrow || !ok {
		return append(dst, raw...)
	}
	dst = append(dst, '{')
	empty := len(dst)
	for {
		start := i
		key, from, ok := keyAt(raw, i)
		if !ok {
			break
		}
		name := key.name()
		if !p.Has(string(name)) {
			i = skipComma(raw, skipValue(raw, from))
			continue
		}
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		var end int
		dst = append(dst, raw[start:from]...)
		if string(name) == "metadata" && !p.ManagedFields {
			dst, end = appendWithout(dst, "managedFields", raw, from)
		} else {
			end = skipValue(raw, from)
			dst = append(dst, raw[from:end]...)
		}
		i = skipComma(raw, end)
	}
	return append(dst, '}')
}

// Has reports whether a field of the root is in the part.
func (p Part) Has(field string) bool { return !p.Narrow || slices.Contains(p.Fields, field) }
