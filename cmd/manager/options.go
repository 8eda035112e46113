// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubecleaner/kubecleaner/pkg/egress"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// defaultNamespace is where k8s-cleaner is installed by default, and where its counts are.
const defaultNamespace = "projectsveltos"

// options are what the command line and the environment say.
type options struct {
	namespace           string // from the environment variable NAMESPACE
	version             bool
	dryRun              bool
	requireAccount      bool
	leaderElect         bool
	leaseDuration       time.Duration
	renewDeadline       time.Duration
	retryPeriod         time.Duration
	maxParallelRuns     int
	workerNumber        int // k8s-cleaner's name for the same; zero when it was not given
	maxActions          int
	concurrentReconcile int
	qps                 float64
	burst               int
	syncPeriod          time.Duration
	jitterWindow        time.Duration
	diagnosticsAddress  string
	insecureDiagnostics bool
	diagnosticsCertDir  string
	healthAddress       string
	protectedNamespaces string
	maxScriptMemory     bytes
	copiesPath          string
	s3Secret            string
	maxCopies           bytes
	maxSelection        bytes
	notifyCAFile        string
	notifyHosts         egress.Hosts
	metricHosts         egress.Hosts
	dashboardURL        string
	tracingEndpoint     string
	logLevel            string
	logFormat           string

	// ignored are the flags of k8s-cleaner that were given and that do nothing here.
	ignored []string
	// deprecated are those that were given and have another name here.
	deprecated []string
}

// unused are flags of k8s-cleaner that a Deployment may carry over: accepted, with a warning.
var unused = map[string]bool{ // name: takes no value
	"disable-telemetry": true, "webhook-port": false, "enable-web": true, "web-port": false, "web-read-only": true,
}

// parseOptions reads the command line. Names may be written as k8s-cleaner's were: with one dash, and with underscores.
func parseOptions(args []string, namespace string, output io.Writer) (*options, *flag.FlagSet, error) {
	o := &options{namespace: namespace}
	if o.namespace == "" {
		o.namespace = defaultNamespace
	}
	fs := flag.NewFlagSet("manager", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // it would print each mistake, which is reported anyway, and the whole usage after it
	o.bind(fs)
	err := parseFlags(fs, dashes(args))
	if errors.Is(err, flag.ErrHelp) {
		printUsage(output, fs)
	}
	if err != nil {
		return nil, fs, err
	}
	fs.Visit(func(f *flag.Flag) {
		if _, ok := unused[f.Name]; ok {
			o.ignored = append(o.ignored, "--"+f.Name)
		}
	})
	return o, fs, errors.Join(o.renamed(fs), o.validate())
}

// renamed takes the value of a flag that has another name in k8s-cleaner.
func (o *options) renamed(fs *flag.FlagSet) error {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case !given["worker-number"]:
	case given["max-parallel-runs"] && o.maxParallelRuns != o.workerNumber:
		return fmt.Errorf("--max-parallel-runs is %d, and --worker-number, which is k8s-cleaner's name for the same, is %d: remove --worker-number", o.maxParallelRuns, o.workerNumber)
	default:
		o.maxParallelRuns = o.workerNumber
		o.deprecated = append(o.deprecated, "--worker-number")
	}
	return nil
}

func (o *options) bind(fs *flag.FlagSet) {
	fs.BoolVar(&o.version, "version", false, "print the version and exit")
	fs.BoolVar(&o.dryRun, "dry-run", false, "make every Cleaner act as Scan: nothing is deleted or changed (emergency stop)")
	fs.BoolVar(&o.requireAccount, "require-service-account", false, "refuse Cleaners without serviceAccountRef, which would act with the operator's own rights; use it together with the policies of config/policy (Helm value policies.enabled)")
	fs.BoolVar(&o.leaderElect, "leader-elect", true, "let one replica at a time work; without it, run one replica only")
	fs.DurationVar(&o.leaseDuration, "leader-elect-lease-duration", 15*time.Second, "how long the other replicas wait for a leader that does not renew its lease")
	fs.DurationVar(&o.renewDeadline, "leader-elect-renew-deadline", 10*time.Second, "how long the leader tries to renew its lease before it stops writing and gives up leadership")
	fs.DurationVar(&o.retryPeriod, "leader-elect-retry-period", 2*time.Second, "how often the leader renews its lease, and the others try to get it")
	fs.IntVar(&o.maxParallelRuns, "max-parallel-runs", 20, "how many runs may be active at once; at most a third of them are of Cleaners whose last run took 10 seconds or more")
	fs.IntVar(&o.workerNumber, "worker-number", 0, "k8s-cleaner's name for --max-parallel-runs; deprecated")
	fs.IntVar(&o.maxActions, "max-actions-per-run", 0, "how many objects a run may delete or change: a run that would touch more touches none; 0 means any number")
	fs.IntVar(&o.concurrentReconcile, "concurrent-reconciles", 10, "how many Cleaners are reconciled at once")
	fs.Float64Var(&o.qps, "kube-api-qps", 0, "client-side limit of requests per second to the API server; 0 means no limit: the API server's priority and fairness decides")
	fs.IntVar(&o.burst, "kube-api-burst", 0, "how many requests may exceed --kube-api-qps for a moment; 0 means the value of --kube-api-qps, rounded down")
	fs.DurationVar(&o.syncPeriod, "sync-period", 10*time.Hour, "how often every Cleaner is reconciled again, even if nothing changed")
	fs.DurationVar(&o.jitterWindow, "jitter-window", 0, "the longest delay of scheduled runs, so that not all start at once; the delay of each Cleaner is always the same")
	fs.StringVar(&o.diagnosticsAddress, "diagnostics-address", ":8443", "where metrics are served over TLS to those who may get /metrics; 0 turns them off")
	fs.BoolVar(&o.insecureDiagnostics, "insecure-diagnostics", false, "serve metrics over HTTP, to anyone")
	fs.StringVar(&o.diagnosticsCertDir, "diagnostics-cert-dir", "", "directory with the certificate (tls.crt) and the key (tls.key) with which metrics are served, read again when they change; without them, the operator makes a certificate that nobody can verify")
	fs.StringVar(&o.healthAddress, "health-addr", ":9440", "where /healthz and /readyz are served")
	fs.StringVar(&o.protectedNamespaces, "protected-namespaces", guard.DefaultProtectedNamespaces, "comma-separated namespaces that no Cleaner may touch, besides the operator's own")
	o.maxScriptMemory = defaultScriptMemory
	fs.Var(&o.maxScriptMemory, "max-script-memory", "how much memory the processes that run scripts may use together, for example 1Gi; the Pod's limit is this, plus --max-selection-memory, plus 256Mi for the operator")
	fs.StringVar(&o.copiesPath, "copies-path", "", "directory for the copies of Cleaners with rollback.storage Volume or storeResourcePath: mount a volume there; without it, such Cleaners are refused")
	fs.StringVar(&o.s3Secret, "s3-secret", "", "name of the Secret in the operator's namespace that describes the S3 bucket for Cleaners with rollback.storage S3; its keys are endpoint, bucket, region, prefix, accessKey, secretKey and insecure; without it, such Cleaners are refused")
	o.maxSelection = selector.DefaultMaxMemory
	fs.Var(&o.maxSelection, "max-selection-memory", "how much memory the objects that all runs select may take together, with their events and patches, for example 256Mi; each run may take 1Mi in addition; a run that does not get the memory that it needs ends, and touches nothing")
	o.maxCopies = journal.DefaultMaxCopiesBytes
	fs.Var(&o.maxCopies, "max-copies-bytes", "how much the copies that all runs keep may take together, as they are stored, for example 256Mi; beyond it the oldest are dropped")
	fs.StringVar(&o.notifyCAFile, "notify-ca-file", "", "file with certificates (PEM) of authorities that notifications and metric sources trust besides the system's, for services with a certificate of your own")
	fs.Var(&o.notifyHosts, "allowed-notification-hosts", "comma-separated hosts, without ports, that are refused by default, but may get notifications: the operator's own machine (loopback, for example for a relay beside the operator), the API server and, for Cleaners that name a ServiceAccount, private addresses")
	fs.Var(&o.metricHosts, "allowed-metric-hosts", "comma-separated hosts, without ports, that the metricSource of Cleaners may name besides the cluster's Services (NAME.NAMESPACE.svc); a Cleaner may send to these hosts the credentials of any Secret that it names")
	fs.StringVar(&o.dashboardURL, "dashboard-url", "", "address of KubeCleaner's dashboard, for example https://cleaner.example.com; notifications then have links to it; without it, notifications name commands only")
	fs.StringVar(&o.tracingEndpoint, "tracing-endpoint", "", "address of an OpenTelemetry collector that gets a trace of each run, by OTLP over HTTP, for example http://otel-collector.observability:4318; OTEL_EXPORTER_OTLP_HEADERS and OTEL_TRACES_SAMPLER work too; without it, there are no traces")
	fs.StringVar(&o.logLevel, "log-level", "info", "what is logged: error, info or debug")
	fs.StringVar(&o.logFormat, "log-format", "json", "format of the log: json or text")
	for name, isBool := range unused {
		const usage = "accepted for k8s-cleaner's sake; does nothing"
		if isBool {
			fs.Bool(name, false, usage)
		} else {
			fs.String(name, "", usage)
		}
	}
}

// bytes is an amount of memory, written as in a Pod's resources: 512Mi, 1Gi.
type bytes int64

// String implements flag.Value.
func (b *bytes) String() string { return resource.NewQuantity(int64(*b), resource.BinarySI).String() }

// Set implements flag.Value.
func (b *bytes) Set(text string) error {
	quantity, err := resource.ParseQuantity(text)
	if err != nil { // it says which regular expression the text does not match
		return errors.New("write an amount of memory such as 512Mi")
	}
	*b = bytes(quantity.Value())
	return nil
}

// validate returns all problems at once.
func (o *options) validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(o.maxParallelRuns >= 1, "--max-parallel-runs is %d; it must be at least 1", o.maxParallelRuns)
	check(o.maxActions >= 0, "--max-actions-per-run is %d; it must not be negative (0 means any number)", o.maxActions)
	check(o.concurrentReconcile >= 1, "--concurrent-reconciles is %d; it must be at least 1", o.concurrentReconcile)
	check(o.qps >= 0, "--kube-api-qps is %v; it must not be negative (0 means no limit)", o.qps)
	check(o.burst >= 0, "--kube-api-burst is %d; it must not be negative", o.burst)
	check(int64(o.maxScriptMemory) >= minScriptMemory, "--max-script-memory is %s; it must be at least %s",
		&o.maxScriptMemory, resource.NewQuantity(minScriptMemory, resource.BinarySI))
	check(o.leaseDuration >= time.Second && o.leaseDuration%time.Second == 0, "--leader-elect-lease-duration is %s; write whole seconds, at least 1s", o.leaseDuration)
	check(o.renewDeadline < o.leaseDuration, "--leader-elect-renew-deadline is %s; it must be less than --leader-elect-lease-duration (%s)", o.renewDeadline, o.leaseDuration)
	check(o.retryPeriod > 0 && 2*o.retryPeriod <= o.renewDeadline, "--leader-elect-retry-period is %s; it must be positive, and at most half of --leader-elect-renew-deadline (%s)", o.retryPeriod, o.renewDeadline)
	check(o.copiesPath == "" || filepath.IsAbs(o.copiesPath), "--copies-path is %q; it must be an absolute path",
		o.copiesPath)
	check(o.s3Secret == "" || len(validation.IsDNS1123Subdomain(o.s3Secret)) == 0,
		"--s3-secret is %q; it must be the name of a Secret", o.s3Secret)
	check(o.jitterWindow >= 0, "--jitter-window is %s; it must not be negative: runs never start early", o.jitterWindow)
	check(o.maxSelection > 0, "--max-selection-memory is %s; it must be positive", &o.maxSelection)
	check(o.tracingEndpoint == "" || egress.IsHTTPAddress(o.tracingEndpoint), "--tracing-endpoint is not right; write an address such as http://otel-collector.observability:4318, without a user or a password: those go into the environment variable OTEL_EXPORTER_OTLP_HEADERS")
	check(o.dashboardURL == "" || egress.IsOrigin(o.dashboardURL), "--dashboard-url is %q; write an address such as https://cleaner.example.com, without a path", o.dashboardURL)
	check(o.maxCopies > 0, "--max-copies-bytes is %s; it must be positive", &o.maxCopies)
	check(o.syncPeriod > 0, "--sync-period is %s; it must be positive", o.syncPeriod)
	errs = append(errs, validateLogs(o.logLevel, o.logFormat)...)
	for _, namespace := range o.protected() {
		check(len(validation.IsDNS1123Label(namespace)) == 0, "--protected-namespaces has %q, which is not the name of a namespace", namespace)
	}
	check(len(validation.IsDNS1123Label(o.namespace)) == 0, "the environment variable NAMESPACE is %q, which is not the name of a namespace", o.namespace)
	return errors.Join(errs...)
}

func validateLogs(level, format string) (errs []error) {
	if !slices.Contains([]string{"error", "info", "debug"}, level) {
		errs = append(errs, fmt.Errorf("--log-level is %q; write error, info or debug", level))
	}
	if !slices.Contains([]string{"json", "text"}, format) {
		errs = append(errs, fmt.Errorf("--log-format is %q; write json or text", format))
	}
	return errs
}

// protected are the namespaces that no Cleaner may touch, besides the operator's.
func (o *options) protected() []string {
	var names []string
	for name := range strings.SplitSeq(o.protectedNamespaces, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// dashes writes the underscores in flags' names as dashes.
func dashes(args []string) []string {
	out := slices.Clone(args)
	for i, arg := range out {
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		name, value, hasValue := strings.Cut(arg, "=")
		out[i] = strings.ReplaceAll(name, "_", "-")
		if hasValue {
			out[i] += "=" + value
		}
	}
	return out
}

func printUsage(w io.Writer, fs *flag.FlagSet) {
	fmt.Fprintln(w, "The KubeCleaner operator. It runs the Cleaners of a cluster.\n"+
		"With the word dashboard as the first argument, it serves the dashboard (a web page) instead: see manager dashboard --help.\n\nFlags:")
	printFlags(w, fs)
	fmt.Fprintln(w, "\nEnvironment:\n  NAMESPACE                     the operator's own namespace (default "+defaultNamespace+")")
}

func printFlags(w io.Writer, fs *flag.FlagSet) {
	fs.VisitAll(func(f *flag.Flag) {
		if _, ok := unused[f.Name]; ok {
			return
		}
		standard := ""
		if f.DefValue != "" && f.DefValue != "false" && f.Name != "worker-number" {
			standard = fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(w, "  --%-27s %s%s\n", f.Name, f.Usage, standard)
	})
}
