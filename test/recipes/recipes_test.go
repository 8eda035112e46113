// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package recipes tries every recipe of config/recipes: on its own directory, on objects that lack fields, and on a real API server.
// A new directory is tried without any change here.
package recipes

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/config/recipes"
	"github.com/kubecleaner/kubecleaner/pkg/cli"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/schedule"
	"github.com/kubecleaner/kubecleaner/test/testenv"
)

const root = "../../config/recipes"

var (
	update      = flag.Bool("update", false, "write the generated files anew")
	env         *testenv.Env
	scriptChild []string
)

func TestMain(m *testing.M) {
	flag.Parse()
	command, remove, err := testenv.BuildScriptChild(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scriptChild = command
	code := testenv.Main(m, &env, testenv.Options{CRDs: []string{"../../config/crd/bases", "../findings/crds", "crds"}})
	remove()
	os.Exit(code)
}

// call runs the plugin as a user would.
func call(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr}
	options := terminal.Options{Version: "v1.2.3", Scripts: sandbox.Config{Command: scriptChild}, Now: time.Now, Getenv: func(string) string { return "" }}
	code = cli.Execute(t.Context(), streams, options, args)
	return code, stdout.String(), stderr.String()
}

// recipe is one with its Cleaner decoded.
type recipe struct {
	recipes.Recipe
	Cleaner v1alpha1.Cleaner
	text    string
}

func (r *recipe) path(file string) string { return filepath.Join(root, r.Name, file) }

func all(t *testing.T) []recipe {
	t.Helper()
	read, err := recipes.Read(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.IsDir() && !slices.ContainsFunc(read, func(r recipes.Recipe) bool { return r.Name == entry.Name() }) {
			t.Errorf("%s has no cleaner.yaml", entry.Name())
		}
	}
	found := make([]recipe, len(read))
	for i, r := range read {
		found[i] = recipe{Recipe: r, text: r.Cleaner}
		if err := yaml.UnmarshalStrict([]byte(r.Cleaner), &found[i].Cleaner); err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
	}
	return found
}

var scheduleLine = regexp.MustCompile(`(?m)^  schedule: "([^"]+)" # (.+)$`)

// Every recipe only reports, has limits for when it is armed, and runs when its comment says. k8s-cleaner PR 110: published examples must be right.
func TestForm(t *testing.T) {
	for _, r := range all(t) {
		spec := r.Cleaner.Spec
		if r.Cleaner.Name != r.Name {
			t.Errorf("%s: its Cleaner is named %s", r.Name, r.Cleaner.Name)
		}
		if spec.Action == nil || *spec.Action != v1alpha1.ActionScan {
			t.Errorf("%s: write action: Scan", r.Name)
		}
		if spec.BlastRadiusLimit == nil {
			t.Errorf("%s: it has no blastRadiusLimit", r.Name)
		}
		if spec.Rollback != nil {
			t.Errorf("%s: leave rollback out: copies are kept by default", r.Name)
		}
		if lines := strings.Count(r.Readme, "\n"); lines > 30 || !strings.HasSuffix(r.Readme, "\n") {
			t.Errorf("%s: README.md has %d lines; at most 30", r.Name, lines)
		}
		for i, line := range strings.Split(r.text+r.Readme, "\n") {
			if len(line) > 150 {
				t.Errorf("%s: line %d of cleaner.yaml and README.md has %d characters; at most 150", r.Name, i+1, len(line))
			}
		}
		if summary := r.Summary(); len(summary) > 150 {
			t.Errorf("%s: the first sentence of Finds has %d characters; at most 150, it stands in tables", r.Name, len(summary))
		}
		checkSchedule(t, &r)
	}
}

// checkSchedule compares the comment with what the schedule means. A comment may go on after the words.
func checkSchedule(t *testing.T, r *recipe) {
	zone := ""
	if r.Cleaner.Spec.TimeZone != nil {
		zone = *r.Cleaner.Spec.TimeZone
	}
	parsed, err := schedule.Parse(r.Cleaner.Spec.Schedule, zone)
	if err != nil {
		t.Errorf("%s: %v", r.Name, err)
		return
	}
	line := scheduleLine.FindStringSubmatch(r.text)
	if line == nil || line[1] != r.Cleaner.Spec.Schedule || !strings.HasPrefix(line[2], parsed.String()) {
		t.Errorf("%s: write schedule: %q # %s", r.Name, r.Cleaner.Spec.Schedule, parsed)
	}
}

// Every recipe chooses what its directory says, and lint has nothing to say.
func TestDirectories(t *testing.T) {
	for _, r := range all(t) {
		for _, file := range []string{"matching.yaml", "non-matching.yaml"} {
			if _, err := os.Stat(r.path(file)); err != nil {
				t.Error(err)
			}
		}
		if _, err := os.Stat(r.path("updated.yaml")); (err == nil) != (r.Cleaner.Spec.Transform != "" || r.Cleaner.Spec.MergePatch != nil) {
			t.Errorf("%s: updated.yaml shows what transform or mergePatch makes of matching.yaml: both or none", r.Name)
		}
	}
	if code, out, errOut := call(t, "test", root); code != 0 {
		t.Errorf("exit %d\n%s%s", code, out, errOut)
	}
	args := []string{"lint", "--strict"}
	for _, r := range all(t) {
		args = append(args, "-f", r.path("cleaner.yaml"))
	}
	if code, out, errOut := call(t, args...); code != 0 {
		t.Errorf("exit %d\n%s%s", code, out, errOut)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
