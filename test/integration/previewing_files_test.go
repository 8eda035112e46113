// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

// tryFiles gives kubectl cleaner test the objects of the scene as files: those that the preview says match in matching.yaml, and the others in
// non-matching.yaml. It reports whether it did: what could not be judged belongs in neither.
func (s *scene) tryFiles(c *v1alpha1.Cleaner, said said) bool {
	s.t.Helper()
	if said.Incomplete != "" {
		return false
	}
	matches := map[types.UID]bool{}
	for _, o := range said.Objects {
		if o.Outcome == v1alpha1.OutcomeNotEvaluated {
			return false
		}
		matches[o.UID] = true
	}
	dir := s.t.TempDir()
	var matching, others, all []client.Object
	for _, listed := range s.listed() {
		o := &listed
		if all = append(all, o); matches[o.GetUID()] {
			matching = append(matching, o)
		} else {
			others = append(others, o)
		}
	}
	cleaner := c.DeepCopy()
	cleaner.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Cleaner"))
	s.writeFile(dir, "cleaner.yaml", cleaner)
	s.writeFile(dir, "matching.yaml", matching...)
	s.writeFile(dir, "non-matching.yaml", others...)
	s.writeFile(dir, "resources.yaml", all...)
	var out, errOut bytes.Buffer
	options := terminal.Options{Scripts: sandbox.Config{Command: child}, Now: s.clock.Now, Getenv: func(string) string { return "" }}
	args := []string{"test", dir, "--now", s.clock.Now().UTC().Format(time.RFC3339)}
	if code := cli.Execute(s.t.Context(), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, options, args); code != 0 {
		s.t.Errorf("test exited with %d of what the preview says matches:\n%s%s", code, out.String(), errOut.String())
	}
	return true
}

// writeFile writes objects into a file. Test refuses an empty one: without objects there is none.
func (s *scene) writeFile(dir, name string, objects ...client.Object) {
	s.t.Helper()
	if len(objects) == 0 {
		return
	}
	var documents []string
	for _, o := range objects {
		text, err := yaml.Marshal(o)
		must(s.t, err)
		documents = append(documents, string(text))
	}
	must(s.t, os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(documents, "---\n")), 0o600))
}
