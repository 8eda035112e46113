// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// versioned are the files that name the version of the newest release: commands of the docs, the image of config, and
// the chart.
var versioned = []string{
	"README.md", "SECURITY.md", "docs/*.md", "docs/*/*.md",
	"config/manager/manager.yaml", "config/dashboard/dashboard.yaml", "charts/kubecleaner/Chart.yaml",
}

var (
	configVersion   = regexp.MustCompile(`kubecleaner/manager:(v\S+)`)
	semanticVersion = regexp.MustCompile(`v?\d+\.\d+\.\d+(?:-[0-9A-Za-z]+(?:\.[0-9A-Za-z]+)*)?`)
)

// versionCommand writes a version wherever the repository names that of the newest release.
func versionCommand(args []string) error {
	flags := flag.NewFlagSet("version", flag.ContinueOnError)
	root := flags.String("root", "../..", "the directory of the repository")
	version := flags.String("version", "", "the version, for example v0.2.0")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := checkVersion(*version); err != nil {
		return err
	}
	old, err := versionOf(*root)
	if err != nil {
		return err
	}
	changed, err := replaceVersion(*root, old, *version)
	for _, file := range changed {
		fmt.Println(file)
	}
	return err
}

// versionOf is the version that config/manager runs.
func versionOf(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "config", "manager", "manager.yaml"))
	if err != nil {
		return "", err
	}
	match := configVersion.FindSubmatch(text)
	if match == nil {
		return "", errors.New("config/manager/manager.yaml names no image kubecleaner/manager with a version")
	}
	return string(match[1]), nil
}

// replaceVersion replaces a version, with and without its v, in all files that have it, and returns these files.
func replaceVersion(root, old, version string) (changed []string, err error) {
	for _, pattern := range versioned {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return changed, err
		}
		for _, file := range files {
			if filepath.Base(file) == "comparison.md" {
				continue // it says which versions somebody compared
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return changed, err
			}
			replaced := semanticVersion.ReplaceAllFunc(text, func(found []byte) []byte {
				switch string(found) {
				case old:
					return []byte(version)
				case strings.TrimPrefix(old, "v"):
					return []byte(strings.TrimPrefix(version, "v"))
				}
				return found
			})
			if bytes.Equal(replaced, text) {
				continue
			}
			if err := os.WriteFile(file, replaced, 0o644); err != nil {
				return changed, err
			}
			changed = append(changed, file)
		}
	}
	return changed, nil
}
