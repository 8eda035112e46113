// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package imports is kubectl cleaner import: Cleaners from the configuration of other tools.
package imports

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	builtin "github.com/kubecleaner/kubecleaner/pkg/cli/kinds"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// options are the flags of import.
type options struct {
	*terminal.Session
	cluster.Connection
	fromCluster, keepAction bool
	schemas                 []string
}

// source is a tool from which Cleaners are imported.
type source struct {
	name string
	// title is what people call the tool.
	title string
	// reads says what there is none of in files, and lists what there is none of in a cluster, for messages.
	reads, lists string
	// hint is what to do when there is none in a cluster.
	hint string
	// stop is how to make the tool delete nothing any more.
	stop string
	// copies says which copies the tool keeps of what it deletes.
	copies string
	// hasZone is true when the tool has schedules, which mean another time in another zone.
	hasZone bool
	// drafts makes Cleaners of all documents.
	drafts func(j *job, docs []*manifest.Document) ([]*draft, error)
	// list reads the documents of a cluster.
	list func(j *job, ctx context.Context, api *cluster.Client) ([]manifest.Source, error)
}

func sources() []source {
	const cleaners = "no Cleaner"
	const policies = "no CleanupPolicy, ClusterCleanupPolicy or DeletingPolicy, and no object with the label " + ttlLabel + ","
	return []source{
		{
			name: "k8s-cleaner", title: "k8s-cleaner", reads: cleaners, lists: cleaners,
			stop: "stop it", copies: "copies only with spec.rollback", hasZone: true,
			drafts: (*job).cleaners, list: (*job).listCleaners,
		},
		{
			name: "kyverno", title: "Kyverno", reads: policies, lists: strings.TrimSuffix(policies, ","),
			stop: "delete the policies, or stop its cleanup controller,", copies: "no copies", hasZone: true,
			drafts: (*job).policies, list: (*job).listPolicies,
		},
		{
			name: "kube-janitor", title: "kube-janitor",
			reads:  "nothing of kube-janitor, such as a rules file, a workload with its image, or an object with its annotations,",
			lists:  "no Deployment or CronJob with the image of kube-janitor",
			hint:   "give its rules and the manifests with its annotations as files",
			stop:   "stop it",
			copies: "no copies",
			drafts: (*job).janitor, list: (*job).listJanitors,
		},
	}
}

func names() []string {
	var all []string
	for _, s := range sources() {
		all = append(all, s.name)
	}
	return all
}

// job is one call of import.
type job struct {
	*options
	report
	kinds *kinds
	// filters are Kyverno's resourceFilters.
	filters []resourceFilter
	// exceptions are Kyverno's PolicyExceptions.
	exceptions []*exception
	// names are those of the Cleaners so far.
	names map[string]int
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	o := &options{Session: s}
	cmd := &cobra.Command{
		Use:   "import (k8s-cleaner|kyverno|kube-janitor) (FILE... | --from-cluster)",
		Short: "Write Cleaners from the configuration of another tool",
		Long: "Prints Cleaners that do what your k8s-cleaner, Kyverno cleanup policies or kube-janitor do. They only report, unless\n" +
			"--keep-action is given. If something cannot be carried over, the standard error has the line of the source and what to do, and\n" +
			"the exit code is 4. A condition that cannot be carried over becomes a condition that no object meets. So the Cleaner never\n" +
			"selects more than its source.\n\n" +
			"FILE is a file, a directory with all the .yaml, .yml and .json files below it, an address (https://), or - for the\n" +
			"standard input.",
		Example: "  kubectl cleaner import k8s-cleaner cleaners/ > cleaners.yaml\n" +
			"  kubectl cleaner import kyverno --from-cluster > cleaners.yaml\n" +
			"  kubectl cleaner import kube-janitor rules.yaml deployment.yaml > cleaners.yaml\n" +
			"  kubectl cleaner import kyverno policy.yaml | kubectl cleaner preview -f -",
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return names(), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	cmd.Flags().BoolVar(&o.fromCluster, "from-cluster", false, "read what the tool has in the cluster, instead of files")
	cmd.Flags().BoolVar(&o.keepAction, "keep-action", false,
		"let the Cleaners delete and change what their source deletes and changes, instead of only reporting it")
	cmd.Flags().
		StringArrayVar(&o.schemas, "schemas", nil, "a file or directory with schemas of more kinds, as for lint (may be given several times)")
	o.Bind(cmd.Flags())
	return cmd
}

// from finds the tool, and checks that there is something to read.
func (o *options) from(cmd *cobra.Command, args []string) (source, error) {
	if len(args) == 0 {
		return source{}, terminal.UsageError(cmd, "needs the name of a tool: "+terminal.OrList(names()))
	}
	for _, known := range sources() {
		if known.name != args[0] {
			continue
		}
		switch {
		case o.fromCluster && len(args) > 1:
			return source{}, terminal.UsageError(cmd, "reads files or, with --from-cluster, the cluster; leave one of them out")
		case !o.fromCluster && len(args) == 1:
			return source{}, terminal.UsageError(cmd, "needs a file, or --from-cluster")
		case !o.fromCluster && o.Given() != "":
			return source{}, terminal.UsageError(cmd, "--"+o.Given()+
				" says which cluster to ask; add --from-cluster, or leave it out")
		}
		return known, nil
	}
	message := "there is nothing to import from " + terminal.Quoted(args[0])
	if near := suggest.Nearest(args[0], names()); near != "" {
		return source{}, terminal.UsageError(cmd, message+"; did you mean "+terminal.Quoted(near)+"?")
	}
	return source{}, terminal.UsageError(cmd, message+"; write "+terminal.OrList(names()))
}

func (o *options) run(cmd *cobra.Command, args []string) error {
	from, err := o.from(cmd, args)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	j := &job{options: o, kinds: newKinds(), names: map[string]int{}}
	read, err := j.read(ctx, from, args[1:])
	if err != nil {
		return err
	}
	var docs []*manifest.Document
	for _, file := range read {
		found, broken := file.Documents()
		docs, j.problems = append(docs, found...), append(j.problems, broken...)
	}
	drafts, err := from.drafts(j, docs)
	if err != nil {
		return err
	}
	written, err := j.write(ctx, drafts)
	if err != nil {
		return err
	}
	j.reportDifferences(from, written)
	return j.conclude(from, args[1:], len(written))
}

func (j *job) read(ctx context.Context, from source, files []string) ([]manifest.Source, error) {
	if !j.fromCluster {
		return manifest.Read(j.Session, files)
	}
	api, err := cluster.Connect(j.Session, &j.Connection)
	if err != nil {
		return nil, err
	}
	return from.list(j, ctx, api)
}

// write checks each Cleaner as lint does, and prints those that pass.
func (j *job) write(ctx context.Context, drafts []*draft) (written []*draft, err error) {
	pool := sandbox.New(j.Scripts)
	defer pool.Close()
	checker, err := check.New(j.Session, pool)
	if err != nil {
		return nil, err
	}
	known, err := builtin.Read(j.Session, j.schemas)
	if err != nil {
		return nil, err
	}
	for _, d := range drafts {
		passed, err := j.passes(ctx, linter{checker, known}, d)
		if err != nil {
			return written, err
		}
		if passed {
			fmt.Fprint(j.Out, d.String())
			written = append(written, d)
		}
	}
	return written, nil
}

// conclude says what became of all.
func (j *job) conclude(from source, files []string, written int) error {
	j.print(j.Session)
	lost := j.count()
	// What cannot be read as a manifest is nothing of the tool.
	if written == 0 && manifest.CountErrors(j.problems) == len(j.problems) {
		if !j.fromCluster {
			return terminal.Fail(codes.ImportNothing, fmt.Errorf("there is %s in %s", from.reads, strings.Join(files, " ")), "")
		}
		return terminal.Fail(codes.ImportNothing, fmt.Errorf("there is %s in the cluster", from.lists), from.hint)
	}
	fmt.Fprintln(j.ErrOut, summary(written, lost))
	if lost > 0 {
		return terminal.Quit(codes.ExitPartial)
	}
	if written > 0 {
		j.Note("see what they would do: %s preview -f FILE", terminal.Program)
	}
	return nil
}
