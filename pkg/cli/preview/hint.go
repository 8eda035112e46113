// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/schedule"
)

// hint says how to go on, to people.
func (j *job) hint(cleaners []*v1alpha1.Cleaner, names []string) {
	if !j.printsTable() || j.exit != codes.ExitDone || j.failOn > 0 || len(j.only) > 0 || len(cleaners) != 1 ||
		len(j.results) != 1 {
		return
	}
	cleaner, found := cleaners[0], &j.results[0]
	for _, hint := range []string{j.arm(cleaner, found), j.next(cleaner, found, names)} {
		if hint != "" {
			fmt.Fprintf(j.ErrOut, "%s %s\n", j.Paint(j.ErrOut).Bold("hint:"), hint)
		}
	}
}

// arm is how to let a Cleaner act that only reports, where all is shown that it would touch.
func (j *job) arm(cleaner *v1alpha1.Cleaner, found *result) string {
	if found.Action != v1alpha1.ActionScan || found.reported == 0 || len(j.namespaces) > 0 {
		return ""
	}
	return armHint(cleaner)
}

// next is the next step. To let the operator act is proposed only for a Cleaner in a file of its own in which nothing
// is wrong.
func (j *job) next(cleaner *v1alpha1.Cleaner, found *result, names []string) string {
	document := j.documents[cleaner]
	switch {
	case found.drops:
		return "first remove from the change what the API server drops"
	case hitsMany(cleaner, found):
		return fmt.Sprintf("first set spec.blastRadiusLimit, for example {maxPercentage: 10}: %s of %s would be %s",
			terminal.Thousands(found.WouldAct), terminal.Grouped(found.Considered, "object"), become[found.Action])
	case len(j.namespaces) > 0:
		return "" // the operator would do more than "this"
	case len(names) > 0:
		return j.toRun(cleaner, found, names[0])
	case document == nil || len(j.files) != 1:
		return ""
	}
	return j.nextOf(cleaner, found, document)
}

// nextOf is the next step with the only file.
func (j *job) nextOf(cleaner *v1alpha1.Cleaner, found *result, document *manifest.Document) string {
	switch {
	case j.drops:
		return "do not apply it now. To see what to do first: " + terminal.Program + " doctor"
	case j.dump != nil:
		return fmt.Sprintf("next, on your cluster: %s preview -f %s", terminal.Program, terminal.ShellWord(j.files[0]))
	case j.warnings > 0:
		return fmt.Sprintf("before you apply it, look at what lint warns of: %s lint -f %s", terminal.Program, terminal.ShellWord(j.files[0]))
	case found.Action != v1alpha1.ActionScan && found.Matched > 0 && found.WouldAct == 0:
		return "" // the operator would do nothing
	case document.File != j.files[0]: // it is in a directory, or from the standard input
		return ""
	case j.others > 0:
		return fmt.Sprintf("kubectl apply -f %s would also apply %s %s no Cleaner; look at %s first", j.files[0],
			terminal.Counted(j.others, "object")+" of this file that",
			terminal.Plural(int64(j.others), "is", "are"),
			terminal.Plural(int64(j.others), "it", "them"))
	}
	file := terminal.ShellWord(j.files[0])
	return fmt.Sprintf("to have the operator do this %s: kubectl apply -f %s", scheduleWords(cleaner), file)
}

// toRun is how to have done what a preview of a Cleaner of the cluster shows. It is empty where nothing would be
// done.
func (j *job) toRun(cleaner *v1alpha1.Cleaner, found *result, name string) string {
	why, wayOut := cluster.Unready(cleaner)
	waits := ptr.Deref(cleaner.Spec.OccurrenceThreshold, 1) > 1 || cleaner.LongestFinding() > 0
	switch {
	case j.drops:
		return "no run begins now. To see what to do: " + terminal.Program + " doctor"
	case why != "":
		return fmt.Sprintf("the operator does not run this Cleaner (%s); %s", why, wayOut)
	case found.Action != v1alpha1.ActionScan && found.WouldAct == 0:
		return ""
	case cleaner.NeedsApproval():
		return fmt.Sprintf("a run only makes a plan of this, which waits for approval: %s run %s", terminal.Program, name)
	case found.Action != v1alpha1.ActionScan && waits:
		return fmt.Sprintf("a run now touches only what has matched for long enough: %s run %s", terminal.Program, name)
	}
	return fmt.Sprintf("to have the operator do this now: %s run %s", terminal.Program, name)
}

// many is how many objects are many for one run, whatever share of all that is.
const many = 100

// hitsMany reports whether a Cleaner would touch more than half of the objects, or many, and nothing limits it. What
// labelFilters leave out is not counted among the objects; a limit does no harm then either.
func hitsMany(cleaner *v1alpha1.Cleaner, found *result) bool {
	most := found.WouldAct > 1 && 2*found.WouldAct > found.Considered
	return cleaner.Spec.BlastRadiusLimit == nil && (most || found.WouldAct > many)
}

// scheduleWords is "every day at 03:00 UTC".
func scheduleWords(cleaner *v1alpha1.Cleaner) string {
	parsed, err := schedule.Parse(cleaner.Spec.Schedule, ptr.Deref(cleaner.Spec.TimeZone, ""))
	if err != nil {
		return "on schedule"
	}
	return parsed.String()
}

// reportUntil says that a run would only report now, although the preview shows what it would do.
func (j *job) reportUntil(cleaner *v1alpha1.Cleaner) {
	if why := cleaner.Observing(j.now.Now()); why != "" {
		j.Note("a run touches nothing now: %s", why)
	}
}

// reportIdentity says that a run would have other rights than this preview had.
func (j *job) reportIdentity(cleaner *v1alpha1.Cleaner) {
	account, as := cleaner.Spec.ServiceAccountRef, j.Overrides.AuthInfo.Impersonate
	if account == nil || j.dump != nil || as == account.Username() {
		return
	}
	rights := "your own rights"
	if as != "" {
		rights = "the rights of " + as
	}
	j.Note(
		"a run reads and acts as ServiceAccount %s, this preview read with %s; to preview as that account: --as %s",
		account,
		rights,
		account.Username(),
	)
}
