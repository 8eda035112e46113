// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// What a record has no room for is nowhere if no run was going to touch it: then it is said how much is listed.
func TestWhyObjectsAreNotListed(t *testing.T) {
	const rest = " no more than fits into the 256 KiB of a CleanerRun; status.tallies (-o json) counts all of them, " +
		"and kubectl cleaner preview tidy --limit 0 lists all that match now\n"
	for why, run := range map[string]v1alpha1.CleanerRun{
		", because a Scan keeps":                      {Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionScan}},
		", because the run touched nothing, and kept": {Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete}},
		": all that the run was going to touch, and of the others": {
			Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete}, Status: v1alpha1.CleanerRunStatus{Intent: &v1alpha1.RunIntent{}},
		},
	} {
		streams, _, _, errOut := genericiooptions.NewTestIOStreams()
		run.Spec.Cleaner, run.Status.ObjectsOmitted = "tidy", 2002
		session := &terminal.Session{IOStreams: streams, Options: terminal.Options{Getenv: func(string) string { return "" }}}
		(&options{Session: session}).printOmitted(&run, 1000)
		if want := "note: 1,000 of 3,002 objects are listed" + why + rest; errOut.String() != want {
			t.Errorf("%s: %s", why, errOut)
		}
	}
}
