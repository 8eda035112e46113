// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"errors"
	"io"
)

var errTooLarge = errors.New("it is larger than 8 MiB, which is the most that is read for one object of a list")

// boundedReader reads up to an offset that its user moves on, and keeps the first error: jsontext drops one that comes
// together with bytes.
type boundedReader struct {
	r           io.Reader
	read, limit int64
	failed      error
}

// Read fails with errTooLarge at the limit.
func (b *boundedReader) Read(p []byte) (int, error) {
	if b.failed == nil && b.read >= b.limit {
		b.failed = errTooLarge
	}
	if b.failed != nil {
		return 0, b.failed
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.limit-b.read)])
	b.read += int64(n)
	b.failed = err
	if n > 0 {
		return n, nil
	}
	return 0, err
}
