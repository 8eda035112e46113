// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs checks what the documentation shows.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func strict(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Errorf("%v:\n%s", err, text)
	}
}

// The page on copies shows a Cleaner, patches of the operator's Deployment, and the Secret of a bucket.
func TestCopies(t *testing.T) {
	var texts []string
	for _, b := range blocksOf(t, "yaml") {
		if b.page == "docs/how-to/copies.md" {
			texts = append(texts, b.text)
		}
	}
	if len(texts) != 3 {
		t.Fatalf("there are %d blocks, want 3", len(texts))
	}
	var cleaner v1alpha1.Cleaner
	strict(t, texts[0], &cleaner)
	if cleaner.CopyStorage() != v1alpha1.StorageVolume || cleaner.CopyRetention().Hours() != 30*24 || cleaner.MaxCopyBytes() != 128<<20 {
		t.Errorf("the Cleaner asks for %+v", cleaner.Spec.Rollback)
	}
	var overlay struct {
		Patches []struct {
			Target map[string]string `json:"target"`
			Patch  string            `json:"patch"`
		} `json:"patches"`
	}
	strict(t, texts[1], &overlay)
	if len(overlay.Patches) != 2 {
		t.Fatalf("the overlay has the patches %v", overlay.Patches)
	}
	strict(t, overlay.Patches[0].Patch, &appsv1.Deployment{})
	var flags []struct{ Op, Path, Value string }
	strict(t, overlay.Patches[1].Patch, &flags)
	var secret corev1.Secret
	strict(t, texts[2], &secret)
	if len(secret.StringData) != 7 {
		t.Errorf("the Secret holds %v", secret.StringData)
	}
}

// Whoever removes everything, and whoever looks for the chart, is told of every kind.
func TestEveryCRDIsNamed(t *testing.T) {
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no CRDs", err)
	}
	for _, page := range []string{
		"docs/how-to/install.md", "charts/kubecleaner/README.md", "charts/kubecleaner/templates/NOTES.txt", "charts/kubecleaner/Chart.yaml",
	} {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			group, plural, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".yaml"), "_")
			if name := plural + "." + group; !strings.Contains(string(text), name) {
				t.Errorf("%s does not name %s", page, name)
			}
		}
	}
}

// Every test that the documentation names is there.
func TestNamedTests(t *testing.T) {
	defined := map[string]bool{}
	definition := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, match := range definition.FindAllStringSubmatch(string(text), -1) {
			defined[match[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../../docs/*/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]+)").FindAllStringSubmatch(string(text), -1) {
			if !defined[match[1]] {
				t.Errorf("%s names %s, which is not there", page, match[1])
			}
		}
	}
}

// Each attack names the test that shows that it fails.
func TestAttacksNameTheirTests(t *testing.T) {
	text, err := os.ReadFile("../../docs/explanation/threats.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\|(.*)\|$`).FindAllStringSubmatch(string(text), -1)
	if len(rows) < 2+8 {
		t.Fatalf("there are %d rows", len(rows))
	}
	for _, row := range rows[2:] { // after the head
		cells := strings.Split(row[1], " | ")
		if !regexp.MustCompile("^(`(Test|Fuzz)\\w+`(, )?)+$").MatchString(strings.TrimSpace(cells[len(cells)-1])) {
			t.Errorf("no test for the attack: %s", strings.TrimSpace(cells[0]))
		}
		if len(cells) != 5 {
			t.Errorf("%s: %d cells, want 5", strings.TrimSpace(cells[0]), len(cells))
		}
	}
}

// Every file that the documentation names is there, and so is every target of make.
func TestNamedFiles(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	file := regexp.MustCompile("[ `(=\"']((?:charts|cmd|config|controllers|docs|hack|pkg|test|web)/[\\w./-]*[\\w/])")
	target := regexp.MustCompile("(?m)(?:`|^ *(?:\\$ )?)make ([a-z][a-z0-9-]*)")
	for _, page := range pagesOf(t) {
		if page.name == "docs/explanation/comparison.md" {
			continue // it names files of other projects
		}
		for _, match := range file.FindAllStringSubmatch(page.text, -1) {
			if _, err := os.Stat(filepath.Join("../..", match[1])); err != nil {
				t.Errorf("%s names %s, which is not there", page.name, match[1])
			}
		}
		for _, match := range target.FindAllStringSubmatch(page.text, -1) {
			if !regexp.MustCompile(`(?m)^` + match[1] + `:`).Match(makefile) {
				t.Errorf("%s shows make %s, which is no target of the Makefile", page.name, match[1])
			}
		}
	}
}
