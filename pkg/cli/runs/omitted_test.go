// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// What is not stored is not listed: then it is said how much is.
func TestWhyObjectsAreNotListed(t *testing.T) {
	const rest = "; status.tallies (-o json) counts all of them, and kubectl cleaner preview tidy --limit 0 lists all that match now\n"
	const dropped = ", because a CleanerRun has room for 256 KiB of objects; a run that touches nothing stores up to 8 MiB elsewhere, and only for the latest two such runs of a Cleaner"
	for name, test := range map[string]struct {
		run v1alpha1.CleanerRun
		why string
	}{
		"a Scan":                 {v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionScan}}, dropped},
		"a run that did not act": {v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete}}, dropped},
		"a run that acted": {
			v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete}, Status: v1alpha1.CleanerRunStatus{Intent: &v1alpha1.RunIntent{}}},
			": all that the run was going to touch, and of the others no more than fits into the 256 KiB of a CleanerRun",
		},
	} {
		streams, _, _, errOut := genericiooptions.NewTestIOStreams()
		run := test.run
		run.Spec.Cleaner, run.Status.ObjectsOmitted = "tidy", 2002
		session := &terminal.Session{IOStreams: streams, Options: terminal.Options{Getenv: func(string) string { return "" }}}
		(&options{Session: session}).printOmitted(&run, 1000)
		if want := "note: 1,000 of 3,002 objects are listed" + test.why + rest; errOut.String() != want {
			t.Errorf("%s: %s", name, errOut)
		}
	}
}
