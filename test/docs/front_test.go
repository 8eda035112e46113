// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLengthOfREADME: people read a short one.
func TestLengthOfREADME(t *testing.T) {
	t.Parallel()
	if n := len(strings.Fields(files(t, 1, "README.md")["README.md"])); n > 900 {
		t.Errorf("README.md has %d words, and may have 900: move something to a page of docs", n)
	}
}

// own is the version of KubeCleaner in what people copy from a page.
var own = regexp.MustCompile(`(?:kubectl-cleaner[@_]v|charts/kubecleaner --version |releases/download/v|\?ref=v|--branch v|rev: v|actions/lint@v|` +
	`KubeCleaner v|make image VERSION=v|kubecleaner/manager:v)(\d+\.\d+\.\d+(?:-[0-9A-Za-z]+(?:\.[0-9A-Za-z]+)*)?)`)

// TestVersions: all pages name the version that config runs. With an older one, a command would put the older operator back.
func TestVersions(t *testing.T) {
	t.Parallel()
	version := own.FindStringSubmatch(files(t, 1, "config/manager/manager.yaml")["manager.yaml"])
	if version == nil {
		t.Fatal("config/manager/manager.yaml names no image with a version")
	}
	pages := pagesOf(t)
	for _, name := range []string{"SECURITY.md", "config/dashboard/dashboard.yaml"} {
		pages = append(pages, source{name, files(t, 1, name)[filepath.Base(name)]})
	}
	named := 0
	for _, page := range pages {
		if page.name == "CONTRIBUTING.md" || page.name == "docs/explanation/comparison.md" {
			continue // one shows versions as examples, the other says which were compared
		}
		for _, match := range own.FindAllStringSubmatch(page.text, -1) {
			named++
			if match[1] != version[1] {
				t.Errorf("%s has %q, and config/manager runs v%s: make set-version VERSION=v%s", page.name, match[0], version[1], version[1])
			}
		}
	}
	if named < 20 {
		t.Errorf("only %d versions were found", named)
	}
}

// TestCheckSite: a page of the docs site may link to another host, and may load nothing from it.
func TestCheckSite(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		`<a href="https://example.com">x</a><script src="/app.js"></script><img src="data:image/png;base64,x"> <code>&lt;img src="https://a"&gt;</code>`: true,
		`<script type="module" src="https://example.com/a.js"></script>`:                                                                                 false,
		`<link rel="preload" href="//example.com/font.woff2">`:                                                                                           false,
		"<img alt=\"x\"\n src='http://example.com/a.png'>":                                                                                               false,
		`<style>@font-face { src: url(https://example.com/a.woff2) }</style>`:                                                                            false,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), filepath.Join(root, "hack", "check-site.sh"), dir).CombinedOutput()
		if (err == nil) != ok || !ok && !strings.Contains(string(out), "the site loads from another host") {
			t.Errorf("%v, and it says %q, about %s", err, out, text)
		}
	}
	if err := exec.CommandContext(t.Context(), filepath.Join(root, "hack", "check-site.sh"), t.TempDir()).Run(); err == nil {
		t.Error("a directory without a site is accepted")
	}
}
