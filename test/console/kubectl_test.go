// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/util/cert"

	"github.com/kubecleaner/kubecleaner/test/transcript"
)

// dryKubectl is a kubectl that changes nothing. The plugin has tests of its own.
const dryKubectl = `#!/usr/bin/env bash
dry=--dry-run=client
for word in "$@"; do [[ $word != --server-side ]] || dry=--dry-run=server; done
[[ " $* " != *" create token "* ]] || exec KUBECTL "$@" # it changes nothing, and takes no --dry-run
for word in "$@"; do
  case $word in
  cleaner) cat >/dev/null; exit ;;
  annotate | apply | create | delete | patch | scale) exec KUBECTL "$@" "$dry" ;;
  get | describe | logs | wait | rollout | kustomize | auth | api-resources | config) break ;;
  esac
done
exec KUBECTL "$@"
`

// missing is what kubectl says when it understood a command, but the cluster of the test lacks what the command is about.
var missing = regexp.MustCompile(`NotFound|not found|No resources found|no matches for kind "(ServiceMonitor|PodMonitor|PrometheusRule)"|` +
	`doesn't have a resource type "servicemonitor"|ensure CRDs are installed first|^Warning: |^\s*$`)

// elsewhere are commands that other tests run, or that need krew.
var elsewhere = regexp.MustCompile(`^kubectl (cleaner|krew) `)

// published is a file of a release, or a directory of the repository as kustomize reads it. The reader of the test has both.
var published = regexp.MustCompile(`https://github\.com/kubecleaner/kubecleaner(/releases/download/[^/]+/|//)([\w/.-]+)(\?ref=[\w.-]+)?`)

// madeOf says what the files of a release that pages apply are made of.
var madeOf = map[string]string{"install.yaml": "config/default", "dashboard.yaml": "config/dashboard", "crds.yaml": "config/crd"}

// TestKubectl runs the kubectl commands that the pages show, as a dry run: the flags, kinds, fields and files that they name are there.
func TestKubectl(t *testing.T) {
	t.Parallel()
	dir, ran := typist(t), 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range transcript.Parse(strings.ReplaceAll(string(text), "\\\n", "")) {
			for _, command := range step.Commands() {
				if !strings.HasPrefix(command.Text, "kubectl ") || elsewhere.MatchString(command.Text) {
					continue
				}
				ran++
				for line := range strings.Lines(enter(t, dir, command.Text)) {
					if !missing.MatchString(line) {
						t.Errorf("%s: $ %s\n%s", page, command.Text, line)
					}
				}
			}
		}
	}
	if ran < 50 {
		t.Errorf("only %d commands were found", ran)
	}
}

// pages are those that show commands, but the tutorial, which the end-to-end tests follow.
func pages(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"README.md", "docs/how-to/*.md", "docs/reference/*.md", "docs/explanation/*.md", "charts/kubecleaner/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d pages: %v", pattern, len(found), err)
		}
		for _, file := range found {
			names = append(names, strings.TrimPrefix(file, root+"/"))
		}
	}
	return names
}

// typist is a directory with what the pages take for granted.
func typist(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	config, err := filepath.Abs(filepath.Join(root, "config"))
	if err == nil {
		err = os.Symlink(config, filepath.Join(dir, "config"))
	}
	if err != nil {
		t.Fatal(err)
	}
	cleaner, err := os.ReadFile(filepath.Join(root, "config/samples/scan_unused_configmaps.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey("localhost", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	kubectl := strings.ReplaceAll(dryKubectl, "KUBECTL", filepath.Join(env.Assets, "kubectl"))
	files := map[string]string{
		"kubectl": kubectl, "cleaner.yaml": string(cleaner), "imported.yaml": string(cleaner), "armed.yaml": string(cleaner), "unused.yaml": string(cleaner), "tls.crt": string(certificate), "tls.key": string(key),
		"kustomization.yaml": kustomization(t),
	}
	for name, from := range madeOf {
		made, err := exec.Command(filepath.Join(env.Assets, "kubectl"), "kustomize", filepath.Join(root, from)).Output()
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(made)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// kustomization is the one that the page on installing shows.
func kustomization(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs/how-to/install.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range transcript.Parse(string(page)) {
		if strings.Contains(step.Text, "kind: Kustomization\n") {
			return published.ReplaceAllString(step.Text, "$2")
		}
	}
	t.Fatal("the page shows no Kustomization")
	return ""
}

// placeholders are words of the pages for which a reader writes a name.
var placeholders = strings.NewReplacer("NAME", "a", "RUN", "a-1795230000", "DEPLOYMENT", "a", "CLEANER", "a")

// enter runs a command in a shell and returns what it says on the standard error.
func enter(t *testing.T, dir, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var errOut strings.Builder
	cmd := exec.CommandContext(ctx, "bash", "-c", placeholders.Replace(published.ReplaceAllString(command, "$2")))
	cmd.Dir, cmd.Stderr = dir, &errOut
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir, "KUBECONFIG="+env.Kubeconfig)
	_ = cmd.Run() // grep may find nothing
	return errOut.String()
}
