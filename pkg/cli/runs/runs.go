// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package runs is kubectl cleaner runs: what Cleaners did, and which copies there are.
package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// options are the flags of runs.
type options struct {
	*terminal.Session
	cluster.Connection
	filter

	output string
	limit  int
	// limited is whether --limit was given.
	limited bool
	diffs   bool
	// selector chooses Cleaners, and chosen are their names. Nil means all.
	selector string
	chosen   map[string]bool
	// waiting asks for runs whose plan waits for approval.
	waiting bool
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	o := &options{Session: s}
	cmd := &cobra.Command{
		Use:   "runs [CLEANER | RUN]",
		Short: "List the runs of Cleaners, or what one run did, and until when it can be undone",
		Long: "Lists the runs of a Cleaner, or of all Cleaners, the latest first: what they did, how many copies of objects they keep, and\n" +
			"until when. A run that waits for its turn is listed as Waiting. kubectl cleaner restore RUN restores the objects.\n\n" +
			"--waiting lists the runs whose plan waits for a person: kubectl cleaner approve RUN. -l selects Cleaners by label.\n\n" +
			"With the name of a run, it prints what became of each object: first what failed, then what was done and what matched, and\n" +
			"last what is protected. If there are more than --limit objects, it first counts them by outcome, kind and namespace.\n" +
			"--limit 0 lists all objects. --diff compares the run with the one before it, also with -o json. With these flags, the name of a\n" +
			"Cleaner means its latest run.\n\n" +
			"-o json and -o yaml print the CleanerRun with the objects that are stored. Those that do not fit into the 256 KiB of the\n" +
			"CleanerRun are in Secrets of the operator's namespace, and you need the right to get them. If they cannot be read, it exits\n" +
			"with 4. For a run that touched nothing, such as a Scan, up to 8 MiB of objects are kept there, for the latest two such runs of\n" +
			"a Cleaner. For a run that touched something, the objects that it left alone from the beginning are not kept there.\n\n" +
			"It also takes kubectl's flags for connecting to a cluster, such as --cluster, --user, --server and --token.",
		Example: "  kubectl cleaner runs\n  kubectl cleaner runs -l team=a --waiting\n  kubectl cleaner runs unused-configmaps -o wide\n  kubectl cleaner runs unused-configmaps-1795230000\n" +
			"  kubectl cleaner runs unused-configmaps-1795230000 --outcome Failed,Denied --namespace shop\n" +
			"  kubectl cleaner runs unused-configmaps --diff\n  kubectl cleaner runs unused-configmaps-1795230000 -o json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return terminal.UsageError(cmd, fmt.Sprintf("takes the name of one Cleaner or of one run, and was given %d", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.limited = cmd.Flags().Changed("limit")
			if err := o.misused(len(args) > 0); err != "" {
				return terminal.UsageError(cmd, err)
			}
			wanted, err := cluster.ParseSelector(cmd, o.selector)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), strings.Join(args, ""), wanted)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&o.outcomes, "outcome", nil, "for one run: only objects of these outcomes, for example Failed,Deleted")
	flags.StringSliceVarP(&o.namespaces, "namespace", "n", nil, "for one run: only objects in these namespaces (default: all namespaces)")
	cluster.BindAllNamespaces(flags, "for one run: objects of all namespaces, which is the default")
	flags.StringSliceVar(&o.kinds, "kind", nil, "for one run: only objects of these kinds: KIND or KIND.GROUP")
	flags.BoolVar(&o.diffs, "diff", false, "for one run: only what differs from the run before")
	flags.BoolVar(&o.waiting, "waiting", false, "only runs whose plan waits for a person to approve it")
	flags.IntVar(&o.limit, "limit", 50, "for one run: how many objects to list; 0 lists all recorded objects")
	flags.VarP(terminal.NewChoice(&o.output, "table", "wide", "json", "yaml", "name"), "output", "o", "what to print: table, wide, json, yaml (the CleanerRuns) or name")
	cluster.BindSelector(flags, &o.selector)
	o.Bind(flags)
	o.complete(cmd)
	return cmd
}

// misused says what is wrong with the flags. Empty when nothing is.
func (o *options) misused(named bool) string {
	switch {
	case o.limit < 0:
		return "--limit must be at least 0"
	case o.ofOne() && !named:
		return "--outcome, --namespace, --kind, --limit and --diff are for one run: write its name, or that of its Cleaner"
	case o.waiting && o.ofOne():
		return "--waiting lists runs; leave it out, or the flags that are for one run"
	case o.selector != "" && named:
		return "--selector chooses Cleaners; leave it out, or the name"
	case o.diffs && (o.output == "wide" || o.output == "name"):
		return "--diff prints a table, json or yaml; leave -o " + o.output + " out"
	}
	return o.check()
}

// ofOne reports whether the flags ask for one run.
func (o *options) ofOne() bool { return o.diffs || o.limited || !o.isEmpty() }

func (o *options) run(ctx context.Context, name string, wanted labels.Selector) error {
	api, err := cluster.Connect(o.Session, &o.Connection)
	if err != nil {
		return err
	}
	if isRun(name) && !o.diffs && !o.waiting {
		run, err := api.CleanerRun(ctx, name)
		if err != nil {
			return err
		}
		return o.one(ctx, api, run)
	}
	if err := o.choose(ctx, api, wanted); err != nil {
		return err
	}
	runs, err := api.Runs(ctx)
	if err != nil {
		return err
	}
	return o.show(ctx, api, name[strings.LastIndex(name, "/")+1:], runs) // as kubectl prints it
}

// show prints what the name asks for: all runs without one, those of a Cleaner, or one.
func (o *options) show(ctx context.Context, api *cluster.Client, name string, runs []v1alpha1.CleanerRun) error {
	if name == "" {
		return o.printAll(ctx, api, "", o.listed(runs))
	}
	of := slices.DeleteFunc(slices.Clone(runs), func(r v1alpha1.CleanerRun) bool { return r.Spec.Cleaner != name })
	switch {
	case len(of) == 0:
		return o.named(ctx, api, name, runs)
	case o.ofOne():
		return o.oneOrDiff(ctx, api, &of[0], runs)
	}
	return o.printAll(ctx, api, name, o.listed(of))
}

// isRun reports whether a name is that of a run, as kubectl prints it.
func isRun(name string) bool {
	return strings.HasPrefix(name, "cleanerrun") && strings.Contains(name, "/")
}

// choose reads which Cleaners have the labels.
func (o *options) choose(ctx context.Context, api *cluster.Client, wanted labels.Selector) error {
	if wanted.Empty() {
		return nil
	}
	cleaners, err := api.Selected(ctx, wanted)
	if err != nil {
		return err
	}
	o.chosen = map[string]bool{}
	for _, cleaner := range cleaners {
		o.chosen[cleaner.Name] = true
	}
	return nil
}

// isChosen reports whether runs of the Cleaner are asked for.
func (o *options) isChosen(cleaner string) bool { return o.chosen == nil || o.chosen[cleaner] }

// listed are the runs that a list has: those of the Cleaners that are asked for and, with --waiting, only those whose
// plan waits.
func (o *options) listed(runs []v1alpha1.CleanerRun) []v1alpha1.CleanerRun {
	return slices.DeleteFunc(slices.Clone(runs), func(r v1alpha1.CleanerRun) bool {
		return !o.isChosen(r.Spec.Cleaner) || o.waiting && r.Status.Phase != v1alpha1.RunAwaitingApproval
	})
}

// named prints the run of that name. If there is none, it is the name of a Cleaner without runs.
func (o *options) named(ctx context.Context, api *cluster.Client, name string, runs []v1alpha1.CleanerRun) error {
	i := slices.IndexFunc(runs, func(r v1alpha1.CleanerRun) bool { return r.Name == name })
	switch {
	case i >= 0 && o.waiting:
		return o.ifWaiting(&runs[i])
	case i >= 0:
		return o.oneOrDiff(ctx, api, &runs[i], runs)
	}
	if err := knows(ctx, api, name, runs); err != nil {
		return err
	}
	return o.printAll(ctx, api, name, runs[:0])
}

// ifWaiting lists the run if its plan waits, and otherwise says what became of it.
func (o *options) ifWaiting(run *v1alpha1.CleanerRun) error {
	if run.Status.Phase != v1alpha1.RunAwaitingApproval {
		o.Note("run %s does not wait for approval: it is %s; to see what it did: %s runs %s",
			run.Name, phaseWords(run), terminal.Program, run.Name)
		if o.output == "table" || o.output == "wide" {
			return nil
		}
	}
	return o.print(o.listed([]v1alpha1.CleanerRun{*run}), nil)
}

func (o *options) oneOrDiff(ctx context.Context, api *cluster.Client, run *v1alpha1.CleanerRun,
	runs []v1alpha1.CleanerRun,
) error {
	if o.diffs {
		return o.diff(ctx, api, run, runs)
	}
	return o.one(ctx, api, run)
}

// knows says that there is no such Cleaner, of which there are no runs either.
func knows(ctx context.Context, c *cluster.Client, cleaner string, runs []v1alpha1.CleanerRun) error {
	_, err := c.Cleaner(ctx, cleaner)
	var failure *terminal.Failure
	if err == nil || !errors.As(err, &failure) || failure.Code != codes.CleanerNotFound {
		return err
	}
	var names []string
	for i := range runs {
		names = append(names, runs[i].Spec.Cleaner, runs[i].Name)
	}
	if near := suggest.Nearest(cleaner, names); near != "" {
		return terminal.Fail(codes.CleanerNotFound, fmt.Errorf("there is no cleaner %q in the cluster, and no run of it",
			cleaner), "did you mean "+terminal.Quoted(near)+"?")
	}
	return err
}
