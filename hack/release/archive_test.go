// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
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

// The archive for Windows is a zip, from which krew and users take the program by its name.
func TestPackPluginForWindows(t *testing.T) {
	t.Parallel()
	own := program{"kubectl-cleaner.exe", []byte("program"), testPrograms()[0].info}
	shared := []entry{{"LICENSE", 0o644, []byte("licence")}, {"completions/kubectl-cleaner.ps1", 0o644, []byte("script")}}
	p, err := packPlugin(target{"windows", "amd64"}, "v0.1.0", testSource, own, shared)
	if err != nil {
		t.Fatal(err)
	}
	if p.file != "kubectl-cleaner_v0.1.0_windows_amd64.zip" || p.sbomFile() != "kubectl-cleaner_v0.1.0_windows_amd64.spdx.json" {
		t.Errorf("the files are %s and %s", p.file, p.sbomFile())
	}
	archive, err := zip.NewReader(bytes.NewReader(p.data), int64(len(p.data)))
	if err != nil {
		t.Fatal(err)
	}
	var got []entry
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, entry{name: f.Name, data: readAll(t, r)})
		if !f.Modified.Equal(testSource.created) {
			t.Errorf("%s is of %s, want the time of the commit", f.Name, f.Modified)
		}
	}
	want := []entry{
		{name: "kubectl-cleaner.exe", data: []byte("program")},
		{name: "LICENSE", data: []byte("licence")},
		{name: "completions/kubectl-cleaner.ps1", data: []byte("script")},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(entry{})); diff != "" {
		t.Errorf("the archive (-want +got):\n%s", diff)
	}
	manifest, err := krewManifest("v0.1.0", []plugin{p})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"bin: kubectl-cleaner.exe\n", "/v0.1.0/" + p.file + "\n", "os: windows\n", "sha256: " + sum(p.data) + "\n"} {
		if !strings.Contains(string(manifest), part) {
			t.Errorf("krew's manifest lacks %q:\n%s", part, manifest)
		}
	}
}
