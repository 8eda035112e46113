// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/cmd"

	"github.com/kubecleaner/kubecleaner/test/transcript"
)

// TestPages runs each helm command that a page shows, on the chart of the checkout.
func TestPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*/*.md")
	must(t, err)
	pages = append(pages, "../../README.md", chartDir+"/README.md")
	ran := map[string]bool{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		must(t, err)
		for _, step := range transcript.Parse(strings.ReplaceAll(string(text), "\\\n", "")) {
			for _, command := range step.Commands() {
				words := strings.Fields(command.Text)
				if words[0] != "helm" {
					continue
				}
				ran[words[1]] = true
				t.Run(strings.TrimPrefix(page, "../../")+": "+command.Text, func(t *testing.T) { typed(t, words[1:]) })
			}
		}
	}
	for _, verb := range []string{"install", "upgrade", "rollback", "uninstall"} {
		if !ran[verb] {
			t.Errorf("no page shows helm %s", verb)
		}
	}
}

// typed runs one command of Helm's, where what it takes for granted is there: the release, and for a rollback its second revision.
func typed(t *testing.T, words []string) {
	t.Helper()
	cluster(t)
	if words[1] == "RELEASE" { // of k8s-cleaner
		words[1] = "k8s-cleaner"
	}
	release, installed := words[1], chartDir
	if release == "k8s-cleaner" {
		installed = k8sCleaner(t, "templates/crds.yaml")
	}
	if words[0] != "install" {
		must(t, helm4{}.install(release, installed, nil, false))
	}
	if words[0] == "rollback" {
		must(t, helm4{}.upgrade(release, chartDir, nil, false))
	}
	if at := slices.Index(words, "--version"); at > 0 { // of a release, which the directory is not
		words = slices.Delete(words, at, at+2)
	}
	for i, word := range words {
		switch {
		case strings.HasPrefix(word, "oci://"):
			words[i] = chartDir
		case word == "REVISION": // that was installed first
			words[i] = "1"
		}
	}
	var out strings.Builder
	args := append(words, "--kubeconfig", env.Kubeconfig)
	root, err := cmd.NewRootCmd(&out, args, func(bool) {})
	must(t, err)
	root.SetArgs(args)
	root.SetErr(&out)
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
}
