// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// TestImportOfJanitorsCommand: Kubernetes runs the command and the arguments of a container as one line.
func TestImportOfJanitorsCommand(t *testing.T) {
	t.Parallel()
	const shell = "is not carried over: flags in the text of a shell are not read   [W-IMP-001]\n" +
		"  hint: write the flags of kube-janitor as a list in args, and import again: the Cleaners select nothing because of " +
		"their condition flags-not-carried-over\n"
	for name, test := range map[string]struct{ command, args, want string }{
		"a module of Python's":         {"python3, -m, kube_janitor, --include-namespaces=dev, --dry-run", "", ""},
		"an option of Python's":        {"python3, -u, -m, kube_janitor, --include-namespaces, dev, --dry-run", "", ""},
		"the program":                  {"kube-janitor, --dry-run, --include-namespaces=dev", "", ""},
		"by env":                       {"/usr/bin/env, kube-janitor, --dry-run", "--include-namespaces=dev", ""},
		"by an init":                   {"/sbin/tini, --, kube-janitor", "--dry-run, --include-namespaces, dev", ""},
		"a value in the arguments":     {"kube-janitor, --dry-run, --include-namespaces", "dev", ""},
		"a flag that nobody knows":     {"kube-janitor, --dry-run, --include-namespaces=dev, --new", "", `containers[0].command[3]: "--new" is not carried over`},
		"a text of a shell":            {"sh, -c, kube-janitor --dry-run --include-namespaces=dev", "", "containers[0].command[2]: " + shell},
		"a text in the arguments":      {"/bin/bash, -ec", "kube-janitor --include-namespaces=dev", "containers[0].args[0]: " + shell},
		"a shell that runs no text":    {"sh, /start.sh, --dry-run, --include-namespaces=dev", "", ""},
		"only arguments, with a shell": {"", "sh, -c, kube-janitor --include-namespaces=dev", "containers[0].args[2]: " + shell},
	} {
		text := strings.Replace(janitorWorkload, "        args:", "        command: ["+test.command+"]\n        args:", 1)
		got := call(t.Context(), t, fmt.Sprintf(text, test.args, "")+janitorRule, nil, "import", "kube-janitor", "-", "--keep-action")
		code, narrowed := codes.ExitDone, " kubernetes.io/metadata.name in (dev),"
		if test.want != "" {
			code = codes.ExitPartial
		}
		if strings.HasSuffix(test.want, shell) { // each of the 3 kinds of the rule, and of the 12 usual ones
			narrowed = "name: flags-not-carried-over\n        expression: \"false\"\n"
		} else if strings.Contains(got.out, "action: Delete") {
			t.Errorf("%s: it deletes, and kube-janitor does not:\n%s", name, got.out)
		}
		if got.code != code || strings.Count(got.out, narrowed) < 3 || !strings.Contains(got.errOut, test.want) {
			t.Errorf("%s: exit %d, want %q and %q:\n%s%s", name, got.code, narrowed, test.want, got.out, got.errOut)
		}
	}
}
