// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import "slices"

// Part is what somebody surely reads of an object, besides its kind and apiVersion. The zero Part is none of it.
type Part struct {
	// Whole is all of it. The other fields say nothing then.
	Whole bool
	// Fields are the names of fields at the root.
	Fields []string
	// ManagedFields is whether metadata.managedFields, half of a small object, are read too where metadata is.
	ManagedFields bool
}

// MetadataOnly reports whether the part is in what the API server sends as an object's metadata (PartialObjectMetadata).
func (p Part) MetadataOnly() bool {
	return !p.Whole && !slices.ContainsFunc(p.Fields, func(field string) bool { return !IsInMetadataOnly(field) })
}

// Append appends the part to dst as a map of its own. Every field has the text that it has in the object.
func (p Part) Append(dst []byte, raw JSON) []byte {
	if p.Whole {
		return append(dst, raw...)
	}
	dst = append(dst, '{')
	empty := len(dst)
	for i, ok := open(raw, 0, '{'); ok; {
		start := i
		key, from, ok := keyAt(raw, i)
		if !ok {
			break
		}
		name := key.name()
		if !p.has(name) {
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

func (p Part) has(name []byte) bool {
	for _, field := range p.Fields {
		if string(name) == field {
			return true
		}
	}
	return false
}
