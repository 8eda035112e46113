// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// runsOptions are the flags of runs.
type runsOptions struct {
	*terminal.Session
	connection
	output string
}

func runsCommand(s *terminal.Session) *cobra.Command {
	o := &runsOptions{Session: s}
	cmd := &cobra.Command{
		Use:   "runs [CLEANER | RUN]",
		Short: "List the runs of Cleaners, and until when they can be undone",
		Long: "Lists the runs of a Cleaner, or of all, the latest first: what they did, how many copies of the objects they keep, and until\n" +
			"when. kubectl cleaner restore RUN brings the objects back. kubectl's other flags of connection (--cluster, --user, --server,\n" +
			"--token ...) are understood as well.\n\n" +
			"Of one run, -o json and -o yaml print its CleanerRun with every object that the run was going to touch. What the CleanerRun has\n" +
			"no room for is in Secrets of the operator's namespace, which you need the right to get. It exits with 4 if they cannot be read.",
		Example: "  kubectl cleaner runs\n  kubectl cleaner runs unused-configmaps -o wide\n  kubectl cleaner runs unused-configmaps-1795230000 -o json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return terminal.UsageError(cmd, fmt.Sprintf("takes the name of one Cleaner or of one run, and was given %d", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), strings.Join(args, "")) },
	}
	cmd.Flags().VarP(terminal.NewChoice(&o.output, "table", "wide", "json", "yaml", "name"), "output", "o", "what to print: table, wide, json, yaml (the CleanerRuns) or name")
	o.bind(cmd.Flags())
	cmd.ValidArgsFunction = terminal.CompleteFirst(completeCleaners(s, &o.connection))
	return cmd
}

func (o *runsOptions) run(ctx context.Context, name string) error {
	api, err := connect(o.Session, &o.connection)
	if err != nil {
		return err
	}
	if strings.HasPrefix(name, "cleanerrun") && strings.Contains(name, "/") { // as kubectl prints it
		run, err := api.cleanerRun(ctx, name)
		if err != nil {
			return err
		}
		return o.one(ctx, api, run)
	}
	runs, err := api.runs(ctx)
	if err != nil {
		return err
	}
	if name = strings.TrimPrefix(name, "cleaner/"); name == "" {
		return o.printAll(ctx, api, "", runs)
	}
	of := slices.DeleteFunc(slices.Clone(runs), func(r v1alpha1.CleanerRun) bool { return r.Spec.Cleaner != name })
	if len(of) == 0 {
		if i := slices.IndexFunc(runs, func(r v1alpha1.CleanerRun) bool { return r.Name == name }); i >= 0 {
			return o.one(ctx, api, &runs[i])
		}
		if err := api.knows(ctx, name, runs); err != nil {
			return err
		}
	}
	return o.printAll(ctx, api, name, of)
}

// knows says that there is no such Cleaner, of which there are no runs either.
func (c *cluster) knows(ctx context.Context, cleaner string, runs []v1alpha1.CleanerRun) error {
	_, err := c.cleaner(ctx, cleaner)
	if err == nil {
		return nil
	}
	var names []string
	for i := range runs {
		names = append(names, runs[i].Spec.Cleaner, runs[i].Name)
	}
	if near := suggest.Nearest(cleaner, names); near != "" {
		return terminal.Fail(codes.CleanerNotFound, fmt.Errorf("there is no cleaner %q in the cluster, and no run of it", cleaner), "did you mean "+terminal.Quoted(near)+"?")
	}
	return err
}

// printAll prints the runs of a Cleaner, or of all without a name, and to people also why Cleaners only report, if they do.
func (o *runsOptions) printAll(ctx context.Context, api *cluster, cleaner string, runs []v1alpha1.CleanerRun) error {
	if err := o.print(runs); err != nil || o.output != "table" && o.output != "wide" {
		return err
	}
	if off := api.whyOff(ctx, cleaner); off != "" {
		o.Note("Cleaners only report now, because %s", terminal.OneLine(off))
	}
	return nil
}

// whyOff says why the Cleaner, or any without a name, only reports although it may say otherwise. Empty when it does not, or cannot be read.
func (c *cluster) whyOff(ctx context.Context, cleaner string) string {
	var list v1alpha1.CleanerList
	request := c.raw.Get().AbsPath(cleanerPath("")).Param("limit", "1")
	if cleaner != "" {
		request.Param("fieldSelector", "metadata.name="+cleaner)
	}
	if body, err := send(ctx, request); err != nil || json.Unmarshal(body, &list) != nil || len(list.Items) == 0 {
		return ""
	}
	return list.Items[0].Status.DryRunReason
}

func (o *runsOptions) print(runs []v1alpha1.CleanerRun) error {
	list := v1alpha1.CleanerRunList{Items: runs}
	list.APIVersion, list.Kind = v1alpha1.GroupVersion.String(), "CleanerRunList"
	for i := range runs {
		runs[i].APIVersion, runs[i].Kind, runs[i].ManagedFields = list.APIVersion, "CleanerRun", nil
	}
	switch o.output {
	case "json":
		return terminal.WriteJSON(o.Out, list)
	case "yaml":
		return terminal.WriteYAML(o.Out, list)
	case "name":
		for i := range runs {
			fmt.Fprintln(o.Out, "cleanerrun/"+runs[i].Name)
		}
		return nil
	}
	if len(runs) == 0 {
		o.Note("there are no runs")
		return nil
	}
	rows := &terminal.Table{Out: o.Out, Paint: o.Paint(o.Out), Header: []string{"NAME", "CLEANER", "ACTION", "PHASE", "WHEN", "ACTED", "COPIES", "KEPT UNTIL"}}
	if o.output == "wide" {
		rows.Header = append(rows.Header, "TRIGGER", "MATCHED", "SKIPPED", "FAILED", "STORAGE", "SIZE", "WHY")
	}
	for i := range runs {
		rows.Add(o.row(rows.Paint, &runs[i]))
	}
	rows.Flush()
	return nil
}

func (o *runsOptions) row(paint terminal.Paint, run *v1alpha1.CleanerRun) []terminal.Cell {
	var copies, until, storage, size string
	if kept := run.Status.Copies; kept != nil {
		copies, until = fmt.Sprint(kept.Objects), kept.ExpirationTime.UTC().Format(time.RFC3339)
		storage, size = string(kept.Storage), resource.NewQuantity(kept.Bytes, resource.BinarySI).String()
		if kept.Dropped != "" {
			until = "dropped: " + kept.Dropped
		}
	}
	phase := terminal.Cell{Text: string(run.Status.Phase)}
	switch run.Status.Phase {
	case v1alpha1.RunCompleted:
		phase.In = paint.Green
	case v1alpha1.RunFailed, v1alpha1.RunInterrupted:
		phase.In = paint.Red
	}
	row := []terminal.Cell{
		{Text: run.Name},
		{Text: run.Spec.Cleaner},
		{Text: string(run.Spec.Action)},
		phase,
		{Text: duration.HumanDuration(max(0, o.Now().Sub(run.Spec.NominalTime.Time))) + " ago"}, // the clocks may differ
		{Text: fmt.Sprint(run.Status.Acted)},
		{Text: copies},
		{Text: until},
	}
	if o.output != "wide" {
		return row
	}
	return append(row, terminal.Cell{Text: string(run.Spec.Trigger)}, terminal.Cell{Text: fmt.Sprint(run.Status.Matched)}, terminal.Cell{Text: fmt.Sprint(run.Status.Skipped)},
		terminal.Cell{Text: fmt.Sprint(run.Status.Failed)}, terminal.Cell{Text: storage}, terminal.Cell{Text: size}, terminal.Cell{Text: run.Status.Message})
}

// runs are all CleanerRuns, the latest first.
func (c *cluster) runs(ctx context.Context) ([]v1alpha1.CleanerRun, error) {
	runs := []v1alpha1.CleanerRun{} // a list without any is [] for programs
	err := list[v1alpha1.CleanerRunList](ctx, c, runPath(""), func(run *v1alpha1.CleanerRun) { runs = append(runs, *run) })
	switch {
	case apierrors.IsNotFound(err):
		return nil, c.noCleaner(ctx, "")
	case err != nil:
		return nil, requestError("listing the CleanerRuns", err)
	}
	slices.SortStableFunc(runs, func(a, b v1alpha1.CleanerRun) int { return b.Spec.NominalTime.Compare(a.Spec.NominalTime.Time) })
	return runs, nil
}

// cleanerRun reads a CleanerRun. The error about one that does not exist names the nearest one.
func (c *cluster) cleanerRun(ctx context.Context, name string) (*v1alpha1.CleanerRun, error) {
	name = name[strings.LastIndex(name, "/")+1:] // as kubectl prints it
	var run v1alpha1.CleanerRun
	err := c.read(ctx, runPath(name), &run)
	switch {
	case err == nil && run.Name == name && name != "":
		return &run, nil
	case err != nil && !apierrors.IsNotFound(err):
		return nil, requestError("reading the CleanerRun "+name, err)
	}
	runs, err := c.runs(ctx)
	if err != nil {
		return nil, err
	}
	hint := "list them with: kubectl cleaner runs"
	names := make([]string, 0, len(runs))
	for i := range runs {
		names = append(names, runs[i].Name)
		if runs[i].Spec.Cleaner == name {
			hint = "that is a Cleaner; its runs: kubectl cleaner runs " + name
		}
	}
	if near := suggest.Nearest(name, names); near != "" {
		hint = "did you mean " + terminal.Quoted(near) + "?"
	}
	return nil, terminal.Fail(codes.RunNotFound, fmt.Errorf("there is no run %q in the cluster", name), hint)
}

// completeRuns completes the names of the runs that keep copies.
func completeRuns(s *terminal.Session, c *connection) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		api, err := connect(s, c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		runs, _ := api.runs(cmd.Context()) // none, when it fails
		var names []cobra.Completion
		for i := range runs {
			if kept := runs[i].Status.Copies; kept != nil && kept.Dropped == "" {
				names = append(names, cobra.CompletionWithDesc(runs[i].Name, fmt.Sprintf("%s, copies of %s", runs[i].Spec.Action, terminal.Grouped(kept.Objects, "object"))))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
