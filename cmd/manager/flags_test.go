// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A mistake in a flag is reported in a line that says what to write instead, and does not drown in the list of all flags.
func TestFlagsThatCannotBeRead(t *testing.T) {
	const duration, whole = "write a duration such as 5s, 10m or 1h", "write a whole number such as 20"
	for name, c := range map[string]struct{ args, want string }{
		"no unit":            {"--jitter-window=5", "--jitter-window is 5: " + duration},
		"one dash":           {"-jitter-window=5", "--jitter-window is 5: " + duration},
		"underscores":        {"--jitter_window=5", "--jitter-window is 5: " + duration},
		"the next argument":  {"--jitter-window 5", "--jitter-window is 5: " + duration},
		"not a whole number": {"--max-parallel-runs=abc", "--max-parallel-runs is abc: " + whole},
		"too large":          {"--kube-api-burst=99999999999999999999", "--kube-api-burst is 99999999999999999999: " + whole},
		"not a number":       {"--kube-api-qps=many", "--kube-api-qps is many: write a number such as 50 or 2.5"},
		"neither":            {"--leader-elect=maybe", "--leader-elect is maybe: write true or false"},
		"no memory":          {"--max-script-memory=lots", "--max-script-memory is lots: write an amount of memory such as 512Mi"},
		"no host": {"--allowed-metric-hosts=http://b", `--allowed-metric-hosts is http://b: ` +
			`the host "http://b" is neither a host name nor an IP address: write hosts without scheme and port, with commas between them`},
		"empty":               {"--sync-period=", "--sync-period is empty: " + duration},
		"no value":            {"--dry-run --sync-period", "--sync-period needs a value; see --help"},
		"mistyped":            {"--max-parallel-run=3", "there is no flag --max-parallel-run; did you mean --max-parallel-runs?"},
		"two letters swapped": {"-max_parallel_rusn 3", "there is no flag --max-parallel-rusn; did you mean --max-parallel-runs?"},
		"unknown":             {"--colour=red", "there is no flag --colour; see --help"},
		"of no use":           {"--web-prot=80", "there is no flag --web-prot; see --help"},
		"three dashes":        {"---dry-run", `"---dry-run" is not a flag; see --help`},
		"no name":             {"--=5", `"--=5" is not a flag; see --help`},
		"not a flag":          {"--dry-run true", `"true" is not a flag; see --help`},
		"several": {
			"--jitter-window=5 --worker-number=many --max-parallel-run=3",
			"--jitter-window is 5: " + duration + "\n--worker-number is many: " + whole + "\nthere is no flag --max-parallel-run; did you mean --max-parallel-runs?",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var output strings.Builder
			_, _, err := parseOptions(strings.Fields(c.args), "", &output)
			if err == nil {
				t.Fatal("it was accepted")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
			if output.Len() > 0 {
				t.Errorf("it printed %q as well", output.String())
			}
		})
	}
}
