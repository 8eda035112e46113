// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// all are the commands that do something.
func all(cmd *cobra.Command) (found []*cobra.Command) {
	for _, sub := range cmd.Commands() {
		if sub.Name() == "help" || sub.Name() == "completion" || !sub.IsAvailableCommand() {
			continue
		}
		if below := all(sub); len(below) > 0 {
			found = append(found, below...)
		} else {
			found = append(found, sub)
		}
	}
	return found
}

// TestCommandsAreAlike: what users know from kubectl, and from one command, holds for every other.
func TestCommandsAreAlike(t *testing.T) {
	streams := genericiooptions.IOStreams{Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}}
	root := command(terminal.New(streams, terminal.Options{Getenv: func(string) string { return "" }}))
	short := map[string]string{
		"output": "o", "filename": "f", "namespace": "n", "selector": "l", "all-namespaces": "A", "kubeconfig": "", "context": "", "as": "",
	}
	for _, cmd := range all(root) {
		if cmd.Example == "" || !strings.HasPrefix(strings.TrimSpace(cmd.Example), terminal.Program) && !strings.Contains(cmd.Example, "| kubectl cleaner") {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for name, letter := range short {
			if flag := cmd.Flags().Lookup(name); flag != nil && flag.Shorthand != letter {
				t.Errorf("%s: --%s is -%s, want -%s, as in kubectl", cmd.CommandPath(), name, flag.Shorthand, letter)
			}
		}
		asksCluster := cmd.Flags().Lookup("kubeconfig") != nil
		for _, name := range []string{"context", "as", "cluster", "user", "server", "token"} {
			if has := cmd.Flags().Lookup(name) != nil; has != asksCluster {
				t.Errorf("%s: --kubeconfig is %v, and --%s is %v", cmd.CommandPath(), asksCluster, name, has)
			}
		}
		takesNone := slices.Contains([]string{"scan"}, cmd.Name()) || cmd.Args != nil && cmd.Args(cmd, []string{"a"}) != nil
		if asksCluster && !takesNone && cmd.ValidArgsFunction == nil {
			t.Errorf("%s does not complete the names that it takes", cmd.CommandPath())
		}
		for _, name := range []string{"context", "operator-namespace"} {
			if _, completes := cmd.GetFlagCompletionFunc(name); asksCluster && cmd.Flags().Lookup(name) != nil && !completes {
				t.Errorf("%s does not complete --%s", cmd.CommandPath(), name)
			}
		}
	}
}

// TestNamesAreCompleted asks as a shell does.
func TestNamesAreCompleted(t *testing.T) {
	s := newSite(t)
	c := s.cleaner(func(c *v1alpha1.Cleaner) {
		ref := &v1alpha1.NotificationRef{Namespace: s.namespace, Name: "slack"}
		c.Spec.Notifications = []v1alpha1.Notification{{Name: "chat", Type: v1alpha1.NotificationSlack, NotificationRef: ref}, {Name: "report", Type: v1alpha1.NotificationCleanerReport}}
	})
	for line, want := range map[string]string{
		"stop --operator-namespace ":       s.namespace + "\n",
		"doctor --operator-namespace ":     s.namespace + "\n",
		"rbac -f ":                         ":0\n", // files
		"rbac ":                            c.Name + "\n",
		"notify test ":                     c.Name + "\n",
		"notify test " + c.Name + " ":      "chat\tSlack\n:4\n",
		"notify test " + c.Name + " chat ": ":4\n",
		"doctor ":                          ":4\n",
		"runs x --kind ":                   "ConfigMap\n",
		"runs x --kind Pod,":               "Pod,ConfigMap\n",
		"preview --only ":                  "ConfigMap/\n",
		"preview --only ConfigMap/":        "ConfigMap/" + s.namespace + "/\n",
		"scan --exclude a,":                "a," + s.namespace + "\n",
		"preview --protected-namespaces ":  s.namespace + "\n",
		"scan --cluster ":                  ":4\n",
	} {
		words := strings.Split(line, " ")
		args := append([]string{"__complete", words[0], "--kubeconfig", s.kubeconfig}, words[1:]...)
		if words[0] == "notify" {
			args = append([]string{"__complete", "notify", "test", "--kubeconfig", s.kubeconfig}, words[2:]...)
		}
		if got := call(t.Context(), t, "", nil, args...).out; !strings.Contains(got, want) {
			t.Errorf("%q is completed to %q, want %q", line, got, want)
		}
	}
	if got := call(t.Context(), t, "", nil, "__complete", "runs", "--kubeconfig", s.kubeconfig, "--context", "").out; !strings.Contains(got, ":4\n") || len(strings.Fields(got)) < 2 {
		t.Errorf("--context is completed to %q", got)
	}
}
