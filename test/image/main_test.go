// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// The image of the end-to-end tests is laid out as the Dockerfile says: without the small program beside it, the manager would run scripts
// in another way.
func TestImageHasTheLayoutOfTheDockerfile(t *testing.T) {
	t.Parallel()
	dockerfile, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	l, err := readLayout(string(dockerfile))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.commands, []string{"./cmd/manager", "./cmd/script-runner"}) || l.user != "65532:65532" || !slices.Equal(l.entrypoint, []string{"/manager"}) {
		t.Errorf("the layout is %+v", l)
	}
	packed, err := pack("example.com/a:1", l, "amd64", map[string][]byte{"manager": []byte("one"), "script-runner": []byte("two")})
	if err != nil {
		t.Fatal(err)
	}
	files := untar(t, packed)
	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	if err := json.Unmarshal(files["manifest.json"], &manifest); err != nil || len(manifest) != 1 || len(manifest[0].Layers) != 1 {
		t.Fatalf("%v: the manifest is %s", err, files["manifest.json"])
	}
	var config struct {
		Config struct {
			User       string
			Entrypoint []string
		}
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}
	if err := json.Unmarshal(files[manifest[0].Config], &config); err != nil {
		t.Fatal(err)
	}
	layer := files[manifest[0].Layers[0]]
	if config.RootFS.DiffIDs[0] != "sha256:"+sum(layer) || config.Config.User != l.user || config.Config.Entrypoint[0] != "/manager" || manifest[0].RepoTags[0] != "example.com/a:1" {
		t.Errorf("the image is %+v, %+v", manifest[0], config)
	}
	if root := untar(t, layer); string(root["manager"]) != "one" || string(root["script-runner"]) != "two" {
		t.Errorf("its root is %q", root)
	}
}

// A Dockerfile that ships something else is not packed as if it did not.
func TestOtherDockerfiles(t *testing.T) {
	t.Parallel()
	dockerfile, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		"COPY --from=builder /out/ /": "COPY --from=builder /out/manager /", "ENTRYPOINT [": "CMD [", "USER ": "#",
		"ENTRYPOINT": "COPY --from=other / /\nENTRYPOINT", "-o /out/": "-o /elsewhere/",
	} {
		if _, err := readLayout(strings.Replace(string(dockerfile), from, to, 1)); err == nil {
			t.Errorf("with %s it is read as if nothing had changed", to)
		}
	}
}

func untar(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	r := tar.NewReader(bytes.NewReader(data))
	for {
		header, err := r.Next()
		if err == io.EOF { //nolint:errorlint // it is this very one
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[header.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}
