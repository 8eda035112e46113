// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
)

// Check says which flags do not go together.
func (o *Flags) Check(cmd *cobra.Command) error {
	given := o.Given()
	switch {
	case o.Complete && len(o.From) == 0:
		return terminal.UsageError(cmd, "--complete needs --from: add --from, or remove --complete")
	case len(o.From) > 0 && given != "":
		return terminal.UsageError(
			cmd,
			fmt.Sprintf("--from does not use a cluster, and --%s says which to use: remove one of them", given),
		)
	}
	if o.at == "" {
		return nil
	}
	at, err := cluster.ParseTime("now", o.at)
	if err != nil {
		return terminal.UsageError(cmd, err.Error())
	}
	o.Now = func() time.Time { return at }
	return nil
}

// Operator is the operator's namespace.
func (o *Flags) Operator() string {
	return cluster.OperatorNamespace(o.operatorNamespace)
}

// Protection is what no Cleaner may touch.
func (o *Flags) Protection() guard.Protection {
	return guard.Protection{Operator: o.Operator(), Namespaces: strings.Split(guard.DefaultProtectedNamespaces, ",")}
}

// ConnectingTo are the flags that say which cluster to ask, and Connecting those that also say as whom. Those that hold
// secrets are not among them. Where are those that say what is read.
var (
	ConnectingTo = []string{"kubeconfig", "context", "cluster", "server"}
	Connecting   = append(slices.Clone(ConnectingTo), "as", "as-group", "user")
	Where        = append([]string{"from", "complete", "references", "now", "operator-namespace"}, Connecting...)
)

// Given are those of the flags that were given, as they may be given again.
func Given(flags *pflag.FlagSet, names ...string) string {
	var text strings.Builder
	for _, name := range names {
		flag := flags.Lookup(name)
		if flag == nil || !flag.Changed {
			continue
		}
		values := []string{flag.Value.String()}
		if several, ok := flag.Value.(pflag.SliceValue); ok {
			values = several.GetSlice()
		}
		for _, value := range values {
			switch {
			case flag.Value.Type() == "bool" && value == "false":
				fmt.Fprintf(&text, " --%s=false", name)
			case flag.Value.Type() == "bool":
				fmt.Fprintf(&text, " --%s", name)
			case flag.Shorthand != "":
				fmt.Fprintf(&text, " -%s %s", flag.Shorthand, terminal.ShellWord(terminal.OneLine(value)))
			default:
				fmt.Fprintf(&text, " --%s %s", name, terminal.ShellWord(terminal.OneLine(value)))
			}
		}
	}
	return text.String()
}
