// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const pluginPackage = "./cmd/kubectl-cleaner"

// completions are the files of an archive that hold what the plugin prints for a shell, or for kubectl.
var completions = []struct{ shell, file string }{
	{"bash", "completions/kubectl-cleaner.bash"},
	{"zsh", "completions/_kubectl-cleaner"},
	{"fish", "completions/kubectl-cleaner.fish"},
	{"powershell", "completions/kubectl-cleaner.ps1"},
	{"kubectl", "completions/kubectl_complete-cleaner"},
}

// plugin is the archive of the kubectl plugin for one platform.
type plugin struct {
	target      target
	file        string
	data, sbom  []byte
	programName string
}

// sbomFile is the name of its list of contents.
func (p plugin) sbomFile() string {
	return strings.TrimSuffix(strings.TrimSuffix(p.file, ".tar.gz"), ".zip") + ".spdx.json"
}

// buildPlugins builds the archives of the plugin. All of them have the completions that the plugin for this machine
// prints.
func buildPlugins(ctx context.Context, root, version string, src source, targets []target) ([]plugin, error) {
	shared, err := sharedEntries(ctx, root, version)
	if err != nil {
		return nil, err
	}
	plugins := make([]plugin, 0, len(targets))
	for _, t := range targets {
		programs, err := buildPrograms(ctx, root, version, t, []string{pluginPackage})
		if err != nil {
			return nil, err
		}
		p, err := packPlugin(t, version, src, programs[0], shared)
		if err != nil {
			return nil, fmt.Errorf("packing the plugin for %s: %w", t, err)
		}
		plugins = append(plugins, p)
	}
	return plugins, nil
}

func packPlugin(t target, version string, src source, own program, shared []entry) (plugin, error) {
	p := plugin{target: t, programName: own.name, file: "kubectl-cleaner_" + version + "_" + t.suffix()}
	entries := append([]entry{{own.name, 0o755, own.data}}, shared...)
	var err error
	if t.os == "windows" {
		p.file += ".zip"
		p.data, err = packZip(entries, src.created)
	} else {
		p.file += ".tar.gz"
		p.data, err = packTarGz(entries, src.created)
	}
	if err != nil {
		return plugin{}, err
	}
	p.sbom, err = writeSBOM("kubectl-cleaner_"+version+"_"+t.suffix(), version, src.created, []program{own})
	return p, err
}

// sharedEntries are the files that the archives of all platforms have.
func sharedEntries(ctx context.Context, root, version string) ([]entry, error) {
	licence, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kubecleaner-plugin-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	programs, err := build(ctx, root, target{runtime.GOOS, runtime.GOARCH}, version, dir, pluginPackage)
	if err != nil {
		return nil, err
	}
	entries := []entry{{"LICENSE", 0o644, licence}}
	for _, c := range completions {
		script, err := exec.CommandContext(ctx, programs[0], "completion", c.shell).Output()
		if err != nil {
			return nil, fmt.Errorf("kubectl-cleaner completion %s: %w", c.shell, err)
		}
		mode := int64(0o644)
		if c.shell == "kubectl" { // kubectl runs this one
			mode = 0o755
		}
		entries = append(entries, entry{c.file, mode, script})
	}
	return entries, nil
}
