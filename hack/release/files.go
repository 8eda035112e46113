// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// files are the files of a release, with their checksums.
type files struct {
	dir  string
	sums []string
}

func (f *files) write(name string, data []byte) error {
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return err
	}
	f.sums = append(f.sums, sum(data)+"  "+name)
	return os.WriteFile(filepath.Join(f.dir, name), data, 0o644)
}

// writeChecksums writes the list that sha256sum --check reads, sorted by name.
func (f *files) writeChecksums() error {
	slices.SortFunc(f.sums, func(a, b string) int {
		return strings.Compare(a[len(sum(nil)):], b[len(sum(nil)):])
	})
	text := strings.Join(f.sums, "\n") + "\n"
	if err := os.WriteFile(
		filepath.Join(f.dir, "checksums.txt"),
		[]byte(text),
		0o644,
	); err != nil {
		return fmt.Errorf("writing the checksums: %w", err)
	}
	return nil
}
