// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/kubecleaner/kubecleaner/pkg/cli/trial"
)

// TestTestGolden shows what users see.
func TestTestGolden(t *testing.T) {
	for name, args := range map[string][]string{
		"ok":          {"test", "testdata/test/ok"},
		"wrong":       {"test", "testdata/test/wrong"},
		"wrong-junit": {"test", "-o", "junit", "testdata/test", "--run", "wrong/aggregated|transform|empty|older"},
		"wrong-json":  {"test", "-o", "json", "testdata/test", "--run", "wrong/aggregated|transform|empty|older"},
		"colour":      {"test", "--color=always", "testdata/test", "--run", "pause|nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, "test-"+name+".txt", args, call(t.Context(), t, "", nil, args...))
		})
	}
}

// TestTestWithFrozenTime moves the time: what is old enough now was not then.
func TestTestWithFrozenTime(t *testing.T) {
	got := call(t.Context(), t, "", nil, "test", "testdata/test/ok/failed-pods", "--now", "2026-01-01T00:30:00Z")
	if got.code != 1 || !strings.Contains(got.out, "minAgeSeconds (3600): it is 30m0s old") {
		t.Errorf("exit %d:\n%s", got.code, got.out)
	}
}

// junit is what a CI system reads.
type junit struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Suites   []struct {
		Cases []struct {
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

// TestTestReportsAreWellFormed reads what machines would read.
func TestTestReportsAreWellFormed(t *testing.T) {
	got := call(t.Context(), t, "", nil, "test", "-o", "junit", "testdata/test")
	var suites junit
	if err := xml.Unmarshal([]byte(got.out), &suites); err != nil {
		t.Fatal(err)
	}
	cases, failures := 0, 0
	for _, suite := range suites.Suites {
		for _, c := range suite.Cases {
			cases++
			if c.Failure != nil {
				failures++
			}
		}
	}
	if cases != suites.Tests || failures != suites.Failures || failures == 0 || failures == cases {
		t.Errorf("counted %d cases and %d failures, the report says %d and %d", cases, failures, suites.Tests, suites.Failures)
	}
	got = call(t.Context(), t, "", nil, "test", "-o", "json", "testdata/test")
	var report trial.Report
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatal(err)
	}
	if report.Passed != 9 || report.Failed != 15 || len(report.Directories) != 24 {
		t.Errorf("%d passed, %d failed of %d", report.Passed, report.Failed, len(report.Directories))
	}
}

// TestTestShowsNoSecret looks for the values of Secrets, before and after a transform, in everything that is printed.
func TestTestShowsNoSecret(t *testing.T) {
	for _, output := range []string{"text", "json", "junit"} {
		got := call(t.Context(), t, "", nil, "test", "-o", output, "testdata/test/wrong", "--run", "secret")
		all := got.out + got.errOut
		for _, words := range []string{"its password is ******", "the refused one is ******", "together: ******", "script printed: ******", "broken by ******"} {
			if got.code != 1 || !strings.Contains(all, words) {
				t.Errorf("-o %s: exit %d, want %q in:\n%s", output, got.code, words, all)
			}
		}
		for _, canary := range []string{"Y2FuYXJ5", "canary"} { // as it stands, and decoded
			if strings.Contains(all, canary) {
				t.Errorf("-o %s prints a Secret's value:\n%s", output, all)
			}
		}
	}
}

// TestTestNeedsMuch lets an aggregated script take more memory than a process begins with, as in a run.
func TestTestNeedsMuch(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/test/ok/unused-configmaps")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "cleaner.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin = "function evaluate()"
	much := strings.Replace(string(text), begin, begin+" local much = {} for i = 1, 1500000 do much[i] = {} end", 1)
	if err := os.WriteFile(path, []byte(much), 0o600); err != nil || much == string(text) {
		t.Fatal(err, much)
	}
	if got := call(t.Context(), t, "", nil, "test", dir); got.code != 0 {
		t.Errorf("exit %d:\n%s", got.code, got.out)
	}
}

// TestTestedIsWhatRuns breaks one thing at a time in a directory that passes, and expects a failure each time.
func TestTestedIsWhatRuns(t *testing.T) {
	tests := []struct{ name, file, old, new string }{
		{"kind", "cleaner.yaml", "kind: Job", "kind: CronJob"},
		{"group", "cleaner.yaml", "group: batch", "group: apps"},
		{"namespace", "cleaner.yaml", "namespace: jobs", "namespace: job"},
		{"namespaceSelector", "cleaner.yaml", "env=test", "env in (test, prod)"},
		{"label", "cleaner.yaml", "value: batch", "value: web"},
		{"label that must be absent", "matching.yaml", "labels: {app: batch}", "labels: {app: batch, keep: a}"},
		{"age", "cleaner.yaml", "minAgeSeconds: 3600", "minAgeSeconds: 360000000"},
		{"deleted", "matching.yaml", "creationTimestamp:", "deletionTimestamp: \"2026-01-01T00:00:00Z\"\n  creationTimestamp:"},
		{"condition", "cleaner.yaml", "'Never'", "'Always'"},
		{"condition that fails", "cleaner.yaml", "object.spec.restartPolicy", "object.spec.noSuchField"},
		{"script", "cleaner.yaml", `"Failed"`, `"Running"`},
		{"script that fails", "cleaner.yaml", "obj.status.reason", "obj.no.reason"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("testdata/test/ok/failed-pods")); err != nil {
				t.Fatal(err)
			}
			if got := call(t.Context(), t, "", nil, "test", dir); got.code != 0 {
				t.Fatalf("exit %d before anything was broken:\n%s", got.code, got.out)
			}
			path := filepath.Join(dir, tt.file)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			broken := strings.Replace(string(text), tt.old, tt.new, 1)
			if broken == string(text) {
				t.Fatalf("%s has no %q", tt.file, tt.old)
			}
			if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := call(t.Context(), t, "", nil, "test", dir); got.code != 1 || !strings.Contains(got.out, "FAIL") {
				t.Errorf("exit %d:\n%s", got.code, got.out)
			}
		})
	}
}

// TestNothingIsLeft looks for goroutines after commands that use scripts. The processes end with their pools.
func TestNothingIsLeft(t *testing.T) {
	before := goleak.IgnoreCurrent()
	call(t.Context(), t, "", nil, "lint", "testdata/lint")
	call(t.Context(), t, "", nil, "test", "testdata/test")
	goleak.VerifyNone(t, before)
}

// TestTestDoesNotJudgeWithoutEvents: files hold no events, which is not the same as that there are none.
func TestTestDoesNotJudgeWithoutEvents(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cleaner.yaml": `apiVersion: apps.projectsveltos.io/v1alpha1
kind: Cleaner
metadata: {name: quiet}
spec:
  schedule: "0 3 * * *"
  action: Scan
  resourcePolicySet:
    resourceSelectors:
    - {group: "", version: v1, kind: ConfigMap, includeEvents: true, matchConditions: [{name: quiet, expression: size(events) == 0}]}
`,
		"matching.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := call(t.Context(), t, "", nil, "test", dir)
	const want = "should match, but could not be judged"
	const why = "resourceSelectors[0]: includeEvents: there are no events here: they are read by kubectl cleaner preview on a cluster, and in a test they are in its events.yaml"
	if got.code != 1 || !strings.Contains(got.out, want) || !strings.Contains(got.out, why) {
		t.Errorf("exit %d:\n%s%s", got.code, got.out, got.errOut)
	}
}

// What is wrong in the files of inputs, and what they lack, is told.
func TestTestInputs(t *testing.T) {
	for name, test := range map[string]struct{ file, text, want string }{
		"no events":    {"events.yaml", "", "includeEvents: there are no events here: they are read by kubectl cleaner preview on a cluster, and in a test they are in its events.yaml"},
		"no metrics":   {"metrics.yaml", "", "metricQueries: there are no metrics here: they are asked for by kubectl cleaner preview on a cluster, and in a test they are in its metrics.yaml"},
		"no logs":      {"logs.yaml", "", "logSource: there are no logs here: they are read by kubectl cleaner preview on a cluster, and in a test they are in its logs.yaml"},
		"another kind": {"events.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n", "Pod x is no Event; write events with apiVersion: v1 and kind: Event"},
		"no number":    {"metrics.yaml", "load: much\n", "it cannot be read: "},
		"not asked":    {"metrics.yaml", "load: 1\nlaod: 2\n", `no metricQueries have the name "laod"`},
		"no log":       {"logs.yaml", "shop/hopeless: {app: x}\n", "logs.yaml does not have it: write shop/hopeless: and below it app/previous: and the log, which may be \"\""},
		"not texts":    {"logs.yaml", "shop/hopeless: x\n", "write NAMESPACE/POD, and below it the names of containers and their logs"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("testdata/test/ok/inputs")); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, test.file)
			err := os.WriteFile(path, []byte(test.text), 0o600)
			if test.text == "" {
				err = os.Remove(path)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := call(t.Context(), t, "", nil, "test", dir); got.code != 1 || !strings.Contains(got.out, test.want) {
				t.Errorf("exit %d, want %q in:\n%s%s", got.code, test.want, got.out, got.errOut)
			}
		})
	}
}
