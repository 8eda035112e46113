// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// became are n objects of one outcome, named by it.
func became(n int, outcome v1alpha1.OutcomeResult) []v1alpha1.ObjectOutcome {
	objects := make([]v1alpha1.ObjectOutcome, n)
	for i := range objects {
		objects[i] = v1alpha1.ObjectOutcome{Name: fmt.Sprintf("%s-%d", outcome, i), Outcome: outcome}
	}
	return objects
}

// A run of thousands of objects does not push what it did out of the terminal: 20 of them are shown, those first that tell the most.
func TestRunShowsTwentyObjects(t *testing.T) {
	failed, kept := became(3, v1alpha1.OutcomeFailed), became(2, v1alpha1.OutcomeProtected)
	for name, c := range map[string]struct {
		objects    []v1alpha1.ObjectOutcome
		omitted    int64
		kept       bool
		summedUp   bool
		rows       int
		first      string
		standsLast string
	}{
		"as many as are shown":  {became(20, v1alpha1.OutcomeDeleted), 0, false, false, 20, "Deleted-0 Deleted-1", ""},
		"few, in their order":   {slices.Concat(became(2, v1alpha1.OutcomeDeleted), failed), 0, false, false, 5, "Deleted-0 Deleted-1 Failed-0", ""},
		"one more":              {became(21, v1alpha1.OutcomeDeleted), 0, false, false, 20, "Deleted-0 Deleted-1", "... and 1 more: kubectl get cleanerrun r -o yaml\n"},
		"failures, then rare":   {slices.Concat(became(1155, v1alpha1.OutcomeDeleted), kept, failed), 0, false, false, 20, "Failed-0 Failed-1 Failed-2 Protected-0 Protected-1 Deleted-0", "... and 1,140 more: kubectl get cleanerrun r -o yaml\n"},
		"not all in the record": {became(1160, v1alpha1.OutcomeDeleted), 3840, false, false, 20, "Deleted-0", "... and 4,980 more, 1,140 of them in: kubectl get cleanerrun r -o yaml\n"},
		"all are kept":          {became(1160, v1alpha1.OutcomeDeleted), 3840, true, false, 20, "Deleted-0", "... and 4,980 more; all that the run was going to touch are in: kubectl cleaner runs r -o json\n"},
		"few, and all are kept": {became(3, v1alpha1.OutcomeDeleted), 2, true, false, 3, "Deleted-0", "... and 2 more; all that the run was going to touch are in: kubectl cleaner runs r -o json\n"},
		"few in the record":     {became(3, v1alpha1.OutcomeDeleted), 2, false, false, 3, "Deleted-0", "note: 2 more objects are not listed: the record has no room for them; what failed, and what is rare, is listed first\n"},
		"without a record":      {became(50, v1alpha1.OutcomeDeleted), 0, false, true, 20, "Deleted-0", "... and 30 more: kubectl get cleaner c -o yaml\n"},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, out, errOut := genericiooptions.NewTestIOStreams()
			record := &v1alpha1.CleanerRun{}
			record.Name, record.UID, record.Spec.Cleaner = "r", "uid", "c"
			if c.summedUp {
				record.UID = ""
			}
			record.Status.Phase, record.Status.Message = v1alpha1.RunCompleted, "Done."
			if c.kept {
				record.Status.Intent = &v1alpha1.RunIntent{}
			}
			record.Status.Objects, record.Status.ObjectsOmitted = c.objects, c.omitted
			must(t, (&runOptions{Session: &terminal.Session{IOStreams: streams, Options: terminal.Options{Getenv: func(string) string { return "" }}}}).tellRun(record))
			var names []string
			for line := range strings.Lines(out.String()) {
				names = append(names, strings.Fields(line)[2])
			}
			if names = names[1:]; len(names) != c.rows || !strings.HasPrefix(strings.Join(names, " ")+" ", c.first+" ") {
				t.Errorf("it shows %d objects: %s", len(names), names)
			}
			if diff := cmp.Diff(c.standsLast+"run r ended: Done.\n", errOut.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
