// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "sigs.k8s.io/yaml"

// The manifest by which krew installs the plugin: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
type krewPlugin struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Metadata   krewMetadata `json:"metadata"`
	Spec       krewSpec     `json:"spec"`
}

type krewMetadata struct {
	Name string `json:"name"`
}

type krewSpec struct {
	Version          string         `json:"version"`
	Homepage         string         `json:"homepage"`
	ShortDescription string         `json:"shortDescription"`
	Description      string         `json:"description"`
	Platforms        []krewPlatform `json:"platforms"`
}

type krewPlatform struct {
	Selector krewSelector `json:"selector"`
	URI      string       `json:"uri"`
	SHA256   string       `json:"sha256"`
	Bin      string       `json:"bin"`
}

type krewSelector struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

// krewManifest names the archives of the plugin where the release publishes them.
func krewManifest(version string, plugins []plugin) ([]byte, error) {
	manifest := krewPlugin{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: krewMetadata{Name: "cleaner"},
		Spec: krewSpec{
			Version: version, Homepage: sourceURL, ShortDescription: "Find unused, expired and unhealthy resources",
			Description: "Find resources that nothing uses, that have expired or that are unhealthy, and see why.\n" +
				"\"kubectl cleaner scan\" needs nothing in the cluster: it uses your own rights and changes nothing.\n" +
				"With the KubeCleaner operator, the plugin also checks and previews Cleaners, and restores what a run deleted.\n",
		},
	}
	for _, p := range plugins {
		manifest.Spec.Platforms = append(manifest.Spec.Platforms, krewPlatform{
			Selector: krewSelector{MatchLabels: map[string]string{"os": p.target.os, "arch": p.target.arch}},
			URI:      sourceURL + "/releases/download/" + version + "/" + p.file,
			SHA256:   sum(p.data),
			Bin:      p.programName,
		})
	}
	return yaml.Marshal(manifest)
}
