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
		"a script of Python's":         {"python3.11, /app/kube_janitor.py, --dry-run, --include-namespaces=dev", "", ""},
		"beginnings of flags":          {"", "--dry, --include-n=dev, --onc, --inter, '5'", ""},
		"a value of a variable":        {"", "--dry-run, --include-namespaces=dev, --interval, $(SECONDS)", ""},
		"a flag that nobody knows":     {"kube-janitor, --dry-run, --include-namespaces=dev, --new", "", `containers[0].command[3]: "--new" is not carried over`},
		"a beginning of two flags":     {"", "--dry-run, --include=dev", `containers[0].args[1]: "--include" is not carried over`},
		"another time":                 {"", "--dry-run, --deployment-time-annotation=deployed", "containers[0].args[1]: is not carried over: a Cleaner counts a TTL from the creation"},
		"a beginning of another time":  {"", "--dry-run, --deploy, deployed", "containers[0].args[1]: is not carried over: a Cleaner counts a TTL from the creation"},
		"a hook":                       {"", "--dry-run, --resource-context-hook=a.b", "containers[0].args[1]: is not carried over: a Cleaner runs no code of yours"},
		"a file of arguments":          {"", "--dry-run, '@/etc/janitor'", `containers[0].args[1]: "@/etc/janitor" is not carried over`},
		"arguments of a variable":      {"", "--dry-run, --once, $(ARGS)", `containers[0].args[2]: "$(ARGS)" is not carried over`},
		"a variable alone":             {"kube-janitor, $(ARGS), --dry-run", "", `containers[0].command[1]: "$(ARGS)" is not carried over`},
		"a program that nobody knows":  {"/entry.sh", "--dry-run, --include-namespaces=dev", `containers[0].command[0]: "/entry.sh" is not carried over`},
		"one text":                     {"kube-janitor --dry-run", "--dry-run", `containers[0].command[0]: "kube-janitor --dry-run" is not carried over`},
		"another module of Python's":   {"python3, -m, wrapper", "--dry-run", `containers[0].command[2]: "wrapper" is not carried over`},
		"a variable by env":            {"env, INCLUDE_NAMESPACES=dev, kube-janitor, --dry-run", "", `containers[0].command[1]: "INCLUDE_NAMESPACES=dev" is not carried over`},
		"a text of a shell":            {"sh, -c, kube-janitor --dry-run --include-namespaces=dev", "", "containers[0].command[2]: " + shell},
		"a text in the arguments":      {"/bin/bash, -ec", "kube-janitor --include-namespaces=dev", "containers[0].args[0]: " + shell},
		"a shell that runs no text":    {"sh, /start.sh, --dry-run, --include-namespaces=dev", "", `containers[0].command[0]: "sh" is not carried over`},
		"only arguments, with a shell": {"", "sh, -c, kube-janitor --include-namespaces=dev", "containers[0].args[2]: " + shell},
	} {
		text := strings.Replace(janitorWorkload, "        args:", "        command: ["+test.command+"]\n        args:", 1)
		got := call(t.Context(), t, fmt.Sprintf(text, test.args, "")+janitorRule, nil, "import", "kube-janitor", "-", "--keep-action")
		code, narrowed := codes.ExitDone, " kubernetes.io/metadata.name in (dev),"
		if test.want != "" {
			code = codes.ExitPartial
		}
		if test.want != "" { // each of the 3 kinds of the rule, and of the 12 usual ones
			narrowed = closed
		}
		if !strings.HasSuffix(test.want, shell) && strings.Contains(got.out, "action: Delete") {
			t.Errorf("%s: it deletes, and kube-janitor does not:\n%s", name, got.out)
		}
		if got.code != code || strings.Count(got.out, narrowed) < 3 || !strings.Contains(got.errOut, test.want) {
			t.Errorf("%s: exit %d, want %q and %q:\n%s%s", name, got.code, narrowed, test.want, got.out, got.errOut)
		}
	}
}

// TestImportOfCronJobs that run kube-janitor: the Cleaners run when they do.
func TestImportOfCronJobs(t *testing.T) {
	t.Parallel()
	const workload = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: janitor}\nspec:\n  SPEC\n  jobTemplate: {spec: {template: {spec: {containers: [" +
		"{name: a, image: kube-janitor, args: [--once, --interval=60]}]}}}}\n"
	for spec, test := range map[string]struct{ want, says string }{
		"schedule: '5 4 * * *'": {"  schedule: 5 4 * * *\n  action: Scan\n", ""},
		"schedule: '5 4 * * *'\n  timeZone: Europe/Rome\n  suspend: true": {
			"  suspend: true\n", "standard input:7: note: janitor: spec.suspend: is true, so the Cleaners are suspended, too",
		},
		"schedule: '5 4 * * *'\n  timeZone: Europe/Rome": {"  timeZone: Europe/Rome\n", ""},
		"schedule: '5 24 * * *'": {
			"  schedule: '*/10 * * * *'\n", `standard input:5: warning: janitor: spec.schedule: is not carried over: schedule "5 24 * * *" `,
		},
	} {
		got := call(t.Context(), t, strings.Replace(workload, "SPEC", spec, 1)+janitorRule, nil, "import", "kube-janitor", "-")
		if strings.Count(got.out, test.want) != 2 || !strings.Contains(got.errOut, test.says) || strings.Contains(got.errOut, "looks every") ||
			(got.code == codes.ExitPartial) != strings.Contains(test.says, "warning") {
			t.Errorf("%s: exit %d, want %q and %q:\n%s%s", spec, got.code, test.want, test.says, got.out, got.errOut)
		}
	}
}

// TestImportMissesRules that the workload names.
func TestImportMissesRules(t *testing.T) {
	t.Parallel()
	const want = "standard input:10: warning: kube-janitor: spec.template.spec.containers[0].args[0]: the rules of /config/rules.yaml are not carried over: " +
		"no rules file and no ConfigMap with rules was found   [W-IMP-001]\n" +
		"  hint: give the rules file, or the ConfigMap with it, and this manifest as files, and import again\n"
	workload := fmt.Sprintf(janitorWorkload, "--rules-file=/config/rules.yaml", "")
	if got := call(t.Context(), t, workload, nil, "import", "kube-janitor", "-"); got.code != codes.ExitPartial || !strings.Contains(got.errOut, want) {
		t.Errorf("exit %d, want %q:\n%s", got.code, want, got.errOut)
	}
	if got := call(t.Context(), t, workload+janitorRule, nil, "import", "kube-janitor", "-"); got.code != codes.ExitDone {
		t.Errorf("with the rules, exit %d:\n%s", got.code, got.errOut)
	}
	rule := strings.Replace(janitorRule, "  resources: [deployments, configmaps, persistentvolumeclaims, events]\n", "  resources: []\n", 1)
	const empty = "standard input:14: warning: rule a: has no resources, so no Cleaner was written"
	if got := call(t.Context(), t, workload+rule, nil, "import", "kube-janitor", "-"); got.code != codes.ExitPartial || !strings.Contains(got.errOut, empty) {
		t.Errorf("without resources, exit %d:\n%s", got.code, got.errOut)
	}
}

// TestImportOfVariablesInFlags is one warning, whatever the number of selectors.
func TestImportOfVariablesInFlags(t *testing.T) {
	t.Parallel()
	text := fmt.Sprintf(janitorWorkload, "--include-namespaces=$(NS)", "{name: NS, value: a}") + janitorRule
	got := call(t.Context(), t, text, nil, "import", "kube-janitor", "-")
	const want = "args[0]: --include-namespaces is not carried over: the value of $(NS) is kept elsewhere"
	if got.code != codes.ExitPartial || strings.Count(got.errOut, "warning") != 1 || !strings.Contains(got.errOut, want) ||
		!strings.Contains(got.out, "name: flags-not-carried-over\n") {
		t.Errorf("exit %d, want %q:\n%s%s", got.code, want, got.out, got.errOut)
	}
}

// TestImportOfOwnedObjects: KubeCleaner reads no annotation of theirs.
func TestImportOfOwnedObjects(t *testing.T) {
	t.Parallel()
	owned := strings.Replace(markedSecret, "  name: marked\n", "  name: marked\n  ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: b}]\n", 1)
	for text, want := range map[string]string{
		markedSecret: "note: kube-janitor also reads the annotations of objects that belong to another object; KubeCleaner does not: annotate the owner instead",
		owned:        "note: 1 object with an annotation of kube-janitor belongs to another object: KubeCleaner reads no annotation there; annotate the owner instead",
	} {
		if got := call(t.Context(), t, text, nil, "import", "kube-janitor", "-"); got.code != codes.ExitDone || strings.Count(got.errOut, want) != 1 {
			t.Errorf("exit %d, want %q:\n%s", got.code, want, got.errOut)
		}
	}
}
