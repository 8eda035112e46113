// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// oneScope refuses -n together with -A: one of them would be without effect.
func oneScope(cmd *cobra.Command) error {
	if cmd.Flags().Changed("namespace") && cmd.Flags().Changed("all-namespaces") {
		return terminal.UsageError(cmd, "takes -n or -A, not both: -n names a namespace, and -A means all of them")
	}
	return nil
}

// noScope says why a command has no -n or no -A. kubectl ignores them for kinds that belong to no namespace; here they
// could hide that a command reaches further than the user thinks. It is empty for other flags, and for commands that do
// have one of them.
func noScope(cmd *cobra.Command, flag string) string {
	long := map[string]string{
		"n": "namespace", "namespace": "namespace", "A": "all-namespaces", "all-namespaces": "all-namespaces",
	}[flag]
	if long == "" || !cmd.Runnable() || cmd == cmd.Root() {
		return ""
	}
	why := map[string]string{
		"why":     "it is about one object",
		"restore": "--only, or KIND/NAMESPACE/NAME, says which objects come back",
		"import":  "it carries over all that a tool has",
		"stop":    "it stops everything",
	}[cmd.Name()]
	switch {
	case cmd.Flags().Lookup("kubeconfig") == nil:
		why = "it does not use a cluster"
	case long == "namespace" && cmd.Flags().ShorthandLookup("n") != nil:
		why = "-n is --operator-namespace"
	}
	written := "--" + flag
	if len(flag) == 1 {
		written = "-" + flag
	}
	return "takes no " + written + ": " + cmp.Or(why, "Cleaners belong to no namespace")
}

// noSelector says why a command has no -l. It is empty for other flags, and for commands that have it.
func noSelector(cmd *cobra.Command, flag string) string {
	if flag != "l" && flag != "selector" || !cmd.Runnable() || cmd == cmd.Root() {
		return ""
	}
	const takes = "takes no labels (-l): name "
	why := map[string]string{
		"run":         takes + "one Cleaner. Each run is requested and confirmed separately",
		"restore":     takes + "one run or one object. Each restore is confirmed separately",
		"cancel":      takes + "one run, or its Cleaner. To end all runs: " + terminal.Program + " stop",
		"approve":     takes + "one run, or its Cleaner. Each plan is read and approved separately",
		"reject":      takes + "one run, or its Cleaner. Each plan is read and rejected separately",
		"notify test": takes + "one Cleaner. The messages are real ones",
		"why":         takes + "one object, as KIND/NAMESPACE/NAME or KIND/NAME",
		"stop": "takes no labels (-l): it stops all Cleaners; to stop some: " +
			terminal.Program + " suspend -l SELECTOR",
		"dashboard": "takes no labels (-l): the dashboard shows all Cleaners, and you can filter them there",
		"import":    "takes no labels (-l): it carries over everything that the tool has",
	}[strings.TrimPrefix(cmd.CommandPath(), terminal.Program+" ")]
	if cmd.Flags().Lookup("kubeconfig") == nil {
		return "takes no labels (-l): it does not use a cluster"
	}
	return why
}
