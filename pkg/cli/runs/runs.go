// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package runs is kubectl cleaner runs: what Cleaners did, and which copies there are.
package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/duration"

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
	output string
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	o := &options{Session: s}
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
	o.Bind(cmd.Flags())
	cmd.ValidArgsFunction = terminal.CompleteFirst(cluster.CompleteCleaners(s, &o.Connection))
	return cmd
}

func (o *options) run(ctx context.Context, name string) error {
	api, err := cluster.Connect(o.Session, &o.Connection)
	if err != nil {
		return err
	}
	if strings.HasPrefix(name, "cleanerrun") && strings.Contains(name, "/") { // as kubectl prints it
		run, err := api.CleanerRun(ctx, name)
		if err != nil {
			return err
		}
		return o.one(ctx, api, run)
	}
	runs, err := api.Runs(ctx)
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
		if err := knows(ctx, api, name, runs); err != nil {
			return err
		}
	}
	return o.printAll(ctx, api, name, of)
}

// knows says that there is no such Cleaner, of which there are no runs either.
func knows(ctx context.Context, c *cluster.Client, cleaner string, runs []v1alpha1.CleanerRun) error {
	_, err := c.Cleaner(ctx, cleaner)
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
func (o *options) printAll(ctx context.Context, api *cluster.Client, cleaner string, runs []v1alpha1.CleanerRun) error {
	if err := o.print(runs); err != nil || o.output != "table" && o.output != "wide" {
		return err
	}
	if off := whyOff(ctx, api, cleaner); off != "" {
		o.Note("Cleaners only report now, because %s", terminal.OneLine(off))
	}
	return nil
}

// whyOff says why the Cleaner, or any without a name, only reports although it may say otherwise. Empty when it does not, or cannot be read.
func whyOff(ctx context.Context, c *cluster.Client, cleaner string) string {
	var list v1alpha1.CleanerList
	request := c.Raw.Get().AbsPath(cluster.CleanerPath("")).Param("limit", "1")
	if cleaner != "" {
		request.Param("fieldSelector", "metadata.name="+cleaner)
	}
	if body, err := cluster.Send(ctx, request); err != nil || json.Unmarshal(body, &list) != nil || len(list.Items) == 0 {
		return ""
	}
	return list.Items[0].Status.DryRunReason
}

func (o *options) print(runs []v1alpha1.CleanerRun) error {
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

func (o *options) row(paint terminal.Paint, run *v1alpha1.CleanerRun) []terminal.Cell {
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
