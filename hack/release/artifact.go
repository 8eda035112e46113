// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const spdxType types.MediaType = "application/spdx+json"

// artifact is anything that a registry can hold besides images: one file, and a config that says what it is.
type artifact struct {
	artifactType, configType, layerType types.MediaType
	config, layer                       []byte
	// subject is the image that the artifact is about, or nil.
	subject     *v1.Descriptor
	annotations map[string]string
}

// newArtifact gives an artifact the shape of an image, as which it can be written to a layout and pushed.
func newArtifact(a artifact) (v1.Image, error) {
	layer := static.NewLayer(a.layer, a.layerType)
	layerDescriptor, err := partial.Descriptor(layer)
	if err != nil {
		return nil, err
	}
	configDigest, configSize, err := v1.SHA256(bytes.NewReader(a.config))
	if err != nil {
		return nil, err
	}
	manifest, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2,
		MediaType:     types.OCIManifestSchema1,
		ArtifactType:  string(a.artifactType),
		Subject:       a.subject,
		Annotations:   a.annotations,
		Config:        v1.Descriptor{MediaType: a.configType, Size: configSize, Digest: configDigest},
		Layers:        []v1.Descriptor{*layerDescriptor},
	})
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(core{manifest: manifest, config: a.config, layer: layer})
}

// core is what partial.CompressedToImage makes an image of.
type core struct {
	manifest, config []byte
	layer            v1.Layer
}

func (c core) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }
func (c core) RawManifest() ([]byte, error)        { return c.manifest, nil }
func (c core) RawConfigFile() ([]byte, error)      { return c.config, nil }

func (c core) LayerByDigest(digest v1.Hash) (partial.CompressedLayer, error) {
	own, err := c.layer.Digest()
	if err != nil {
		return nil, err
	}
	if own == digest {
		return c.layer, nil
	}
	return nil, fmt.Errorf("the artifact has no blob %s", digest)
}
