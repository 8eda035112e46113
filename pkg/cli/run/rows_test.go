// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// Objects that were left alone for the same reason are one row, and do not keep the others out of the table.
func TestRunShowsOneRowForOneReason(t *testing.T) {
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	failed := became(300, v1alpha1.OutcomeNotEvaluated)
	for i := range failed {
		failed[i].Kind, failed[i].Namespace, failed[i].Reason = "Pod", "shop", "line 3: x is nil"
	}
	deleted := became(25, v1alpha1.OutcomeDeleted)
	record := &v1alpha1.CleanerRun{}
	record.Name, record.UID = "r", "uid"
	record.Status.Objects = slices.Concat(failed, deleted)
	session := &terminal.Session{IOStreams: streams, Options: terminal.Options{Getenv: func(string) string { return "" }}}
	(&options{Session: session}).printObjects(record)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if got := strings.Join(strings.Fields(lines[1]), " "); got != "shop Pod 300 objects NotEvaluated line 3: x is nil" || len(lines) != 1+shownObjects {
		t.Errorf("it shows %d lines:\n%s", len(lines), out.String())
	}
	if want := "... and 6 more: kubectl cleaner runs r --limit 0\n"; errOut.String() != want {
		t.Errorf("it says %q, want %q", errOut.String(), want)
	}
}

// What a run did stands before what it left alone, as runs shows it.
func TestRunShowsWhatWasDoneFirst(t *testing.T) {
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	record := &v1alpha1.CleanerRun{}
	record.Status.Objects = slices.Concat(became(1, v1alpha1.OutcomeProtected), became(1, v1alpha1.OutcomeDeleted), became(1, v1alpha1.OutcomeFailed))
	session := &terminal.Session{IOStreams: streams, Options: terminal.Options{Getenv: func(string) string { return "" }}}
	(&options{Session: session}).printObjects(record)
	text := out.String()
	failed, deleted, kept := strings.Index(text, "Failed"), strings.Index(text, "Deleted"), strings.Index(text, "Protected")
	if failed < 0 || failed > deleted || deleted > kept {
		t.Errorf("the order is another one:\n%s", text)
	}
}
