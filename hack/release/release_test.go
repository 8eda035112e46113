// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdxlib"
	"sigs.k8s.io/yaml"
)

const root = "../.."

// kubectl is the one of the control plane: others may render in another way.
func kubectl(t *testing.T) string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), root+"/test/controlplane/build.sh", "--lookup").Output()
	if err != nil {
		t.Fatalf("%v: build kubectl with make controlplane", err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), "kubectl")
}

// newRegistry is a registry in this process, and its address.
func newRegistry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// A release for this machine: every file is there and means what it says, and what is pushed is what its manifests name.
func TestRelease(t *testing.T) {
	local := []target{{"linux", runtime.GOARCH}}
	host := newRegistry(t)
	r := release{
		root: root, out: filepath.Join(t.TempDir(), "out"), version: "v0.1.0", kubectl: kubectl(t), dry: true, public: true,
		repository: host + "/kubecleaner/manager", charts: host + "/charts", images: local, plugins: []target{{runtime.GOOS, runtime.GOARCH}},
	}
	var err error
	if r.src, err = readSource(t.Context(), root, ""); err != nil {
		t.Fatal(err)
	}
	made, err := r.write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(root + "/charts/kubecleaner"); (err == nil) != (made.chart != nil) {
		t.Errorf("%v: the release has a chart: %t", err, made.chart != nil)
	}
	checkChecksums(t, r.out)
	checkFiles(t, r)
	archive := "kubectl-cleaner_v0.1.0_" + r.plugins[0].suffix() + ".tar.gz"
	checkPlugin(t, filepath.Join(r.out, archive))
	checkKrew(t, r, archive)
	digest, err := made.image.index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	checkManifest(t, r, "install.yaml", "default", digest.String())
	checkManifest(t, r, "dashboard.yaml", "dashboard", digest.String())
	if n := len(regexp.MustCompile(`(?m)^kind: CustomResourceDefinition$`).FindAll(readFile(t, r.out, "crds.yaml"), -1)); n != 4 {
		t.Errorf("crds.yaml has %d CustomResourceDefinitions, want 4", n)
	}
	checkPublished(t, r, made)
	if err := r.mayStart(); err == nil || !strings.Contains(err.Error(), "remove it first") {
		t.Errorf("a second release into the same directory: %v", err)
	}
}

func readFile(t *testing.T, parts ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checkChecksums compares checksums.txt with the directory.
func checkChecksums(t *testing.T, dir string) {
	t.Helper()
	listed := map[string]string{}
	for line := range strings.Lines(string(readFile(t, dir, "checksums.txt"))) {
		hash, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok {
			t.Fatalf("checksums.txt has the line %q", line)
		}
		listed[name] = hash
	}
	actual := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "checksums.txt" {
			actual[e.Name()] = sum(readFile(t, dir, e.Name()))
		}
	}
	if diff := cmp.Diff(actual, listed); diff != "" {
		t.Errorf("checksums.txt (-there +listed):\n%s", diff)
	}
}

// checkFiles compares the files of a release for one platform with their list, and opens those that no other check opens.
func checkFiles(t *testing.T, r release) {
	t.Helper()
	image, plugin := "kubecleaner-manager_v0.1.0_"+r.images[0].suffix()+".spdx.json", "kubectl-cleaner_v0.1.0_"+r.plugins[0].suffix()
	want := []string{
		"checksums.txt", "crd-schemas.tar.gz", "crds.yaml", "dashboard.yaml", "install.yaml", "krew-cleaner.yaml", "kubecleaner-0.1.0.tgz",
		image, "kubecleaner-manager_v0.1.0_oci.tar", plugin + ".spdx.json", plugin + ".tar.gz", "notes.md",
	}
	entries, err := os.ReadDir(r.out)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the files of the release (-want +got):\n%s", diff)
	}
	checkPrograms(t, readFile(t, r.out, image), "manager", "script-runner")
	checkPrograms(t, readFile(t, r.out, plugin+".spdx.json"), "kubectl-cleaner")
	group := "apps.projectsveltos.io/"
	wantEntries(t, untar(t, gunzip(t, readFile(t, r.out, "crd-schemas.tar.gz"))), group+"cleaner_v1alpha1.json",
		group+"cleanerapproval_v1alpha1.json", group+"cleanerrun_v1alpha1.json", group+"report_v1alpha1.json")
	layout := map[string]bool{}
	for _, e := range untar(t, readFile(t, r.out, "kubecleaner-manager_v0.1.0_oci.tar")) {
		layout[e.name] = true
	}
	if !layout["oci-layout"] || !layout["index.json"] {
		t.Errorf("the archive of the image is no OCI layout: %v", layout)
	}
}

// wantEntries compares the names in an archive.
func wantEntries(t *testing.T, entries []entry, want ...string) {
	t.Helper()
	var got []string
	for _, e := range entries {
		got = append(got, e.name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the archive (-want +got):\n%s", diff)
	}
}

// checkPrograms reads an SBOM as a scanner does. It has these programs, Go's own library, and modules.
func checkPrograms(t *testing.T, text []byte, programs ...string) {
	t.Helper()
	doc, err := spdxjson.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := spdxlib.ValidateDocument(doc); err != nil {
		t.Error(err)
	}
	versions := map[string]string{}
	for _, p := range doc.Packages {
		versions[p.PackageName] = p.PackageVersion
	}
	for _, name := range programs {
		if versions[name] != "v0.1.0" {
			t.Errorf("the SBOM has %s %q", name, versions[name])
		}
	}
	if want := strings.TrimPrefix(runtime.Version(), "go"); versions["stdlib"] != want || versions["k8s.io/client-go"] == "" || len(versions) < 10 {
		t.Errorf("the SBOM has %d packages, and stdlib %q, want %q", len(versions), versions["stdlib"], want)
	}
}

// checkPlugin unpacks an archive as a user does, and runs what is in it.
func checkPlugin(t *testing.T, archive string) {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "tar", "-xzf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	program := filepath.Join(dir, "kubectl-cleaner")
	out, err := exec.CommandContext(t.Context(), program, "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "kubectl-cleaner v0.1.0 ") && !strings.HasPrefix(string(out), "kubectl cleaner v0.1.0 ") {
		t.Errorf("%v: its version is %q", err, out)
	}
	for _, c := range completions {
		script, err := exec.CommandContext(t.Context(), program, "completion", c.shell).Output()
		if err != nil || !bytes.Contains(script, []byte("cleaner")) || !bytes.Equal(script, readFile(t, dir, c.file)) {
			t.Errorf("%v: %s is not what completion %s prints", err, c.file, c.shell)
		}
	}
	if !bytes.Equal(readFile(t, dir, "LICENSE"), readFile(t, root, "LICENSE")) {
		t.Error("the archive has another LICENSE")
	}
}

func checkKrew(t *testing.T, r release, archive string) {
	t.Helper()
	var got map[string]any
	if err := yaml.Unmarshal(readFile(t, r.out, "krew-cleaner.yaml"), &got); err != nil {
		t.Fatal(err)
	}
	spec, ok := got["spec"].(map[string]any)
	if !ok {
		t.Fatalf("the krew manifest is %v", got)
	}
	if short, _ := spec["shortDescription"].(string); short == "" || len(short) > 50 {
		t.Errorf("the short description is %q: krew's guide allows 50 characters", short)
	}
	delete(spec, "shortDescription")
	delete(spec, "description")
	want := map[string]any{
		"apiVersion": "krew.googlecontainertools.github.com/v1alpha2", "kind": "Plugin", "metadata": map[string]any{"name": "cleaner"},
		"spec": map[string]any{"version": "v0.1.0", "homepage": sourceURL, "platforms": []any{map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"os": runtime.GOOS, "arch": runtime.GOARCH}},
			"uri":      sourceURL + "/releases/download/v0.1.0/" + archive, "sha256": sum(readFile(t, r.out, archive)), "bin": "kubectl-cleaner",
		}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the krew manifest (-want +got):\n%s", diff)
	}
}

// checkManifest compares a file of the release with what kustomize makes of its directory of config when it replaces the image itself.
func checkManifest(t *testing.T, r release, file, config, digest string) {
	t.Helper()
	base, err := filepath.Abs(root + "/config/" + config)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(dir, base)
	if err != nil {
		t.Fatal(err)
	}
	text := "resources: [" + relative + "]\nimages: [{name: ghcr.io/kubecleaner/manager, newName: " + r.repository + ", newTag: v0.1.0, digest: \"" + digest + "\"}]\n"
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := kustomize(t.Context(), r.kubectl, dir)
	if err != nil {
		t.Fatal(err)
	}
	got := readFile(t, r.out, file)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-kustomize +release):\n%s", file, diff)
	}
}

func TestReleaseFlags(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "0.1.0", "v1", "v1.2", "v1.2.3+build", "v01.2.3", "version", "v1.2.3 "} {
		if err := run(context.Background(), []string{"all", "-version", version}); err == nil || !strings.Contains(err.Error(), "semantic version with a v") {
			t.Errorf("version %q: %v", version, err)
		}
	}
	for _, version := range []string{"v0.1.0", "v1.2.3-rc.1"} {
		if r, err := parseReleaseFlags([]string{"-version", version}); err != nil || r.out != "../../bin/release/"+version {
			t.Errorf("version %q: %v: it goes to %s", version, err, r.out)
		}
	}
	if err := run(context.Background(), []string{"publish"}); err == nil || !strings.Contains(err.Error(), `no command "publish"`) {
		t.Errorf("an unknown command: %v", err)
	}
}

// TestReleaseNeedsThePage: nobody notices an image without it before somebody opens it.
func TestReleaseNeedsThePage(t *testing.T) {
	dir := t.TempDir()
	r := release{root: dir, out: filepath.Join(dir, "out"), version: "v0.1.0", src: source{tags: []string{"v0.1.0"}}}
	manager := filepath.Join(dir, "config", "manager")
	if err := os.MkdirAll(manager, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"v0.0.9", "v0.1.0"} { // with the older one, config would not run what is released
		if err := os.WriteFile(filepath.Join(manager, "manager.yaml"), []byte("image: kubecleaner/manager:"+version+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := r.mayStart()
		if refused := err != nil && strings.Contains(err.Error(), "make set-version VERSION=v0.1.0"); refused != (version != r.version) {
			t.Errorf("config runs %s: %v", version, err)
		}
	}
	if err := r.mayStart(); err == nil || !strings.Contains(err.Error(), "run make web") {
		t.Errorf("without the page: %v", err)
	}
	page := filepath.Join(dir, "web", "dist")
	if err := errors.Join(os.MkdirAll(page, 0o755), os.WriteFile(filepath.Join(page, "index.html"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := r.mayStart(); err != nil {
		t.Errorf("with the page: %v", err)
	}
}

// TestNotesOfADryRun: right after a release, CHANGELOG.md has no text yet, and the nightly release is built all the same.
func TestNotesOfADryRun(t *testing.T) {
	dir := repository(t, commit("run: the first"))
	if err := os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte("# Changelog\n\n## Unreleased\n\n## v0.1.0\n\nOld.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := release{root: dir, version: "v0.0.0-nightly", dry: true}
	if err := r.writeNotes(t.Context(), &files{dir: t.TempDir()}); err != nil {
		t.Error(err)
	}
	r.dry = false
	if err := r.writeNotes(t.Context(), &files{dir: t.TempDir()}); !errors.Is(err, errNoSection) {
		t.Errorf("a release without a text: %v", err)
	}
}
