// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import "unicode/utf8"

// jsonSize is how long a text is at most as JSON, in bytes.
func jsonSize(text string) int {
	size := len(`""`)
	for _, r := range text {
		switch {
		case r == '"', r == '\\', r == '\n', r == '\r', r == '\t':
			size += 2
		case r < ' ', r == '<', r == '>', r == '&', r == utf8.RuneError, r == '\u2028', r == '\u2029':
			size += len(`\u0000`)
		default:
			size += utf8.RuneLen(r)
		}
	}
	return size
}
