// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/test/transcript"
)

// TestTutorial types what docs/tutorials/first-cleanup.md says, and sees what it shows.
func TestTutorial(t *testing.T) {
	if os.Getenv("HELM") == "" {
		t.Skip("HELM names no helm: make e2e builds one")
	}
	ownCluster(t)
	t.Cleanup(func() { removeChart(t, "tutorial", operator) })
	page, err := os.ReadFile("../../docs/tutorials/first-cleanup.md")
	if err != nil {
		t.Fatal(err)
	}
	r := newReader(t)
	for _, step := range transcript.Parse(string(page)) {
		r.edit(step)
		for _, command := range step.Commands() {
			r.enter(step, command)
		}
	}
	for prose := range edits {
		if !r.done[prose] {
			t.Errorf("the page no longer says %q", prose)
		}
	}
}

// edits are what the page asks its reader to change in cleaner.yaml: what is replaced, and by what; the block that follows if by nothing.
var edits = map[string][2]string{
	"replace the line `action: Scan` with these three lines": {"  action: Scan\n", ""},
	"Now set `maxCount: 5`":                                  {"maxCount: 1", "maxCount: 5"},
}

// shownFile is said of a block that shows all of cleaner.yaml but its comments.
const shownFile = "The file holds"

// reader does what a page tells its reader to do.
type reader struct {
	t     *testing.T
	dir   string // where it types
	env   []string
	names transcript.Names
	done  map[string]bool
	chart string // what it installs instead of the chart of a release
}

func newReader(t *testing.T) *reader {
	t.Helper()
	bin := filepath.Dir(plugin(t)[0])
	for name, program := range map[string]string{"kubectl": os.Getenv("KUBECTL"), "helm": os.Getenv("HELM")} {
		path, err := exec.LookPath(program)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	chart, err := filepath.Abs("../../charts/kubecleaner")
	if err != nil {
		t.Fatal(err)
	}
	return &reader{
		t: t, dir: t.TempDir(), names: transcript.Names{}, done: map[string]bool{},
		env:   append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+t.TempDir()),
		chart: chart + " " + strings.Join(imageValues(t), " "),
	}
}

// edit changes cleaner.yaml as the prose before a block says, or compares it with the block.
func (r *reader) edit(step transcript.Step) {
	path := filepath.Join(r.dir, "cleaner.yaml")
	for prose, change := range edits {
		if !strings.Contains(step.Prose, prose) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), change[0]) {
			r.t.Fatalf("line %d: cleaner.yaml has no %q: %v\n%s", step.Line, change[0], err, text)
		}
		by := change[1]
		if by == "" {
			by = step.Text
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), change[0], by, 1)), 0o600); err != nil {
			r.t.Fatal(err)
		}
		r.done[prose] = true
	}
	if !strings.Contains(step.Prose, shownFile) {
		return
	}
	text, err := os.ReadFile(path)
	var written, shown map[string]any
	if err == nil {
		err = yaml.Unmarshal(text, &written)
	}
	if err == nil {
		err = yaml.Unmarshal([]byte(step.Text), &shown)
	}
	if err != nil || !reflect.DeepEqual(written, shown) {
		r.t.Errorf("line %d: cleaner.yaml is not what the page shows: %v\n%s", step.Line, err, text)
	}
}

// looking are the commands that change nothing. What they show may take a moment to come true.
var looking = regexp.MustCompile(`^kubectl (get|cleaner (scan|why|preview|lint|runs)) `)

// enter types a command and compares what it prints with what the page shows.
func (r *reader) enter(step transcript.Step, command transcript.Command) {
	r.t.Helper()
	deadline := time.Now()
	if looking.MatchString(command.Text) {
		deadline = deadline.Add(30 * time.Second)
	}
	for {
		output, err := r.run(command)
		pairs, missing := transcript.Match(command.Output, output)
		if missing == "" && (err != nil) == strings.Contains(strings.Join(command.Output, "\n"), "error: ") {
			r.names.Learn(pairs)
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("line %d: $ %s\n%s\nit ended with %v; the page shows: %s", step.Line, command.Text, output, err, missing)
		}
		<-time.After(time.Second)
	}
}

// run runs a command as a shell would. What a release brings is here already: the plugin is built, and the chart lies in the checkout.
func (r *reader) run(command transcript.Command) (string, error) {
	text := r.names.Put(command.Text)
	if strings.HasPrefix(text, "go install ") {
		return "", nil
	}
	text = strings.ReplaceAll(text, "oci://ghcr.io/kubecleaner/charts/kubecleaner", r.chart)
	if image := os.Getenv("PAUSE_IMAGE"); image != "" { // a Pod whose image cannot be pulled is found too, after some seconds
		text = strings.ReplaceAll(text, "registry.k8s.io/pause:3.10", image)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", text)
	cmd.Dir, cmd.Env, cmd.Stdin = r.dir, r.env, strings.NewReader(command.Answers)
	output, err := cmd.CombinedOutput()
	return string(output), err
}
