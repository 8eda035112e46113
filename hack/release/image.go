// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const sourceURL = "https://github.com/kubecleaner/kubecleaner"

// images is one image for several platforms, with a list of what is in each.
type images struct {
	index     v1.ImageIndex
	platforms map[target]platformImage
	// order is that of the platforms in the index.
	order []target
}

type platformImage struct {
	image v1.Image
	// sbom is the list of contents as SPDX, and sbomArtifact the same as an artifact that refers to the image.
	sbom         []byte
	sbomArtifact v1.Image
}

// buildImage builds what the Dockerfile ships, from an empty base.
func buildImage(ctx context.Context, root, version string, src source, targets []target) (images, error) {
	dockerfile, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		return images{}, err
	}
	r, err := readRecipe(string(dockerfile))
	if err != nil {
		return images{}, err
	}
	return assemble(src, version, targets, func(t target) (platformImage, error) {
		programs, err := buildPrograms(ctx, root, version, t, r.commands)
		if err != nil {
			return platformImage{}, err
		}
		return packPlatform(r, t, programs, version, src)
	})
}

// assemble makes an index of the images that platform returns.
func assemble(
	src source,
	version string,
	targets []target,
	platform func(target) (platformImage, error),
) (images, error) {
	all := images{platforms: map[target]platformImage{}, order: targets}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, t := range targets {
		one, err := platform(t)
		if err != nil {
			return images{}, err
		}
		all.platforms[t] = one
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: one.image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: t.os, Architecture: t.arch}},
		})
	}
	annotated, ok := mutate.Annotations(index, labelsOf(version, src)).(v1.ImageIndex)
	if !ok {
		return images{}, errors.New("annotating the index did not return an index")
	}
	all.index = annotated
	return all, nil
}

// buildPrograms builds programs into a directory that is removed again.
func buildPrograms(ctx context.Context, root, version string, t target, packages []string) ([]program, error) {
	dir, err := os.MkdirTemp("", "kubecleaner-build-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	paths, err := build(ctx, root, t, version, dir, packages...)
	if err != nil {
		return nil, err
	}
	return readPrograms(paths)
}

func packPlatform(r recipe, t target, programs []program, version string, src source) (platformImage, error) {
	image, err := packImage(r, t, programs, src.created, labelsOf(version, src))
	if err != nil {
		return platformImage{}, fmt.Errorf("packing the image for %s: %w", t, err)
	}
	sbom, err := writeSBOM("kubecleaner-manager_"+version+"_"+t.suffix(), version, src.created, programs)
	if err != nil {
		return platformImage{}, err
	}
	artifact, err := sbomArtifact(image, sbom, src.created)
	return platformImage{image: image, sbom: sbom, sbomArtifact: artifact}, err
}

// packImage makes an image of one layer.
func packImage(r recipe, t target, programs []program, created time.Time, labels map[string]string) (v1.Image, error) {
	var entries []entry
	for _, p := range programs {
		entries = append(entries, entry{p.name, 0o755, p.data})
	}
	data, err := packTar(entries, created)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
		tarball.WithMediaType(types.OCILayer),
		tarball.WithCompressionLevel(6),
		tarball.WithCompressedCaching,
	)
	if err != nil {
		return nil, err
	}
	image, err := mutate.Append(
		mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON),
		mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: created}, CreatedBy: "hack/release"}},
	)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = t.os, t.arch, v1.Time{Time: created}
	config.Config = v1.Config{User: r.user, Entrypoint: r.entrypoint, Env: []string{"PATH=/"}, Labels: labels}
	return mutate.ConfigFile(image, config)
}

func labelsOf(version string, src source) map[string]string {
	labels := map[string]string{
		"org.opencontainers.image.title":    "KubeCleaner",
		"org.opencontainers.image.version":  version,
		"org.opencontainers.image.source":   sourceURL,
		"org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.created":  src.created.Format(time.RFC3339),
	}
	if src.revision != "" {
		labels["org.opencontainers.image.revision"] = src.revision
	}
	return labels
}

// sbomArtifact is a list of contents that refers to the image it is about, as registries serve it to whoever asks for
// referrers.
func sbomArtifact(image v1.Image, sbom []byte, created time.Time) (v1.Image, error) {
	subject, err := partial.Descriptor(image)
	if err != nil {
		return nil, err
	}
	return newArtifact(artifact{
		// Registries without a field for the type of an artifact take that of its config.
		artifactType: spdxType, configType: spdxType, config: []byte("{}"), layerType: spdxType, layer: sbom,
		subject:     &v1.Descriptor{MediaType: subject.MediaType, Size: subject.Size, Digest: subject.Digest},
		annotations: map[string]string{"org.opencontainers.image.created": created.Format(time.RFC3339)},
	})
}
