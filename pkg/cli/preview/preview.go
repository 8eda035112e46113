// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package preview is kubectl cleaner preview: what Cleaners would do now, judged by the very code that a run is made
// of.
package preview

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/egress"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// options are the flags of preview.
type options struct {
	*terminal.Session
	cluster.Connection

	files, from         []string
	selector            string
	namespaces          []string
	complete, askAll    bool
	output              string
	at                  string
	only                []string
	failOn, limit       int64
	timeout             time.Duration
	operatorNamespace   string
	protectedNamespaces string
	maxActions          int
	metricHosts         string
	progress            string
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	o := &options{Session: s}
	cmd := &cobra.Command{
		Use:   "preview NAME... | -l SELECTOR | -f FILE",
		Short: "Show what Cleaners would do now, without doing it",
		Long: "Judges the objects of the cluster as the operator would, and shows what a run would do with each of them and why. It saves\n" +
			"and changes nothing. For one object of each kind, it asks the API server with a dry run whether the change would be allowed.\n" +
			"If the API server refuses, it asks for up to 20 objects of that kind.\n\n" +
			"It reads the cluster with your own rights. With --as system:serviceaccount:NAMESPACE:NAME, it judges with the rights of that\n" +
			"account, and reads only the Cleaner with yours. It does not apply occurrenceThreshold and forSeconds.\n\n" +
			"NAME is a Cleaner of the cluster, and SELECTOR chooses those with labels. FILE holds Cleaners: it is a file, a directory, an\n" +
			"address (https://), or - for the standard input. With --from, the objects come from manifests, and no cluster is needed.\n\n" +
			"It also takes kubectl's flags for connecting to a cluster, such as --cluster, --user, --server and --token.",
		Example: "  kubectl cleaner preview -f cleaner.yaml\n" +
			"  kubectl cleaner preview unused-configmaps --only ConfigMap/default/settings\n" +
			"  kubectl cleaner preview -l team=a -n shop\n" +
			"  kubectl get configmaps,pods -A -o yaml > dump.yaml; kubectl cleaner preview -f cleaner.yaml --from dump.yaml\n" +
			"  kubectl cleaner preview -f cleaner.yaml -o name --fail-on-findings",
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&o.files, "filename", "f", nil, "a file with Cleaners, a directory, https://... or - (may be given several times)")
	cluster.BindSelector(flags, &o.selector)
	flags.StringSliceVarP(&o.namespaces, "namespace", "n", nil, "show only objects in these namespaces; the counts include all namespaces (default: all namespaces)")
	cluster.BindAllNamespaces(flags, "show objects of all namespaces, which is the default")
	flags.BoolVar(&o.complete, "complete", false, "with --from: assume that the manifests hold all objects of the cluster, and that the cluster has no objects of other kinds")
	flags.StringArrayVar(&o.from, "from", nil, "judge the objects of this file or directory of manifests, or - for the standard input, instead of a cluster's, for example what kubectl get -o yaml printed (may be given several times)")
	flags.BoolVar(&o.askAll, "dry-run-all", false, "ask the API server, as a dry run, about every object that would be touched, not only about one of each kind")
	flags.VarP(terminal.NewChoice(&o.output, "table", "wide", "json", "yaml", "name"), "output", "o", "what to print: table, wide, json, yaml or name (KIND/NAMESPACE/NAME of what would be touched)")
	flags.StringVar(&o.at, "now", "", "judge as if it were this time, for example 2026-12-24T18:00:00Z")
	flags.StringArrayVar(&o.only, "only", nil, "show only this object, KIND/NAMESPACE/NAME or KIND/NAME, and why it does not match if it does not (may be given several times)")
	flags.Int64Var(&o.failOn, "fail-on-findings", 0, "exit with 3 if at least N objects would be deleted, changed or reported; N is 1 if you give no number")
	flags.Int64Var(&o.limit, "limit", 50, "how many rows and patches to show of each Cleaner; 0 means all, with a row for each object. The other outputs hold all objects")
	flags.Lookup("fail-on-findings").NoOptDefVal = "1"
	flags.DurationVar(&o.timeout, "timeout", 0, "give up after this time, for example 5m; 0 means never")
	flags.StringVar(&o.operatorNamespace, "operator-namespace", "", "the operator's namespace, which no Cleaner may touch (default: "+cluster.DefaultOperatorNamespace+")")
	flags.StringVar(&o.protectedNamespaces, "protected-namespaces", guard.DefaultProtectedNamespaces, "the operator's flag: comma-separated namespaces that no Cleaner may touch")
	flags.IntVar(&o.maxActions, "max-actions-per-run", 0, "the operator's flag: how many objects a run may delete or change; 0 means any number")
	flags.StringVar(&o.metricHosts, "allowed-metric-hosts", "", "the operator's flag: comma-separated hosts that a metricSource may name besides the cluster's Services")
	flags.Var(terminal.ProgressChoice(&o.progress), "progress", "how to show the progress of long work: auto, plain, json or none")
	o.Bind(flags)
	cmd.ValidArgsFunction = cluster.CompleteCleaners(s, &o.Connection)
	_ = cmd.RegisterFlagCompletionFunc("only", o.completeObjects) // it fails only for a flag that does not exist
	return cmd
}

// job is one call of preview.
type job struct {
	*options
	api *cluster.Client
	// self is the cluster as you see it, without --as: the Cleaners are yours to read, and the operator reads some things
	// with its own rights.
	self    *cluster.Client
	dump    *dump.Cluster // nil for a cluster
	scripts *sandbox.Pool
	now     cluster.Instant
	only    []cluster.Ref
	// wanted are the labels of --selector.
	wanted labels.Selector
	// allowedHosts are those of --allowed-metric-hosts.
	allowedHosts egress.Hosts
	several      bool // whether there are several Cleaners
	exit         int
	findings     int64
	results      []result
	rows         *terminal.Table
	// shared is whether a row stands for several objects.
	shared bool
	// documents are the Cleaners of files as they stand there, and warnings is how much lint warns of.
	documents map[*v1alpha1.Cleaner]*manifest.Document
	warnings  int
	// others is how many objects of the files are no Cleaners.
	others int
	// missing are the kinds that Cleaners select and of which the manifests of --from hold nothing.
	missing []object.Kind
	// unknown is how many objects are found so only if nothing uses them that is missing from the manifests, and lacks is
	// whether a Cleaner would touch nothing because of what is missing.
	unknown int64
	lacks   bool
	// drops is whether the API server does not keep all fields of Cleaners: then no run begins.
	drops bool
	// patched are the objects of several Cleaners whose patches are shown after all rows.
	patched []run.PreviewItem
}

// run checks the flags, and previews one Cleaner after the other.
func (o *options) run(cmd *cobra.Command, names []string) error {
	job := &job{options: o, now: cluster.Instant(o.Now())}
	if err := o.check(cmd, names, job); err != nil {
		return err
	}
	ctx := logr.NewContext(cmd.Context(), logr.Discard())
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.timeout, &terminal.Failure{
			Exit: codes.ExitError,
			Code: codes.PreviewTimeout, Err: fmt.Errorf("gave up after %s (--timeout); nothing was changed", o.timeout),
		})
		defer cancel()
	}
	job.scripts = sandbox.New(o.Scripts)
	defer job.scripts.Close()
	cleaners, err := job.open(ctx, names)
	if err != nil {
		return terminal.OrStopped(ctx, err)
	}
	job.several = len(cleaners) > 1
	job.rows = job.newTable(cleaners)
	err = job.all(ctx, cleaners)
	job.rows.Flush()
	if err != nil {
		return err
	}
	job.diffs(job.patched)
	if err := job.print(); err != nil {
		return err
	}
	job.reportMissing(ctx)
	job.noteShared()
	job.hint(cleaners, names)
	switch {
	case job.exit != codes.ExitDone:
		return terminal.Quit(job.exit)
	case o.failOn > 0 && job.findings >= o.failOn:
		return terminal.Quit(codes.ExitFindings)
	}
	return nil
}

// all previews one Cleaner after the other. One that cannot run does not keep the others from being judged.
func (j *job) all(ctx context.Context, cleaners []*v1alpha1.Cleaner) error {
	for _, cleaner := range cleaners {
		err := j.preview(ctx, cleaner)
		var f *terminal.Failure
		switch {
		case err == nil:
		case j.several && errors.As(err, &f) && f.Code == codes.CleanerInvalid:
			j.fails(j.Conclude(ctx, err))
		default:
			return err
		}
	}
	return nil
}

// printsTable reports whether the output is a table for people, and not for programs.
func (o *options) printsTable() bool { return o.output == "table" || o.output == "wide" }

// standing is that clock where one is asked for that has timers too, which a preview does not use.
type standing struct {
	clock.RealClock
	cluster.Instant
}

// Now implements clock.PassiveClock.
func (s standing) Now() time.Time { return s.Instant.Now() }

// Since implements clock.PassiveClock.
func (s standing) Since(t time.Time) time.Duration { return s.Instant.Since(t) }
