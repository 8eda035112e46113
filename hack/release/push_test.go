// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// checkPublished pushes a release, twice as after a failure half-way, and reads it back.
func checkPublished(t *testing.T, r release, made published) {
	t.Helper()
	for range 2 {
		if err := r.push(t.Context(), made); err != nil {
			t.Fatal(err)
		}
	}
	index := pull(t, r.repository+":v0.1.0")
	got, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if want, err := made.image.index.Digest(); err != nil || got != want {
		t.Errorf("%v: the registry has %s, want %s", err, got, want)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	packed := readFile(t, r.out, "kubecleaner-0.1.0.tgz")
	chart, err := remote.Image(parseRef(t, r.charts+"/kubecleaner:0.1.0"))
	if err != nil {
		t.Fatal(err)
	}
	checkOCIChart(t, chart, packed)
}

func pull(t *testing.T, ref string) v1.ImageIndex {
	t.Helper()
	index, err := remote.Index(parseRef(t, ref))
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func parseRef(t *testing.T, ref string) name.Reference {
	t.Helper()
	parsed, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// The registry answers with the SBOM of a platform when it is asked what refers to the platform's image.
func TestPushedSBOMsReferToImages(t *testing.T) {
	t.Parallel()
	all, ref := testImages(t), newRegistry(t)+"/manager:v0.1.0"
	if err := pushImage(t.Context(), ref, all); err != nil {
		t.Fatal(err)
	}
	for _, platform := range testTargets {
		image, err := all.platforms[platform].image.Digest()
		if err != nil {
			t.Fatal(err)
		}
		referrers, err := remote.Referrers(parseRef(t, ref).Context().Digest(image.String()))
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := referrers.IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range manifest.Manifests {
			got = append(got, m.ArtifactType+" "+m.Digest.String())
		}
		want, err := all.platforms[platform].sbomArtifact.Digest()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"application/spdx+json " + want.String()}, got); diff != "" {
			t.Errorf("what refers to the image for %s (-want +got):\n%s", platform, diff)
		}
	}
}

// People pin tags: a tag that means something never means anything else.
func TestPushReplacesNothing(t *testing.T) {
	t.Parallel()
	all, host := testImages(t), newRegistry(t)
	other := all.platforms[testTargets[0]].sbomArtifact
	if err := pushChart(t.Context(), host+"/manager:v0.1.0", other); err != nil {
		t.Fatal(err)
	}
	err := pushImage(t.Context(), host+"/manager:v0.1.0", all)
	if err == nil || !strings.Contains(err.Error(), "a release is never replaced, choose a new version") {
		t.Errorf("the error is %v", err)
	}
	there, err := remote.Head(parseRef(t, host+"/manager:v0.1.0"))
	if err != nil {
		t.Fatal(err)
	}
	if want, err := other.Digest(); err != nil || there.Digest != want {
		t.Errorf("%v: the tag means %s now", err, there.Digest)
	}
}

// A registry that does not answer, or refuses to, is not one that has no such tag.
func TestPushFailsClosed(t *testing.T) {
	t.Parallel()
	refused := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	t.Cleanup(refused.Close)
	for _, host := range []string{"127.0.0.1:1", strings.TrimPrefix(refused.URL, "http://")} {
		err := pushImage(t.Context(), host+"/manager:v0.1.0", testImages(t))
		if err == nil || !strings.Contains(err.Error(), "looking for "+host+"/manager:v0.1.0") {
			t.Errorf("the error is %v", err)
		}
	}
}

// TestPublic: what a registry shows only to those who log in is no release, and the error says what to do.
func TestPublic(t *testing.T) {
	t.Parallel()
	host := newRegistry(t)
	if err := pushImage(t.Context(), host+"/manager:v0.1.0", testImages(t)); err != nil {
		t.Fatal(err)
	}
	if err := checkPublic(t.Context(), host+"/manager:v0.1.0"); err != nil {
		t.Error(err)
	}
	private := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, _, _ := r.BasicAuth(); user == "" && r.URL.Path != "/v2/" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(private.Close)
	host = strings.TrimPrefix(private.URL, "http://")
	err := checkPublic(t.Context(), host+"/manager:v0.1.0")
	if err == nil || !strings.Contains(err.Error(), "make its package public in the registry, and repeat the release") {
		t.Errorf("the error is %v", err)
	}
}
