// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"testing"

	"github.com/spf13/pflag"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// TestGiven: a command that is printed asks the same cluster, as the same user, and holds no secret.
func TestGiven(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"none":    {nil, ""},
		"true":    {[]string{"--complete", "-A"}, " --complete --all-namespaces"},
		"false":   {[]string{"--complete=false", "--all-namespaces=false"}, " --complete=false --all-namespaces=false"},
		"several": {[]string{"--from", "a b", "--from=c"}, " --from 'a b' --from c"},
		"cluster": {[]string{"--cluster=prod", "--server", "https://a:6443", "--context", "b"}, " --context b --cluster prod --server https://a:6443"},
		"user":    {[]string{"--as-group=b", "--as-group=c", "--as", "a", "--user", "me"}, " --as a --as-group b --as-group c --user me"},
		"secrets": {[]string{"--token=a", "--username=b", "--password=c"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := &Flags{Session: &terminal.Session{}}
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			o.BindAll(flags)
			cluster.BindAllNamespaces(flags, "")
			if err := flags.Parse(test.args); err != nil {
				t.Fatal(err)
			}
			if got := Given(flags, append(Where[:len(Where):len(Where)], "all-namespaces")...); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
