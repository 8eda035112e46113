// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func readAll(t *testing.T, r io.ReadCloser) []byte {
	t.Helper()
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return data
}

func gunzip(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return readAll(t, r)
}

func untar(t *testing.T, data []byte) []entry {
	t.Helper()
	var entries []entry
	r := tar.NewReader(bytes.NewReader(data))
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry{header.Name, header.Mode, content})
	}
}

// Archives do not depend on the user, the clock or the file system.
func TestPackTarGz(t *testing.T) {
	t.Parallel()
	entries := []entry{{"a/b", 0o644, []byte("text")}}
	data, err := packTarGz(entries, time.Unix(1700000000, 0))
	if err != nil {
		t.Fatal(err)
	}
	if got := untar(t, gunzip(t, data)); !cmp.Equal(got, entries, cmp.AllowUnexported(entry{})) {
		t.Errorf("the archive holds %v", got)
	}
	header, err := tar.NewReader(bytes.NewReader(gunzip(t, data))).Next()
	if err != nil || header.ModTime.Unix() != 1700000000 || header.Uid != 0 || header.Uname != "" {
		t.Errorf("%v: the header is %+v", err, header)
	}
}
