// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// everyday are what users of kubectl expect of a command, in the order of the columns of testdata/everyday-flags.txt.
var everyday = []string{"-n", "-A", "-l", "-o", "--context", "--as", "--progress", "names"}

// offers reports whether a command has one of them.
func offers(cmd *cobra.Command, what string) bool {
	switch {
	case what == "names":
		return cmd.ValidArgsFunction != nil && (cmd.Args == nil || cmd.Args(cmd, []string{"a"}) == nil)
	case strings.HasPrefix(what, "--"):
		return cmd.Flags().Lookup(what[2:]) != nil
	}
	return cmd.Flags().ShorthandLookup(what[1:]) != nil
}

// TestEverydayFlags: each command has each of the flags that users know from kubectl, or testdata/everyday-flags.txt says
// why not.
func TestEverydayFlags(t *testing.T) {
	text, err := os.ReadFile("testdata/everyday-flags.txt")
	must(t, err)
	lacks := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		head, reason, ok := strings.Cut(line, ": ")
		words := strings.Split(head, ", ")
		if !ok || len(words) < 2 || len(reason) > 100 {
			t.Fatalf("%q is not COMMAND, FLAG, FLAG: REASON", line)
		}
		for _, flag := range words[1:] {
			if lacks[words[0]+" "+flag] != "" {
				t.Errorf("%s %s stands there twice", words[0], flag)
			}
			lacks[words[0]+" "+flag] = reason
		}
	}
	streams := genericiooptions.IOStreams{Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}}
	root := command(terminal.New(streams, terminal.Options{Getenv: func(string) string { return "" }}))
	for _, cmd := range all(root) {
		name := strings.TrimPrefix(cmd.CommandPath(), terminal.Program+" ")
		for _, flag := range everyday {
			key := name + " " + flag
			switch has, reason := offers(cmd, flag), lacks[key]; {
			case has && reason != "":
				t.Errorf("%s has %s, and everyday-flags.txt says why it has not: %s", name, flag, reason)
			case !has && reason == "":
				t.Errorf("%s lacks %s, and everyday-flags.txt does not say why", name, flag)
			}
			delete(lacks, key)
		}
	}
	for key := range lacks {
		t.Errorf("everyday-flags.txt has a line of %s, which does not exist", key)
	}
}

// TestNoFlagWithoutEffect: a flag that would do nothing is refused, with what it is for.
func TestNoFlagWithoutEffect(t *testing.T) {
	for line, says := range map[string]string{
		"run tidy --timeout 1m":                          "--timeout needs --wait: add --wait",
		"run tidy --progress plain":                      "--progress needs --wait: add --wait",
		"run tidy -o json":                               "--output needs --wait: add --wait",
		"runs --limit 3":                                 "are for one run: write its name, or that of its Cleaner",
		"runs -n shop":                                   "are for one run: write its name, or that of its Cleaner",
		"completion csh":                                 "has no script for \"csh\"; there are bash, zsh, fish and powershell",
		"runs tidy --diff -o wide":                       "--diff prints a table, json or yaml; leave -o wide out",
		"runs tidy -l team=a":                            "--selector chooses Cleaners; leave it out, or the name",
		"runs tidy --waiting --outcome Failed":           "--waiting lists runs; leave it out, or the flags that are for one run",
		"preview tidy -l team=a":                         "takes labels (-l SELECTOR), names or files, and only one of these",
		"preview -f a.yaml -l team=a":                    "takes labels (-l SELECTOR), names or files, and only one of these",
		"preview tidy --complete":                        "--complete needs --from: add --from, or remove --complete",
		"preview -f a.yaml --from b.yaml --dry-run-all":  "--from does not use a cluster: remove --dry-run-all",
		"preview -f a.yaml --from b.yaml --context prod": "--from does not use a cluster: remove --context",
		"preview -l team=a --from b.yaml":                "needs -f FILE with --from: without a cluster there are no Cleaners",
		"preview --selector=":                            "needs the name of a Cleaner, labels of Cleaners (-l SELECTOR), or a file (-f FILE)",
		"scan --selector=":                               "--selector is empty; give labels, or leave it out",
		"scan --limit -1":                                "--limit must not be negative",
		"scan --complete":                                "--complete needs --from: add --from, or remove --complete",
		"doctor -l a==b==c":                              `--selector "a==b==c" cannot be read`,
		"suspend":                                        "needs the name of a Cleaner, or labels of Cleaners (-l SELECTOR)",
		"suspend tidy -l team=a":                         "takes names or labels (-l SELECTOR), not both",
		"resume tidy -l team=a":                          "takes names or labels (-l SELECTOR), not both",
		"resume -l team=a --operator-namespace x":        "-n, --operator-namespace can be used only for a resume without a name",
		"scan -n shop -A":                                "takes -n or -A, not both: -n names a namespace, and -A means all of them",
		"preview tidy -n shop -A":                        "takes -n or -A, not both",
		"runs tidy --namespace shop --all-namespaces":    "takes -n or -A, not both",
		"init unused -n shop -A":                         "takes -n or -A, not both",
		"init unused --namespace-selector a=b -A":        "--all-namespaces and --namespace-selector exclude each other",
		"init --list -A":                                 "can be used only with the name of a recipe, not with --list",
		"dashboard -n shop -A":                           "takes -n or -A, not both",
		"rbac tidy -n shop":                              "takes no -n: Cleaners belong to no namespace",
		"rbac tidy --namespace=shop":                     "takes no --namespace: Cleaners belong to no namespace",
		"run tidy -A":                                    "takes no -A: Cleaners belong to no namespace",
		"cancel tidy -n shop":                            "takes no -n: Cleaners belong to no namespace",
		"approve tidy -n shop":                           "takes no -n: Cleaners belong to no namespace",
		"reject tidy -n shop":                            "takes no -n: Cleaners belong to no namespace",
		"notify test tidy -n shop":                       "takes no -n: Cleaners belong to no namespace",
		"-n shop suspend tidy":                           "takes no -n: Cleaners belong to no namespace",
		"doctor -A":                                      "takes no -A: Cleaners belong to no namespace",
		"doctor --namespace x":                           "takes no --namespace: -n is --operator-namespace",
		"stop -A":                                        "takes no -A: it stops everything",
		"why ConfigMap/a --all-namespaces":               "takes no --all-namespaces: it is about one object",
		"restore x -n shop":                              "takes no -n: --only, or KIND/NAMESPACE/NAME, says which objects come back",
		"run -l team=a":                                  "takes no labels (-l): name one Cleaner. Each run is requested and confirmed separately",
		"restore --selector team=a":                      "takes no labels (-l): name one run or one object",
		"cancel -l team=a":                               "takes no labels (-l): name one run, or its Cleaner. To end all runs: kubectl cleaner stop",
		"approve -l team=a":                              "takes no labels (-l): name one run, or its Cleaner. Each plan is read and approved separately",
		"reject tidy -l a==b==c":                         "takes no labels (-l): name one run, or its Cleaner. Each plan is read and rejected separately",
		"notify test tidy -l team=a":                     "takes no labels (-l): name one Cleaner. The messages are real ones",
		"why -l a==b==c":                                 "takes no labels (-l): name one object, as KIND/NAMESPACE/NAME or KIND/NAME",
		"stop -l a==b==c":                                "takes no labels (-l): it stops all Cleaners; to stop some: kubectl cleaner suspend -l SELECTOR",
		"stop --selector=team=a":                         "takes no labels (-l): it stops all Cleaners",
		"dashboard -l team=a":                            "takes no labels (-l): the dashboard shows all Cleaners, and you can filter them there",
		"import kyverno -l team=a":                       "takes no labels (-l): it carries over everything that the tool has",
		"lint -l team=a":                                 "takes no labels (-l): it does not use a cluster",
		"resume -l a==b==c":                              `--selector "a==b==c" cannot be read`,
		"suspend -l a==b==c":                             `--selector "a==b==c" cannot be read`,
		"rbac -l a==b==c":                                `--selector "a==b==c" cannot be read`,
		"runs -l a==b==c":                                `--selector "a==b==c" cannot be read`,
		"preview -l a==b==c":                             `--selector "a==b==c" cannot be read`,
		"scan -l a==b==c":                                `--selector "a==b==c" cannot be read`,
		"lint -n shop":                                   "takes no -n: it does not use a cluster",
		"import kyverno a.yaml --context prod":           "--context says which cluster to ask; add --from-cluster, or leave it out",
	} {
		got := call(t.Context(), t, "", nil, strings.Fields(line)...)
		if got.code != codes.ExitUsage || got.out != "" || !strings.Contains(got.errOut, says) {
			t.Errorf("%s: exit %d, want %d, and %q in:\n%s%s", line, got.code, codes.ExitUsage, says, got.out, got.errOut)
		}
	}
}
