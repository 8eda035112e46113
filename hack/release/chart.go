// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"sigs.k8s.io/yaml"
)

// errNoChart says that this source has no chart.
var errNoChart = errors.New("charts/kubecleaner/Chart.yaml does not exist: a release needs the Helm chart")

const (
	chartConfigType types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	chartLayerType  types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// chart is the Helm chart as a package, and what its Chart.yaml says.
type chart struct {
	version        string
	data, metadata []byte
}

func (c chart) file() string { return "kubecleaner-" + c.version + ".tgz" }

// packChart packs a directory as helm package does, with the version and the image of the release.
func packChart(dir, version, repository string, created time.Time) (chart, error) {
	if _, err := os.Stat(filepath.Join(dir, "Chart.yaml")); errors.Is(err, fs.ErrNotExist) {
		return chart{}, errNoChart
	}
	entries, err := chartEntries(dir)
	if err != nil {
		return chart{}, err
	}
	c := chart{version: strings.TrimPrefix(version, "v")}
	for i, e := range entries {
		switch e.name {
		case "kubecleaner/Chart.yaml":
			if e.data, err = stampVersions(e.data, version); err == nil {
				c.metadata, err = yaml.YAMLToJSON(e.data)
			}
		case "kubecleaner/values.yaml":
			e.data, err = replaceOnce(e.data, chartRepository, "  repository: "+repository)
		}
		if err != nil {
			return chart{}, fmt.Errorf("%s: %w", e.name, err)
		}
		entries[i] = e
	}
	c.data, err = packTarGz(entries, created)
	return c, err
}

// chartEntries are the files of the chart, without those that .helmignore lists.
func chartEntries(dir string) ([]entry, error) {
	ignored, err := ignoredBy(filepath.Join(dir, ".helmignore"))
	if err != nil {
		return nil, err
	}
	var entries []entry
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		relative, err := filepath.Rel(dir, file)
		switch {
		case err != nil:
			return err
		case ignored(d) && d.IsDir():
			return fs.SkipDir
		case ignored(d) || d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is not a regular file", relative)
		}
		data, err := os.ReadFile(file)
		entries = append(entries, entry{path.Join("kubecleaner", filepath.ToSlash(relative)), 0o644, data})
		return err
	})
	return entries, err
}

// ignoredBy reads the part of .helmignore's language that the chart uses: names and patterns of files, and of
// directories with a slash at the end. It refuses the rest.
func ignoredBy(file string) (func(fs.DirEntry) bool, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var patterns []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if !supported(line) {
			return nil, fmt.Errorf("%s: the pattern %q is not supported: use a name or a pattern without a path", file, line)
		}
		patterns = append(patterns, line)
	}
	return func(d fs.DirEntry) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			name, onlyDirectories := strings.CutSuffix(pattern, "/")
			matched, _ := path.Match(name, d.Name())
			return matched && (d.IsDir() || !onlyDirectories)
		})
	}, nil
}

func supported(pattern string) bool {
	_, err := path.Match(pattern, "")
	return err == nil && !strings.HasPrefix(pattern, "!") && !strings.Contains(strings.TrimSuffix(pattern, "/"), "/")
}

var (
	chartVersion    = regexp.MustCompile(`(?m)^version: .*$`)
	chartAppVersion = regexp.MustCompile(`(?m)^appVersion: .*$`)
	chartRepository = regexp.MustCompile(`(?m)^  repository: .*kubecleaner/manager$`)
)

// stampVersions sets the version of the chart, and that of the operator, which is the tag of its image.
func stampVersions(metadata []byte, version string) ([]byte, error) {
	metadata, err := replaceOnce(metadata, chartVersion, "version: "+strings.TrimPrefix(version, "v"))
	if err != nil {
		return nil, err
	}
	return replaceOnce(metadata, chartAppVersion, "appVersion: "+version)
}

func replaceOnce(text []byte, pattern *regexp.Regexp, line string) ([]byte, error) {
	if n := len(pattern.FindAll(text, -1)); n != 1 {
		return nil, fmt.Errorf("%d lines match %s: there must be exactly one", n, pattern)
	}
	return pattern.ReplaceAllLiteral(text, []byte(line)), nil
}

// ociChart is the chart as helm push writes it to a registry.
func (c chart) ociChart(created time.Time) (v1.Image, error) {
	return newArtifact(artifact{
		configType: chartConfigType, config: bytes.TrimSpace(c.metadata), layerType: chartLayerType, layer: c.data,
		annotations: map[string]string{
			"org.opencontainers.image.title": "kubecleaner", "org.opencontainers.image.version": c.version,
			"org.opencontainers.image.source": sourceURL, "org.opencontainers.image.created": created.Format(time.RFC3339),
		},
	})
}
