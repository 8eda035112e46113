// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// Of a run that was refused, it is not known which of the objects without a place it would have touched.
func TestWhyObjectsAreNotListed(t *testing.T) {
	const rest = ", and the record has room for 256 KiB of objects; status.tallies (-o json) counts them, and kubectl cleaner preview tidy --limit 0 lists all that match now\n"
	for phase, want := range map[v1alpha1.RunPhase]string{
		v1alpha1.RunFailed:    "note: 251 more objects are not listed: the run touched nothing" + rest,
		v1alpha1.RunCompleted: "note: 251 more objects are not listed: the run was not going to touch them" + rest,
	} {
		streams, _, _, errOut := genericiooptions.NewTestIOStreams()
		run := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Cleaner: "tidy"}}
		run.Spec.Action, run.Status.Phase, run.Status.ObjectsOmitted = v1alpha1.ActionTransform, phase, 251
		session := &terminal.Session{IOStreams: streams, Options: terminal.Options{Getenv: func(string) string { return "" }}}
		(&options{Session: session}).printOmitted(run)
		if errOut.String() != want {
			t.Errorf("%s: %s", phase, errOut)
		}
	}
}
