// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// workflow is what a workflow of GitHub may have, as far as ours do.
type workflow struct {
	Name        string            `json:"name"`
	On          any               `json:"true"` // YAML takes the word on for true
	Permissions map[string]string `json:"permissions"`
	Concurrency map[string]any    `json:"concurrency"`
	Jobs        map[string]struct {
		If             string            `json:"if"`
		RunsOn         string            `json:"runs-on"`
		TimeoutMinutes int               `json:"timeout-minutes"`
		Env            map[string]string `json:"env"`
		Steps          []struct {
			Uses string            `json:"uses"`
			With map[string]any    `json:"with"`
			Run  string            `json:"run"`
			Env  map[string]string `json:"env"`
		} `json:"steps"`
	} `json:"jobs"`
}

// files reads those that a pattern below the root names, at least n.
func files(t *testing.T, n int, pattern string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(paths) < n {
		t.Fatalf("%s: %d files: %v", pattern, len(paths), err)
	}
	texts := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(path)] = string(text)
	}
	return texts
}

// targetsOf are the targets of make that a script calls.
func targetsOf(script string) (targets []string) {
	for _, command := range regexp.MustCompile(`[\n;|&]+`).Split(script, -1) {
		words := strings.Fields(command)
		if len(words) == 0 || words[0] != "make" {
			continue
		}
		for _, word := range words[1:] {
			if word[0] == '#' {
				break
			}
			if !strings.ContainsAny(word, "-=") || regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`).MatchString(word) {
				targets = append(targets, word)
			}
		}
	}
	return targets
}

// madeBy returns the targets that a script makes. It fails for one that does not exist.
func madeBy(t *testing.T, name, script string) (targets []string) {
	t.Helper()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	targets = targetsOf(script)
	for _, target := range targets {
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(target) + `:`).Match(makefile) {
			t.Errorf("%s calls make %s, which is no target of the Makefile", name, target)
		}
	}
	return targets
}

// TestWorkflows: GitHub can read them, each of their jobs ends, and each target of make exists.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	called := map[string][]string{}
	for name, text := range files(t, 4, ".github/workflows/*.yaml") {
		var w workflow
		strict(t, text, &w)
		if w.Name == "" || w.On == nil || w.Permissions["contents"] == "" || len(w.Jobs) == 0 {
			t.Errorf("%s is no whole workflow: %+v", name, w)
		}
		for id, job := range w.Jobs {
			if job.RunsOn == "" || job.TimeoutMinutes == 0 || len(job.Steps) == 0 {
				t.Errorf("%s: the job %s lacks its machine, its timeout or its steps", name, id)
			}
			for i, step := range job.Steps {
				if (step.Uses == "") == (step.Run == "") {
					t.Errorf("%s: step %d of %s neither uses nor runs something", name, i, id)
				}
				called[name] = append(called[name], madeBy(t, name, step.Run)...)
			}
			if name == "release.yaml" && job.If != "github.repository == 'kubecleaner/kubecleaner'" {
				t.Errorf("a tag in a fork would start the release: if is %q", job.If)
			}
		}
	}
	for name, wants := range map[string][]string{
		"test.yaml": {"lint", "verify", "test", "unit", "chart-test"}, "release.yaml": {"verify", "release"}, "nightly.yaml": {"nightly"}, "e2e.yaml": {"e2e"},
	} {
		for _, want := range wants {
			if !slices.Contains(called[name], want) {
				t.Errorf("%s calls make for %v, and not for %s", name, called[name], want)
			}
		}
	}
}

func TestTargetsOf(t *testing.T) {
	t.Parallel()
	got := targetsOf("make verify unit\nsudo make no && make web-e2e -s V=1 # for all\nmake release VERSION=\"$VERSION\"\nmakeshift a\n")
	if want := []string{"verify", "unit", "web-e2e", "release"}; !slices.Equal(got, want) {
		t.Errorf("the targets are %v, want %v", got, want)
	}
}

// form is an issue form of GitHub, as far as ours go.
type form struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Labels      []string `json:"labels"`
	Body        []struct {
		Type       string `json:"type"`
		ID         string `json:"id"`
		Attributes struct {
			Label       string `json:"label"`
			Description string `json:"description"`
			Placeholder string `json:"placeholder"`
			Render      string `json:"render"`
		} `json:"attributes"`
		Validations struct {
			Required bool `json:"required"`
		} `json:"validations"`
	} `json:"body"`
}

// TestIssueForms: GitHub shows only forms that it can read.
func TestIssueForms(t *testing.T) {
	t.Parallel()
	for name, text := range files(t, 4, ".github/ISSUE_TEMPLATE/*.yml") {
		if name == "config.yml" {
			var config struct {
				Blank bool                                `json:"blank_issues_enabled"`
				Links []struct{ Name, URL, About string } `json:"contact_links"`
			}
			strict(t, text, &config)
			if len(config.Links) != 1 || config.Links[0].About == "" || !strings.HasPrefix(config.Links[0].URL, "https://") {
				t.Errorf("the links are %+v", config.Links)
			}
			continue
		}
		var f form
		strict(t, text, &f)
		if f.Name == "" || f.Description == "" || len(f.Labels) == 0 || len(f.Body) == 0 {
			t.Errorf("%s is no whole form: %+v", name, f)
		}
		ids := map[string]bool{}
		for _, field := range f.Body {
			if !slices.Contains([]string{"textarea", "input"}, field.Type) || field.ID == "" || ids[field.ID] || field.Attributes.Label == "" {
				t.Errorf("%s: GitHub would refuse the field %+v", name, field)
			}
			if field.Type == "input" && field.Attributes.Render != "" {
				t.Errorf("%s: the field %s cannot have render, which is for a textarea", name, field.ID)
			}
			ids[field.ID] = true
		}
	}
}

// TestDevcontainer: it has the Go of go.mod, and what it runs exists.
func TestDevcontainer(t *testing.T) {
	t.Parallel()
	var container struct {
		Image             string
		Features          map[string]struct{ Version string }
		PostCreateCommand string
	}
	for _, text := range files(t, 1, ".devcontainer/devcontainer.json") {
		if err := json.Unmarshal([]byte(text), &container); err != nil {
			t.Fatal(err)
		}
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(files(t, 1, "go.mod")["go.mod"])
	if version == nil || !strings.Contains(container.Image, "/go:"+version[1]+"-") {
		t.Errorf("the image is %s, and go.mod needs Go %v", container.Image, version)
	}
	if len(container.Features) != 1 || !slices.Contains(madeBy(t, "devcontainer.json", container.PostCreateCommand), "tools") {
		t.Errorf("it has the features %v, and runs %s", container.Features, container.PostCreateCommand)
	}
}

// TestToolchain: what is released is built with one version of Go, which a patch release of Go raises. Without the line, workflows would
// build it with the first release of the minor version.
func TestToolchain(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`(?m)^toolchain go1\.\d+\.\d+$`)
	operator, release := files(t, 1, "go.mod")["go.mod"], files(t, 1, "hack/release/go.mod")["go.mod"]
	if want := line.FindString(operator); want == "" || line.FindString(release) != want {
		t.Errorf("go.mod has the line %q, and hack/release/go.mod %q", want, line.FindString(release))
	}
}
