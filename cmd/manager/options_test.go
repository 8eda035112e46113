// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/pkg/egress"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
)

// standard are the options of an empty command line.
func standard() *options {
	return &options{
		namespace: "projectsveltos", leaderElect: true, leaseDuration: 15 * time.Second, renewDeadline: 10 * time.Second, retryPeriod: 2 * time.Second, maxParallelRuns: 20, concurrentReconcile: 10, syncPeriod: 10 * time.Hour,
		diagnosticsAddress: ":8443", healthAddress: ":9440", protectedNamespaces: guard.DefaultProtectedNamespaces,
		maxScriptMemory: 768 << 20, maxCopies: 256 << 20, maxSelection: 256 << 20, logLevel: "info", logFormat: "json",
	}
}

func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		args      []string
		namespace string
		want      func(*options)
	}{
		"none":               {want: func(*options) {}},
		"two dashes":         {args: []string{"--dry-run", "--max-parallel-runs=3"}, want: func(o *options) { o.dryRun, o.maxParallelRuns = true, 3 }},
		"one dash":           {args: []string{"-dry-run", "-max-parallel-runs", "3"}, want: func(o *options) { o.dryRun, o.maxParallelRuns = true, 3 }},
		"underscores":        {args: []string{"--dry_run", "-max_parallel_runs=3"}, want: func(o *options) { o.dryRun, o.maxParallelRuns = true, 3 }},
		"mixed":              {args: []string{"--kube_api-qps=2.5"}, want: func(o *options) { o.qps = 2.5 }},
		"underscore kept":    {args: []string{"--diagnostics_address=my_host:1"}, want: func(o *options) { o.diagnosticsAddress = "my_host:1" }},
		"underscore in arg":  {args: []string{"--health_addr", "my_host:1"}, want: func(o *options) { o.healthAddress = "my_host:1" }},
		"accounts required":  {args: []string{"--require-service-account"}, want: func(o *options) { o.requireAccount = true }},
		"no leader election": {args: []string{"--leader-elect=false"}, want: func(o *options) { o.leaderElect = false }},
		"lease": {args: []string{"--leader-elect-lease-duration=60s", "--leader-elect-renew-deadline=40s", "--leader-elect-retry-period=5s"}, want: func(o *options) {
			o.leaseDuration, o.renewDeadline, o.retryPeriod = time.Minute, 40*time.Second, 5*time.Second
		}},
		"namespace": {namespace: "mine", want: func(o *options) { o.namespace = "mine" }},
		"protected": {args: []string{"--protected-namespaces= a, b ,"}, want: func(o *options) {
			o.protectedNamespaces = " a, b ,"
		}},
		"last one holds": {args: []string{"--max-parallel-runs=3", "--max-parallel-runs=4"}, want: func(o *options) { o.maxParallelRuns = 4 }},
		"old name":       {args: []string{"--worker-number=4"}, want: oldName(4)},
		"both names":     {args: []string{"--worker-number=4", "--max-parallel-runs=4"}, want: oldName(4)},
		"version":        {args: []string{"--version"}, want: func(o *options) { o.version = true }},
		"logs":           {args: []string{"--log-level=debug", "--log-format=text"}, want: func(o *options) { o.logLevel, o.logFormat = "debug", "text" }},
		"actions":        {args: []string{"--max-actions-per-run=100"}, want: func(o *options) { o.maxActions = 100 }},
		"copies":         {args: []string{"--max-copies-bytes=1Gi"}, want: func(o *options) { o.maxCopies = 1 << 30 }},
		"selection":      {args: []string{"--max-selection-memory=1Gi"}, want: func(o *options) { o.maxSelection = 1 << 30 }},
		"script memory":  {args: []string{"--max-script-memory=1Gi"}, want: func(o *options) { o.maxScriptMemory = 1 << 30 }},
		"certificate":    {args: []string{"--diagnostics-cert-dir=/cert"}, want: func(o *options) { o.diagnosticsCertDir = "/cert" }},
		"traces":         {args: []string{"--tracing-endpoint=http://otel:4318"}, want: func(o *options) { o.tracingEndpoint = "http://otel:4318" }},
		"page":           {args: []string{"--dashboard-url=https://cleaner.example.com:8443/"}, want: func(o *options) { o.dashboardURL = "https://cleaner.example.com:8443/" }},
		"copies' places": {args: []string{"--copies-path=/copies", "--s3-secret=bucket"}, want: func(o *options) { o.copiesPath, o.s3Secret = "/copies", "bucket" }},
		"metric hosts": {args: []string{"--allowed-metric-hosts= Prometheus.example.com,[::1] ,10.0.0.1"}, want: func(o *options) {
			o.metricHosts = egress.Hosts{"prometheus.example.com": true, "::1": true, "10.0.0.1": true}
		}},
		"sync period": {args: []string{"--sync-period=90s"}, want: func(o *options) { o.syncPeriod = 90 * time.Second }},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := parseOptions(c.args, c.namespace, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			want := standard()
			c.want(want)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(options{})); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func oldName(n int) func(*options) {
	return func(o *options) { o.maxParallelRuns, o.workerNumber, o.deprecated = n, n, []string{"--worker-number"} }
}

// TestFlagsOfK8sCleaner carries over a Deployment of k8s-cleaner as it stands: all of its flags, in its spellings.
func TestFlagsOfK8sCleaner(t *testing.T) {
	all := []string{
		"--disable-telemetry=true", "--diagnostics-address=:8080", "--insecure-diagnostics=true", "--worker-number=7",
		"--jitter-window=5s", "--concurrent-reconciles=8", "--kube-api-qps=40", "--kube-api-burst=60", "--webhook-port=9443",
		"--sync-period=10m", "--health-addr=:9441", "--enable-web", "--web-port=9080", "--web-read-only=false",
	}
	spellings := map[string]func(string) string{
		"as they are": func(arg string) string { return arg },
		"one dash":    func(arg string) string { return arg[1:] },
		"underscores": func(arg string) string {
			name, value, found := strings.Cut(arg[2:], "=")
			name = "--" + strings.ReplaceAll(name, "-", "_")
			if found {
				return name + "=" + value
			}
			return name
		},
	}
	want := standard()
	want.diagnosticsAddress, want.insecureDiagnostics, want.concurrentReconcile = ":8080", true, 8
	oldName(7)(want)
	want.qps, want.burst, want.syncPeriod, want.healthAddress = 40, 60, 10*time.Minute, ":9441"
	want.jitterWindow = 5 * time.Second
	want.ignored = []string{"--disable-telemetry", "--enable-web", "--web-port", "--web-read-only", "--webhook-port"}
	for name, spell := range spellings {
		t.Run(name, func(t *testing.T) {
			var args []string
			for _, arg := range all {
				args = append(args, spell(arg))
			}
			got, _, err := parseOptions(args, "", io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(options{})); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		args      []string
		namespace string
		want      []string
	}{
		"traces nowhere":    {args: []string{"--tracing-endpoint=otel:4318"}, want: []string{`--tracing-endpoint is not right; write an address such as http://otel-collector.observability:4318`}},
		"traces to no host": {args: []string{"--tracing-endpoint=http://:4318"}, want: []string{`--tracing-endpoint is not right`}},
		"traces and more":   {args: []string{"--tracing-endpoint=https://me:secret@otel"}, want: []string{`--tracing-endpoint`}},
		"page nowhere":      {args: []string{"--dashboard-url=cleaner.example.com"}, want: []string{`--dashboard-url is "cleaner.example.com"; write an address such as https://cleaner.example.com, without a path`}},
		"page below a path": {args: []string{"--dashboard-url=https://example.com/cleaner"}, want: []string{`without a path`}},
		"page with markup":  {args: []string{"--dashboard-url=https://a|b"}, want: []string{`--dashboard-url is "https://a|b"`}},
		"copies elsewhere":  {args: []string{"--copies-path=copies", "--s3-secret=a/b"}, want: []string{`--copies-path is "copies"; it must be an absolute path`, `--s3-secret is "a/b"; it must be the name of a Secret`}},
		"no run":            {args: []string{"--max-parallel-runs=0"}, want: []string{"--max-parallel-runs is 0; it must be at least 1"}},
		"no worker":         {args: []string{"--worker-number=0"}, want: []string{"--max-parallel-runs is 0; it must be at least 1"}},
		"two numbers":       {args: []string{"--worker-number=3", "--max-parallel-runs=4"}, want: []string{"--max-parallel-runs is 4, and --worker-number, which is k8s-cleaner's name for the same, is 3: remove --worker-number"}},
		"no reconciler":     {args: []string{"--concurrent-reconciles=-1"}, want: []string{"--concurrent-reconciles is -1; it must be at least 1"}},
		"negative qps":      {args: []string{"--kube-api-qps=-1"}, want: []string{"--kube-api-qps is -1; it must not be negative (0 means no limit)"}},
		"negative burst":    {args: []string{"--kube-api-burst=-1"}, want: []string{"--kube-api-burst is -1; it must not be negative"}},
		"minus one":         {args: []string{"--max-actions-per-run=-1"}, want: []string{"--max-actions-per-run is -1; it must not be negative (0 means any number)"}},
		"little memory":     {args: []string{"--max-script-memory=100Mi"}, want: []string{"--max-script-memory is 100Mi; it must be at least 384Mi"}},
		"broken lease":      {args: []string{"--leader-elect-lease-duration=20500ms"}, want: []string{"--leader-elect-lease-duration is 20.5s; write whole seconds, at least 1s"}},
		"short lease":       {args: []string{"--leader-elect-lease-duration=10s"}, want: []string{"--leader-elect-renew-deadline is 10s; it must be less than --leader-elect-lease-duration (10s)"}},
		"rare retries":      {args: []string{"--leader-elect-retry-period=6s"}, want: []string{"--leader-elect-retry-period is 6s; it must be positive, and at most half of --leader-elect-renew-deadline (10s)"}},
		"no period":         {args: []string{"--sync-period=0s"}, want: []string{"--sync-period is 0s; it must be positive"}},
		"metric hosts":      {args: []string{"--allowed-metric-hosts=a.example.com:9090,http://b"}, want: []string{`the host "a.example.com:9090" is neither a host name nor an IP address: write hosts without scheme and port, with commas between them`, `the host "http://b"`}},
		"log level":         {args: []string{"--log-level=5"}, want: []string{`--log-level is "5"; write error, info or debug`}},
		"log format":        {args: []string{"--log-format=xml"}, want: []string{`--log-format is "xml"; write json or text`}},
		"namespace":         {namespace: "Not A Namespace", want: []string{`the environment variable NAMESPACE is "Not A Namespace", which is not the name of a namespace`}},
		"protected":         {args: []string{"--protected-namespaces=a b,c"}, want: []string{`--protected-namespaces has "a b", which is not the name of a namespace`}},
		"all of it at once": {args: []string{"--worker-number=0", "--log-level=x", "--sync-period=-1s"}, want: []string{"--max-parallel-runs", "--log-level", "--sync-period"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := parseOptions(c.args, c.namespace, io.Discard)
			if err == nil {
				t.Fatal("it was accepted")
			}
			for _, want := range c.want {
				if strings.Count(err.Error(), want) != 1 {
					t.Errorf("the error is %q, want it to contain %q once", err, want)
				}
			}
		})
	}
}

func TestHelpNamesEveryFlagThatDoesSomething(t *testing.T) {
	var text strings.Builder
	_, fs, err := parseOptions([]string{"--help"}, "", &text)
	if !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	fs.VisitAll(func(f *flag.Flag) {
		_, idle := unused[f.Name]
		if shown := strings.Contains(text.String(), "  --"+f.Name+" "); shown == idle {
			t.Errorf("--help shows --%s: %v", f.Name, shown)
		}
	})
	for _, want := range []string{"emergency stop", "(default :8443)", "NAMESPACE"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("--help does not say %q:\n%s", want, text.String())
		}
	}
}

func TestProtectedNamespaces(t *testing.T) {
	o, _, err := parseOptions([]string{"--protected-namespaces= a, b ,"}, "mine", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, o.protected()); diff != "" {
		t.Fatal(diff)
	}
}

func TestExitCodes(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want int
	}{
		"version":         {[]string{"--version"}, 0},
		"help":            {[]string{"--help"}, 0},
		"unknown":         {[]string{"--no-such-flag"}, 2},
		"invalid":         {[]string{"--worker-number=0"}, 2},
		"version invalid": {[]string{"--version", "--log-level=x"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			if got := start(t.Context(), c.args); got != c.want {
				t.Fatalf("exit code %d, want %d", got, c.want)
			}
		})
	}
}
