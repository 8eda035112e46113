// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

func TestUsage(t *testing.T) {
	tests := []struct {
		args    string
		code    int
		out     string
		errOut  string
		comment string
	}{
		{args: "", out: "Usage:\n  kubectl cleaner"},
		{args: "--help", out: "Usage:\n  kubectl cleaner"},
		{args: "lint --help", out: "Usage:\n  kubectl cleaner lint [-f] FILE..."},
		{args: "help lint", out: "Usage:\n  kubectl cleaner lint [-f] FILE..."},
		{args: "help codes", out: "E-LUA-001  a script does not compile"},
		{args: "codes", out: "E-LUA-001  a script does not compile"},
		{args: "codes e-clu-003 W-CLN-004", out: "E-CLU-003  the cluster does not let you do that\nW-CLN-004  two Cleaners can act on the same objects\n"},
		{args: "codes E-CLU-03 X", code: 2, errOut: `"E-CLU-03" is no code of a message; did you mean "E-CLU-003"?` + "\n" + `  "X" is no code of a message`},
		{args: "--version", out: "kubectl cleaner v1.2.3\n"},
		{args: "version", out: "kubectl cleaner v1.2.3 (go"},
		{args: "version -o json", out: `"version": "v1.2.3"`},
		{args: "completion bash", out: "complete"},
		{args: "completion kubectl", out: `exec kubectl cleaner __complete "$@"`},
		{args: "__complete li", out: "lint\tCheck Cleaners"},

		{args: "__complete scan --min-confidence c", out: "Certain\n"},
		{args: "__complete scan -o cs", out: "csv\n"},
		{args: "__complete codes E-PAG", out: "E-PAG-001\t"},
		{args: "__complete preview --progress p", out: "plain\n"},
		{args: "__complete lint --color al", out: "always\n"},
		{args: "__complete scan --type Unused,Dan", out: "Unused,Dangling\n"},
		{args: "__complete scan --from testdata/scan/dump.yaml --kind pvc,Conf", out: "pvc,ConfigMap\n"},
		{args: "__complete init unused --kind Secret,Conf", out: "Secret,ConfigMap\n"},
		{args: "__complete scan --from testdata/scan/dump.yaml -n sh", out: "shop\n"},

		{args: "lnt", code: 2, errOut: "error: kubectl cleaner: there is no command \"lnt\"; did you mean \"lint\"?\nhint: run: kubectl cleaner --help   [E-USE-001]\n"},
		{args: "frobnicate", code: 2, errOut: "error: kubectl cleaner: there is no command \"frobnicate\"\n"},
		{args: "help lnt", code: 2, errOut: `did you mean "lint"?`},
		{args: "--nonsense", code: 2, errOut: "error: kubectl cleaner: unknown flag: --nonsense\n"},
		{args: "lint", code: 2, errOut: "error: kubectl cleaner lint: needs a file: kubectl cleaner lint FILE\n"},
		{args: "lint --nonsense", code: 2, errOut: "error: kubectl cleaner lint: unknown flag: --nonsense\nhint: run: kubectl cleaner lint --help   [E-USE-001]\n"},
		{args: "runs --outcom x", code: 2, errOut: "unknown flag: --outcom; did you mean --outcome?\n"},
		{args: "scan --al-namespaces", code: 2, errOut: "unknown flag: --al-namespaces; did you mean --all-namespaces?\n"},
		{args: "scan --collor=never", code: 2, errOut: "unknown flag: --collor; did you mean --color?\n"},
		{args: "scan -Z", code: 2, errOut: "unknown shorthand flag: 'Z' in -Z\n"},
		{args: "lint -f", code: 2, errOut: "flag needs an argument"},
		{args: "lint -o xml -f x", code: 2, errOut: "write text or json"},
		{args: "lint --color=blue x", code: 2, errOut: "write auto, always or never"},
		{args: "scan --fail-on-findings=x", code: 2, errOut: `error: kubectl cleaner scan: --fail-on-findings "x" cannot be read; write a whole number, for example 1`},
		{args: "preview x --timeout=soon", code: 2, errOut: `--timeout "soon" cannot be read; write a time such as 90s or 5m`},
		{args: "scan --complete=maybe", code: 2, errOut: `--complete "maybe" cannot be read; write true or false`},
		{args: "scan --min-confidence sure", code: 2, errOut: "write Likely, Certain or Weak"},
		{args: "test", code: 2, errOut: "error: kubectl cleaner test: needs a directory\n"},
		{args: "test --now tomorrow x", code: 2, errOut: `--now "tomorrow" is not a time such as 2026-01-31T12:00:00Z`},
		{args: "test --run ( x", code: 2, errOut: "--run is not a regular expression"},
		{args: "stop now", code: 2, errOut: `takes no arguments, because it stops all Cleaners; to stop one: kubectl cleaner suspend now`},
		{args: "__complete res", out: "resume\tResume deletes and changes after a stop, or single Cleaners after a suspend\n"},
		{args: "version now", code: 2, errOut: `takes no arguments, and was given "now"`},

		{args: "test nowhere", code: 1, errOut: "error: reading nowhere: no such file or directory   [E-FIL-001]\n"},
		{args: "test testdata/lint", code: 1, errOut: "error: there is no cleaner.yaml in or below testdata/lint\n"},
		{args: "test testdata/test/ok --run zzz", code: 1, errOut: "error: --run zzz matches none of the directories   [E-TST-001]\n"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			got := call(t.Context(), t, "", nil, strings.Fields(tt.args)...)
			if got.code != tt.code || !strings.Contains(got.out, tt.out) || !strings.Contains(got.errOut, tt.errOut) {
				t.Errorf("exit %d, want %d; out, want %q:\n%s\nstderr, want %q:\n%s", got.code, tt.code, tt.out, got.out, tt.errOut, got.errOut)
			}
			if tt.code != 0 && got.out != "" {
				t.Errorf("talk on the standard output: %s", got.out)
			}
		})
	}
}

// TestHelpFitsTheTerminal checks that both lists of flags are broken into lines that fit.
func TestHelpFitsTheTerminal(t *testing.T) {
	root := command(terminal.New(genericiooptions.NewTestIOStreamsDiscard(), terminal.Options{}))
	template := usageTemplate(100)
	if got := strings.Count(template, "FlagUsagesWrapped 100"); got != 2 || strings.Contains(template, "FlagUsages ") {
		t.Fatalf("%d of 2 lists are broken into lines", got)
	}
	root.SetUsageTemplate(template)
	for _, cmd := range root.Commands() {
		_, flags, _ := strings.Cut(cmd.UsageString(), "\nFlags:\n")
		for line := range strings.Lines(flags) {
			if len(line) > 120 && !strings.Contains(line, "|") { // pflag lets a line be longer rather than leave one word alone
				t.Errorf("%s: %d columns: %s", cmd.Name(), len(line), line)
			}
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"test", "testdata/test/ok"}, {"lint", "testdata/lint/scripts.yaml"}} {
		if got := call(ctx, t, "", nil, args...); got.code != 130 || !strings.Contains(got.errOut, "error: interrupted\n") {
			t.Errorf("%v: exit %d, want 130: %s", args, got.code, got.errOut)
		}
	}
}

// TestInterruptedScript stops a script that would go on until its limit.
func TestInterruptedScript(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	got := call(ctx, t, "", nil, "test", "testdata/endless")
	if took := time.Since(begin); got.code != 130 || took > 30*time.Second {
		t.Errorf("exit %d after %s, want 130 at once: %s%s", got.code, took, got.out, got.errOut)
	}
}
