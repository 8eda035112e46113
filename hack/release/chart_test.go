// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// writeTree writes files below a new directory.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	testChart  = "apiVersion: v2\nname: kubecleaner\nversion: 0.0.0\nappVersion: dev\n"
	testValues = "image:\n  repository: kubecleaner/manager\n  tag: \"\"\n"
)

func TestPackChart(t *testing.T) {
	t.Parallel()
	dir := writeTree(t, map[string]string{
		"Chart.yaml": testChart, "values.yaml": testValues, "templates/a.yaml": "a", "templates/ci/b.yaml": "b", "ci/c.yaml": "c",
		"files/ci": "d", "old.tgz": "e", ".helmignore": "# comment\n\nci/\n*.tgz\n.helmignore\n",
	})
	c, err := packChart(dir, "v0.2.0-rc.1", "ghcr.io/kubecleaner/manager", testSource.created)
	if err != nil {
		t.Fatal(err)
	}
	want := []entry{
		{"kubecleaner/Chart.yaml", 0o644, []byte("apiVersion: v2\nname: kubecleaner\nversion: 0.2.0-rc.1\nappVersion: v0.2.0-rc.1\n")},
		{"kubecleaner/files/ci", 0o644, []byte("d")},
		{"kubecleaner/templates/a.yaml", 0o644, []byte("a")},
		{"kubecleaner/values.yaml", 0o644, []byte("image:\n  repository: ghcr.io/kubecleaner/manager\n  tag: \"\"\n")},
	}
	if diff := cmp.Diff(want, untar(t, gunzip(t, c.data)), cmp.AllowUnexported(entry{})); diff != "" || c.file() != "kubecleaner-0.2.0-rc.1.tgz" {
		t.Errorf("%s (-want +got):\n%s", c.file(), diff)
	}
	image, err := c.ociChart(testSource.created)
	if err != nil {
		t.Fatal(err)
	}
	checkOCIChart(t, image, c.data)
}

// checkOCIChart checks what helm pull looks for: the types of config and layer, and the metadata as config.
func checkOCIChart(t *testing.T, image v1.Image, packed []byte) {
	t.Helper()
	manifest, err := image.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if manifest.Config.MediaType != "application/vnd.cncf.helm.config.v1+json" || len(manifest.Layers) != 1 ||
		manifest.Layers[0].MediaType != "application/vnd.cncf.helm.chart.content.v1.tar+gzip" || manifest.Layers[0].Digest.Hex != sum(packed) {
		t.Errorf("the manifest of the chart is %+v", manifest)
	}
	config, err := image.RawConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	var metadata struct{ Name, Version, AppVersion string }
	if err := json.Unmarshal(config, &metadata); err != nil || metadata.Name != "kubecleaner" || metadata.AppVersion != "v"+metadata.Version {
		t.Errorf("%v: the metadata of the chart is %s", err, config)
	}
}

func TestChartsThatAreRefused(t *testing.T) {
	t.Parallel()
	for want, files := range map[string]map[string]string{
		"charts/kubecleaner/Chart.yaml does not exist":        {"values.yaml": testValues},
		"kubecleaner/Chart.yaml: 0 lines match":               {"Chart.yaml": "name: kubecleaner\n", "values.yaml": testValues},
		"kubecleaner/values.yaml: 2 lines match":              {"Chart.yaml": testChart, "values.yaml": testValues + testValues},
		`the pattern "!x" is not supported`:                   {"Chart.yaml": testChart, ".helmignore": "!x\n"},
		`the pattern "a/b" is not supported`:                  {"Chart.yaml": testChart, ".helmignore": "a/b\n"},
		`the pattern "[" is not supported: use a name or a p`: {"Chart.yaml": testChart, ".helmignore": "[\n"},
	} {
		if _, err := packChart(writeTree(t, files), "v0.1.0", "a/b", testSource.created); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

// Without a chart there is no release, but a dry run goes on.
func TestReleaseWithoutChart(t *testing.T) {
	t.Parallel()
	r := release{root: t.TempDir(), version: "v0.1.0"}
	if _, _, err := r.writeChart(&files{dir: t.TempDir()}); !errors.Is(err, errNoChart) {
		t.Errorf("the error is %v", err)
	}
	r.dry = true
	if image, _, err := r.writeChart(&files{dir: t.TempDir()}); err != nil || image != nil {
		t.Errorf("in a dry run: %v, %v", image, err)
	}
}
