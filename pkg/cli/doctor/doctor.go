// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package doctor is kubectl cleaner doctor: what is wrong with an installation of KubeCleaner. It only reads. What it
// may not read is unknown, and never well.
package doctor

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// options are the flags of doctor.
type options struct {
	*terminal.Session
	cluster.Connection
	output            string
	progress          string
	operatorNamespace string
	selector          string
	// wanted are the labels of the Cleaners that are checked.
	wanted labels.Selector
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	o := &options{Session: s}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation: operator, Cleaners, rights, channels and copies",
		Long: "Checks the installation of KubeCleaner. For each problem, it prints a line with the cause and what to do. It also prints a line for\n" +
			"each check that found no problem. It changes nothing. With -l, it checks the installation, and of the Cleaners only those with these labels.\n\n" +
			"OK: nothing is wrong. WARN: it works, but look at it. FAIL: something does not work. UNKNOWN: you may not read what the check needs;\n" +
			"the line says which right is missing.\n\n" +
			"It exits with 0 if all is well, with 1 if there is a FAIL, and with 4 if there is a WARN or an UNKNOWN and no FAIL.",
		Example: "  kubectl cleaner doctor\n  kubectl cleaner doctor -l team=a\n  kubectl cleaner doctor -o json",
		Args:    terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.wanted, err = cluster.ParseSelector(cmd, o.selector); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cluster.BindSelector(cmd.Flags(), &o.selector)
	cmd.Flags().
		VarP(terminal.NewChoice(&o.output, "table", "json", "yaml"), "output", "o", "what to print: table, json or yaml")
	cmd.Flags().
		Var(terminal.ProgressChoice(&o.progress), "progress", "how to show the progress of long work: auto, plain, json or none")
	cluster.BindOperatorNamespace(cmd.Flags(), &o.operatorNamespace)
	o.Bind(cmd.Flags())
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

// checks are all of them, in the order in which they are printed: a later one may be the consequence of an earlier one.
func checks() []check {
	return []check{
		{"operators", (*patient).operators},
		{"api-server", (*patient).apiServer},
		{"crds", (*patient).definitions},
		{"apiservices", (*patient).apiServices},
		{"operator", (*patient).operator},
		{"leader", (*patient).leader},
		{"versions", (*patient).versions},
		{"k8s-cleaner", (*patient).legacy},
		{"stop", (*patient).stopped},
		{"clock", (*patient).clocks},
		{"operator-rights", (*patient).operatorRights},
		{"cleaners", (*patient).ready},
		{"overlaps", (*patient).overlaps},
		{"schedules", (*patient).schedules},
		{"runs", (*patient).runsOf},
		{"rights", (*patient).cleanerRights},
		{"policies", (*patient).policies},
		{"channels", (*patient).channels},
		{"copies", (*patient).copies},
		{"webhooks", (*patient).webhooks},
	}
}

func (o *options) run(ctx context.Context) error {
	api, err := cluster.Connect(o.Session, &o.Connection)
	if err != nil {
		return err
	}
	progress := o.StartProgress(o.progress)
	defer progress.Stop()
	progress.Together()
	progress.Begin("reading the cluster", true)
	p, err := o.examine(ctx, api)
	if err != nil {
		return err
	}
	var lines []Line
	for _, c := range checks() {
		progress.Begin("checking "+c.name, true)
		lines = append(lines, c.look(ctx, p)...)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	progress.Stop()
	for i := range lines {
		lines[i].WayOut = o.Repeated(lines[i].WayOut)
	}
	if err := o.print(lines); err != nil {
		return err
	}
	fmt.Fprintln(o.ErrOut, summary(lines))
	if exit := exitCode(lines); exit != codes.ExitDone {
		return terminal.Quit(exit)
	}
	return nil
}
