// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// misused says which arguments and flags do not go together, or is empty.
func (o *options) misused(cmd *cobra.Command, names []string) string { //nolint:cyclop // a flat switch over the flags
	switch {
	case len(names) == 0 && len(o.files) == 0 && o.selector == "":
		return "needs the name of a Cleaner, labels of Cleaners (-l SELECTOR), or a file (-f FILE)"
	case o.selector != "" && len(names)+len(o.files) > 0:
		return "takes labels (-l SELECTOR), names or files, and only one of these"
	case len(names) > 0 && len(o.files) > 0:
		return "takes names or files, not both; for files, write -f before each one"
	case len(o.files) == 0 && len(o.from) > 0:
		return "needs -f FILE with --from: without a cluster there are no Cleaners"
	case o.complete && len(o.from) == 0:
		return "--complete needs --from: add --from, or remove --complete"
	case len(o.from) > 0 && (o.askAll || o.Given() != ""):
		return "--from does not use a cluster: remove --" + cmp.Or(o.Given(), "dry-run-all")
	case slices.Contains(o.files, "-") && slices.Contains(o.from, "-"):
		return "reads the standard input once: for the Cleaners (-f -) or for the manifests (--from -)"
	case cmd.Flags().Changed("fail-on-findings") && o.failOn < 1:
		return "--fail-on-findings must be at least 1"
	case o.limit < 0:
		return "--limit must not be negative"
	case o.timeout < 0:
		return "--timeout must not be negative"
	}
	return ""
}

// completeObjects completes --only, also from the manifests of --from.
func (o *options) completeObjects(
	cmd *cobra.Command,
	args []string,
	begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	known := &search.Flags{Session: o.Session, Connection: o.Connection, From: o.from}
	return known.CompleteObjects(cmd, args, begun)
}

// check reads the flags that have a syntax of their own.
func (o *options) check(cmd *cobra.Command, names []string, job *job) error {
	if wrong := o.misused(cmd, names); wrong != "" {
		return terminal.UsageError(cmd, wrong)
	}
	var err error
	if job.wanted, err = cluster.ParseSelector(cmd, o.selector); err != nil {
		return err
	}
	if err := job.allowedHosts.Set(o.metricHosts); err != nil {
		return terminal.UsageError(cmd, "--allowed-metric-hosts: "+terminal.OneLine(err.Error()))
	}
	if o.at != "" {
		at, err := cluster.ParseTime("now", o.at)
		if err != nil {
			return terminal.UsageError(cmd, err.Error())
		}
		job.now = cluster.Instant(at)
	}
	for _, text := range o.only {
		wanted, ok := cluster.ParseRef(text)
		if !ok {
			return terminal.UsageError(cmd, fmt.Sprintf("--only %q names no object; write KIND/NAMESPACE/NAME, or KIND/NAME for one without a namespace", text))
		}
		job.only = append(job.only, wanted)
	}
	return nil
}
