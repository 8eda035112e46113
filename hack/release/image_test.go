// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	spdxjson "github.com/spdx/tools-golang/json"
)

var (
	testSource  = source{revision: "0123456789abcdef", created: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	testTargets = []target{{"linux", "amd64"}, {"linux", "arm64"}}
)

func testPrograms() []program {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "example.com/a", Version: "v1.2.3+incompatible", Sum: "h1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="},
		{Path: "example.com/b", Version: "v0.1.0", Replace: &debug.Module{Path: "example.com/c", Version: "v0.2.0"}},
	}}
	return []program{{"manager", []byte("one"), info}, {"script-runner", []byte("two"), info}}
}

// testImages packs programs that were not built, for all platforms.
func testImages(t *testing.T) images {
	t.Helper()
	r := recipe{commands: []string{"./cmd/manager", "./cmd/script-runner"}, user: "65532:65532", entrypoint: []string{"/manager"}}
	all, err := assemble(testSource, "v0.1.0", testTargets, func(tt target) (platformImage, error) {
		return packPlatform(r, tt, testPrograms(), "v0.1.0", testSource)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The layout holds both platforms, their SBOMs and nothing that depends on when or where it was written.
func TestLayout(t *testing.T) {
	t.Parallel()
	first, second := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for _, dir := range []string{first, first, second} { // the second time over an older one
		if err := writeLayout(dir, "kubecleaner/manager:v0.1.0", testImages(t)); err != nil {
			t.Fatal(err)
		}
	}
	one, err := layoutEntries(first)
	if err != nil {
		t.Fatal(err)
	}
	two, err := layoutEntries(second)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one, two, cmp.AllowUnexported(entry{})); diff != "" {
		t.Errorf("two layouts of the same programs differ:\n%s", diff)
	}
	path, err := layout.FromPath(first)
	if err != nil {
		t.Fatal(err)
	}
	top, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := top.IndexManifest()
	if err != nil || len(manifest.Manifests) != 3 {
		t.Fatalf("%v: the layout holds %+v", err, manifest)
	}
	if got := manifest.Manifests[0].Annotations; got["org.opencontainers.image.ref.name"] != "v0.1.0" || got["io.containerd.image.name"] != "docker.io/kubecleaner/manager:v0.1.0" {
		t.Errorf("the image is called %v", got)
	}
	index, err := top.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	platforms, err := index.IndexManifest()
	if err != nil || len(platforms.Manifests) != 2 || platforms.Annotations["org.opencontainers.image.version"] != "v0.1.0" {
		t.Fatalf("%v: the index is %+v", err, platforms)
	}
	for i, descriptor := range platforms.Manifests {
		image, err := index.Image(descriptor.Digest)
		if err != nil {
			t.Fatal(err)
		}
		checkImage(t, image, testTargets[i], descriptor)
		sbom, err := top.Image(manifest.Manifests[i+1].Digest)
		if err != nil {
			t.Fatal(err)
		}
		checkSBOM(t, sbom, descriptor)
	}
}

func checkImage(t *testing.T, image v1.Image, want target, descriptor v1.Descriptor) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.OS != want.os || config.Architecture != want.arch || descriptor.Platform.String() != want.String() {
		t.Errorf("the platform is %s/%s in the config and %v in the index, want %s", config.OS, config.Architecture, descriptor.Platform, want)
	}
	wantConfig := v1.Config{User: "65532:65532", Entrypoint: []string{"/manager"}, Env: []string{"PATH=/"}, Labels: map[string]string{
		"org.opencontainers.image.title": "KubeCleaner", "org.opencontainers.image.version": "v0.1.0",
		"org.opencontainers.image.revision": "0123456789abcdef", "org.opencontainers.image.source": sourceURL,
		"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.created": "2026-11-01T12:00:00Z",
	}}
	if diff := cmp.Diff(wantConfig, config.Config); diff != "" || !config.Created.Equal(testSource.created) {
		t.Errorf("created %s, and the config (-want +got):\n%s", config.Created, diff)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%v: there are %d layers", err, len(layers))
	}
	layer, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	got := untar(t, readAll(t, layer))
	root := []entry{{"manager", 0o755, []byte("one")}, {"script-runner", 0o755, []byte("two")}}
	if diff := cmp.Diff(root, got, cmp.AllowUnexported(entry{})); diff != "" {
		t.Errorf("the root of the image (-want +got):\n%s", diff)
	}
}

func checkSBOM(t *testing.T, artifact v1.Image, subject v1.Descriptor) {
	t.Helper()
	manifest, err := artifact.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if manifest.Subject == nil || manifest.Subject.Digest != subject.Digest || manifest.ArtifactType != "application/spdx+json" || len(manifest.Layers) != 1 {
		t.Fatalf("the SBOM of %s is %+v", subject.Digest, manifest)
	}
	layers, err := artifact.Layers()
	if err != nil {
		t.Fatal(err)
	}
	content, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := spdxjson.Read(content)
	if err != nil {
		t.Fatal(err)
	}
	var packages []string
	for _, p := range doc.Packages {
		checksum := ""
		if len(p.PackageChecksums) > 0 {
			checksum = " " + p.PackageChecksums[0].Value
		}
		packages = append(packages, p.PackageName+" "+p.PackageVersion+checksum)
	}
	want := []string{
		"manager v0.1.0 " + sum([]byte("one")), "script-runner v0.1.0 " + sum([]byte("two")),
		"example.com/a v1.2.3+incompatible 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
		"example.com/c v0.2.0", "stdlib 1.26.8",
	}
	if diff := cmp.Diff(want, packages); diff != "" {
		t.Errorf("the packages (-want +got):\n%s", diff)
	}
	if doc.CreationInfo.Created != "2026-11-01T12:00:00Z" || len(doc.Relationships) != 2*(1+3) {
		t.Errorf("created %s, with %d relationships", doc.CreationInfo.Created, len(doc.Relationships))
	}
}

// The archive that docker load reads holds the very image of the layout.
func TestArchive(t *testing.T) {
	t.Parallel()
	image := testImages(t).platforms[testTargets[1]].image
	path := filepath.Join(t.TempDir(), "new", "image.tar")
	if err := writeArchive(path, "example.com/a:1", image); err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag("example.com/a:1")
	if err != nil {
		t.Fatal(err)
	}
	read, err := tarball.ImageFromPath(path, &tag)
	if err != nil {
		t.Fatal(err)
	}
	want, err := image.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read.ConfigName(); err != nil || got != want {
		t.Errorf("%v: the archive holds image %s, want %s", err, got, want)
	}
}

// A directory of something else is never removed.
func TestLayoutReplacesOnlyLayouts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "precious")
	if err := os.WriteFile(file, []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := writeLayout(dir, "a:1", testImages(t))
	if err == nil || !strings.Contains(err.Error(), "choose another directory") {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestParseTargets(t *testing.T) {
	t.Parallel()
	got, err := parseTargets("linux/amd64,linux/arm64,linux/amd64")
	if err != nil || !slices.Equal(got, testTargets) {
		t.Errorf("%v: the targets are %v", err, got)
	}
	for _, list := range []string{"", "linux", "linux/", "/amd64", "linux/arm/v7", "linux/amd64,"} {
		if got, err := parseTargets(list); err == nil || !strings.Contains(err.Error(), "write OS/ARCH") {
			t.Errorf("%q gives %v, %v", list, got, err)
		}
	}
}

// What the SBOM says in JSON has the names of the standard, whatever the library's types are called.
func TestSBOMAsJSON(t *testing.T) {
	t.Parallel()
	text, err := writeSBOM("title", "v0.1.0", testSource.created, testPrograms())
	if err != nil {
		t.Fatal(err)
	}
	again, err := writeSBOM("title", "v0.1.0", testSource.created, testPrograms())
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("%v: a second SBOM differs", err)
	}
	var doc struct {
		SPDXVersion, SPDXID, DataLicense, Name, DocumentNamespace string
		Packages                                                  []struct {
			Name, SPDXID string
			ExternalRefs []struct{ ReferenceCategory, ReferenceType, ReferenceLocator string }
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.SPDXVersion != "SPDX-2.3" || doc.SPDXID != "SPDXRef-DOCUMENT" || doc.DataLicense != "CC0-1.0" || doc.Name != "title" || !strings.HasPrefix(doc.DocumentNamespace, sourceURL) {
		t.Errorf("the document is %+v", doc)
	}
	refs := doc.Packages[2].ExternalRefs
	if len(refs) != 1 || refs[0].ReferenceCategory != "PACKAGE-MANAGER" || refs[0].ReferenceType != "purl" || refs[0].ReferenceLocator != "pkg:golang/example.com/a@v1.2.3%2Bincompatible" {
		t.Errorf("%s is found by %+v", doc.Packages[2].Name, refs)
	}
}
