// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Command image builds what the Dockerfile ships and packs it as an image, in the archive format of docker save, where there is neither
// docker nor a registry. It has the files, the user and the entrypoint of the Dockerfile, and no base image.
package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	ref := flag.String("ref", "kubecleaner/manager:dev", "the image's name and tag")
	version := flag.String("version", "dev", "the version that the manager tells")
	out := flag.String("o", "bin/image.tar", "where to write it")
	flag.Parse()
	if err := run(*ref, *version, *out); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(ref, version, out string) error {
	dockerfile, err := os.ReadFile("Dockerfile")
	if err != nil {
		return err
	}
	l, err := readLayout(string(dockerfile))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	args := append([]string{"build", "-trimpath", "-ldflags", "-s -w -X main.version=" + version, "-o", dir + "/"}, l.commands...)
	build := exec.CommandContext(context.Background(), "go", args...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building %s: %w", strings.Join(l.commands, " "), err)
	}
	arch, err := exec.CommandContext(context.Background(), "go", "env", "GOARCH").Output()
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	for _, command := range l.commands {
		name := path.Base(command)
		if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	archive, err := pack(ref, l, strings.TrimSpace(string(arch)), files)
	if err != nil {
		return err
	}
	return os.WriteFile(out, archive, 0o644) //nolint:gosec // an image is no secret
}

// layout is what the Dockerfile says of the image.
type layout struct {
	// commands are the packages whose programs are in its root.
	commands []string
	user     string
	// entrypoint is what runs.
	entrypoint []string
}

var (
	built      = regexp.MustCompile(`(?m)^ *go build .* -o /out/((?: \./cmd/[a-z-]+)+)$`)
	copied     = regexp.MustCompile(`(?m)^COPY --from=builder /out/ /$`)
	user       = regexp.MustCompile(`(?m)^USER (\S+)$`)
	entrypoint = regexp.MustCompile(`(?m)^ENTRYPOINT (\[.*\])$`)
)

// readLayout understands the Dockerfile that there is, and no other.
func readLayout(dockerfile string) (layout, error) {
	b, u, e := built.FindStringSubmatch(dockerfile), user.FindStringSubmatch(dockerfile), entrypoint.FindStringSubmatch(dockerfile)
	if b == nil || u == nil || e == nil || !copied.MatchString(dockerfile) || strings.Count(dockerfile, "\nCOPY --from=") != 1 {
		return layout{}, fmt.Errorf("the Dockerfile is written in another way than test/image reads: teach it")
	}
	l := layout{commands: strings.Fields(b[1]), user: u[1]}
	return l, json.Unmarshal([]byte(e[1]), &l.entrypoint)
}

// pack makes the archive of an image with one layer.
func pack(ref string, l layout, arch string, files map[string][]byte) ([]byte, error) {
	entries := []entry{{name: "tmp/", mode: 0o1777}}
	for _, command := range l.commands {
		name := path.Base(command)
		entries = append(entries, entry{name, 0o755, files[name]})
	}
	layer, err := archive(entries)
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": arch, "os": "linux",
		"config": map[string]any{"User": l.user, "Entrypoint": l.entrypoint, "Env": []string{"PATH=/"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + sum(layer)}},
	})
	if err != nil {
		return nil, err
	}
	manifest, err := json.Marshal([]any{map[string]any{"Config": sum(config) + ".json", "RepoTags": []string{ref}, "Layers": []string{sum(layer) + ".tar"}}})
	if err != nil {
		return nil, err
	}
	return archive([]entry{{sum(config) + ".json", 0o644, config}, {sum(layer) + ".tar", 0o644, layer}, {"manifest.json", 0o644, manifest}})
}

type entry struct {
	name string
	mode int64
	data []byte
}

func archive(entries []entry) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.data)), Typeflag: tar.TypeReg}
		if strings.HasSuffix(e.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func sum(data []byte) string {
	hash := sha256.Sum256(data)
	return hex.EncodeToString(hash[:])
}
