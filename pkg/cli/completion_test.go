// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// TestFlagsComplete makes sure that every flag completes that takes one of a few words, or a name from the cluster.
func TestFlagsComplete(t *testing.T) {
	exceptions := map[string]bool{}
	for _, name := range strings.Fields(
		// Files, which the shell completes.
		"from schemas filename references kubeconfig client-key client-certificate certificate-authority notify-ca-file copies-path " +
			// Free text: labels, times, names of what is new, and hosts.
			"selector namespace-selector now for schedule name run reason allowed-metric-hosts allowed-notification-hosts dashboard-url " +
			// kubectl's own, of which no cluster has a list.
			"server tls-server-name token username password request-timeout proxy-url as as-group as-uid",
	) {
		exceptions[name] = true
	}
	root := command(terminal.New(genericiooptions.NewTestIOStreamsDiscard(), terminal.Options{}))
	used := map[string]bool{}
	var each func(cmd *cobra.Command)
	each = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			switch flag.Value.Type() {
			case "bool", "int", "int32", "int64", "duration":
				return
			}
			if flag.Name == "namespace" && cmd.Flag("kubeconfig") == nil {
				return // init does not use a cluster
			}
			if _, completes := cmd.GetFlagCompletionFunc(flag.Name); completes {
				return
			}
			if used[flag.Name] = true; !exceptions[flag.Name] {
				t.Errorf("%s --%s (%s) does not complete", cmd.CommandPath(), flag.Name, flag.Value.Type())
			}
		})
		for _, sub := range cmd.Commands() {
			each(sub)
		}
	}
	each(root)
	for name := range exceptions {
		if !used[name] {
			t.Errorf("--%s completes everywhere, or no command has it", name)
		}
	}
}
