// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// action is what a composite Action of GitHub may have, as far as ours do.
type action struct {
	Name, Description string
	Inputs            map[string]struct{ Description, Default string }
	Runs              struct {
		Using string
		Steps []actionStep
	}
}

type actionStep struct {
	Uses, Shell, Run string
	With             map[string]any
	Env              map[string]string
	WorkingDirectory string `json:"working-directory"`
}

// TestLintAction does what GitHub does with the Action: it builds the plugin, and lints a directory.
func TestLintAction(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, ".github", "actions", "lint")
	text, err := os.ReadFile(filepath.Join(path, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var lint action
	strict(t, string(text), &lint)
	if lint.Runs.Using != "composite" || lint.Name == "" || lint.Description == "" {
		t.Errorf("it is no composite Action: %+v", lint)
	}
	const cleaner = "apiVersion: apps.projectsveltos.io/v1alpha1\nkind: Cleaner\nmetadata: {name: a}\n" +
		"spec: {schedule: 0 3 * * *, action: Scan, resourcePolicySet: {resourceSelectors: [{group: '', version: v1, kind: KIND}]}}\n"
	repository, temporary := t.TempDir(), t.TempDir()
	for kind, want := range map[string]string{"Pod": "1 Cleaner in 1 file: no problems", "Pods": `did you mean "Pod"?`} {
		directory := filepath.Join(repository, "of "+kind+" $(false)")
		if err := os.Mkdir(directory, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(directory, "c.yaml"), []byte(strings.Replace(cleaner, "KIND", kind, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		expand := strings.NewReplacer("${{ github.action_path }}", path, "${{ inputs.directory }}", directory,
			"${{ inputs.flags }}", lint.Inputs["flags"].Default).Replace
		output, failed := "", false
		for _, step := range lint.Runs.Steps {
			if step.Uses != "" { // it installs Go, which is here
				if file, _ := step.With["go-version-file"].(string); filepath.Clean(expand(file)) != filepath.Join(root, "go.mod") {
					t.Errorf("%s takes the version of Go from %q", step.Uses, file)
				}
				continue
			}
			if strings.Contains(step.Run, "${{") || step.Shell != "bash" {
				t.Errorf("the step is no plain script for bash: %+v", step)
			}
			bash := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", step.Run)
			bash.Dir = repository
			if step.WorkingDirectory != "" {
				bash.Dir = expand(step.WorkingDirectory)
			}
			bash.Env = append(os.Environ(), "RUNNER_TEMP="+temporary, "GITHUB_PATH="+filepath.Join(temporary, "path"))
			for name, value := range step.Env {
				bash.Env = append(bash.Env, name+"="+expand(value))
			}
			text, err := bash.CombinedOutput()
			output, failed = output+string(text), failed || err != nil
		}
		if failed != (kind == "Pods") || !strings.Contains(output, want) {
			t.Errorf("failed is %v, and %q is to be in:\n%s", failed, want, output)
		}
	}
	added, err := os.ReadFile(filepath.Join(temporary, "path"))
	if err != nil || !strings.HasPrefix(string(added), filepath.Join(temporary, "kubecleaner")+"\n") {
		t.Errorf("later steps find no plugin: %q, %v", added, err)
	}
}
