// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

// AppendWithoutManagedFields appends the object to dst without its metadata.managedFields, which are a third of a small
// object and of interest to the API server only. Every other byte stays, in its order.
func AppendWithoutManagedFields(dst []byte, raw JSON) []byte {
	copied := 0
	for i, ok := open(raw, 0, '{'); ok; {
		var key Key
		var from, end int
		if key, from, ok = keyAt(raw, i); !ok {
			break
		}
		if key.Is("metadata") {
			dst = append(dst, raw[copied:from]...)
			dst, end = appendWithout(dst, "managedFields", raw, from)
			copied = end
		} else {
			end = skipValue(raw, from)
		}
		i = skipComma(raw, end)
	}
	return append(dst, raw[copied:]...)
}

// AppendWithoutData appends an object, such as a Secret, to dst without its field data.
func AppendWithoutData(dst []byte, raw JSON) []byte {
	dst, _ = appendWithout(dst, "data", raw, 0)
	return dst
}

// appendWithout appends the value that begins at i, and returns the index behind it. Of a map it leaves out every field
// of the name, with the comma that follows, or for want of one with the comma before it.
func appendWithout(dst []byte, name string, raw JSON, i int) (_ []byte, end int) {
	copied := i
	i, ok := open(raw, i, '{')
	if !ok {
		end = skipValue(raw, i)
		return append(dst, raw[copied:end]...), end
	}
	for start := i; ; start = i {
		key, from, ok := keyAt(raw, i)
		if !ok {
			break
		}
		i = skipComma(raw, skipValue(raw, from))
		if !key.Is(name) {
			continue
		}
		dst = append(dst, raw[copied:start]...)
		copied = i
		if i < len(raw) && raw[i] == '}' {
			dst = trimComma(dst)
		}
	}
	end = closeMap(raw, i)
	return append(dst, raw[copied:end]...), end
}

// trimComma takes a comma off the end, if there is one, with the white space around it.
func trimComma(dst []byte) []byte {
	end := len(dst)
	for end > 0 && skipSpace(dst[end-1:end], 0) == 1 {
		end--
	}
	if end > 0 && dst[end-1] == ',' {
		return dst[:end-1]
	}
	return dst
}
