// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// writeLayout writes the images and their SBOMs as an OCI layout, which replaces an older layout in the directory.
func writeLayout(dir, ref string, all images) error {
	tag, err := name.NewTag(ref)
	if err != nil {
		return fmt.Errorf("the image %q: %w", ref, err)
	}
	if err := removeLayout(dir); err != nil {
		return err
	}
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return fmt.Errorf("writing the layout %s: %w", dir, err)
	}
	err = path.AppendIndex(all.index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": tag.TagStr(),
		// The name under which ctr images import stores it.
		"io.containerd.image.name": strings.Replace(tag.Name(), "index.docker.io/", "docker.io/", 1),
	}))
	for _, t := range all.order {
		err = errors.Join(err, path.AppendImage(all.platforms[t].sbomArtifact))
	}
	if err != nil {
		return fmt.Errorf("writing the layout %s: %w", dir, err)
	}
	return nil
}

// removeLayout removes a layout, and refuses to remove a directory of anything else.
func removeLayout(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "oci-layout")); err != nil {
		return fmt.Errorf("%s is not empty and not an OCI layout: choose another directory, or empty it", dir)
	}
	return os.RemoveAll(dir)
}

// writeArchive writes an image as docker save does. Docker, containerd and podman can load it.
func writeArchive(path, ref string, image v1.Image) error {
	tag, err := name.NewTag(ref)
	if err != nil {
		return fmt.Errorf("the image %q: %w", ref, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := tarball.WriteToFile(path, tag, image); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// layoutEntries are the files of a layout, sorted by name, for a tar archive of it.
func layoutEntries(dir string) ([]entry, error) {
	var entries []entry
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		entries = append(entries, entry{filepath.ToSlash(relative), 0o644, data})
		return err
	})
	return entries, err
}
