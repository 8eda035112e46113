// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"fmt"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// word says of an outcome what is true of it, and no more: only what was deleted is called that.
func word(run *v1alpha1.CleanerRun, result v1alpha1.OutcomeResult) string {
	words := map[v1alpha1.OutcomeResult]string{
		v1alpha1.OutcomePlanned:      "planned, and not known whether it took place",
		v1alpha1.OutcomeMatched:      "matched",
		v1alpha1.OutcomeDeleted:      "deleted",
		v1alpha1.OutcomeTerminating:  "being deleted",
		v1alpha1.OutcomeTransformed:  "changed",
		v1alpha1.OutcomeUnchanged:    "as it should be already",
		v1alpha1.OutcomeFoundGone:    "found gone after the run was cut off",
		v1alpha1.OutcomeGone:         "gone already",
		v1alpha1.OutcomeReplaced:     "left alone: replaced meanwhile",
		v1alpha1.OutcomeChanged:      "left alone: changed meanwhile",
		v1alpha1.OutcomeConflict:     "left alone: kept changing",
		v1alpha1.OutcomeProtected:    "protected",
		v1alpha1.OutcomeDryRun:       "matched, not touched (dry run)",
		v1alpha1.OutcomeDenied:       "denied",
		v1alpha1.OutcomeKindGone:     "of a kind that is not served any more",
		v1alpha1.OutcomeAbandoned:    "left alone: the run was cut off",
		v1alpha1.OutcomeNotActed:     "matched, not touched",
		v1alpha1.OutcomeInterrupted:  "left alone: the run was stopped before",
		v1alpha1.OutcomeNotEvaluated: "could not be judged",
		v1alpha1.OutcomeUnknown:      "left alone: not known whether it is used",
		v1alpha1.OutcomeFailed:       "failed",
	}
	if result == v1alpha1.OutcomePlanned && run.Status.Plan != nil {
		return "planned, waits for approval"
	}
	if text, ok := words[result]; ok {
		if result == v1alpha1.OutcomeFailed && run.Spec.Action == v1alpha1.ActionDelete {
			return "not deleted"
		}
		if result == v1alpha1.OutcomeFailed && run.Spec.Action == v1alpha1.ActionTransform {
			return "not changed"
		}
		return text
	}
	return clean(string(result))
}

// title says what ran and how it ended, for example "Cleaner stale-pods: 3 deleted, 1 being deleted, 2 failed".
func title(cleaner *v1alpha1.Cleaner, run *v1alpha1.CleanerRun, counted *census) string {
	text := "Cleaner " + run.Spec.Cleaner + ": " + strings.Join(deeds(cleaner, run, counted), ", ")
	switch run.Status.Phase {
	case v1alpha1.RunInterrupted:
		return text + " (stopped)"
	case v1alpha1.RunFailed:
		return text + " (" + failure(run.Status.Reason) + ")"
	case v1alpha1.RunCompleted:
		return text
	case v1alpha1.RunAwaitingApproval:
		return text + " (waits for approval)"
	}
	return text + " (not ended)"
}

// deeds are the counts of a run in words. Where the record had no room for the outcomes of all objects, nobody knows
// how many of them were deleted and how many are still being deleted.
func deeds(cleaner *v1alpha1.Cleaner, run *v1alpha1.CleanerRun, counted *census) []string {
	status, tally := run.Status, counted.outcomes
	var words []string
	add := func(n int64, format string) {
		if n > 0 {
			words = append(words, fmt.Sprintf(format, n))
		}
	}
	verb := map[v1alpha1.Action]string{
		v1alpha1.ActionDelete:    "deleted",
		v1alpha1.ActionTransform: "changed",
	}[run.Spec.Action]
	switch {
	case run.Spec.DryRun:
		words = append(
			words,
			fmt.Sprintf("%d %s, nothing touched (dry run)", status.Matched-status.Skipped, would(cleaner, run)),
		)
	case status.Plan != nil:
		words = append(words, fmt.Sprintf("%d to be %s, nothing touched", status.Plan.Objects, verb))
	case verb == "":
		words = append(words, fmt.Sprintf("%d matched", status.Matched))
	case tally[v1alpha1.OutcomePlanned] > 0: // the run was cut off, and what it was doing could not be found out
		add(status.Acted, "%d acted on")
		add(tally[v1alpha1.OutcomePlanned], "of %d it is not known whether they were "+verb)
	case status.Acted == 0:
		words = append(words, "nothing "+verb)
	case counted.total < int64(len(status.Objects))+status.ObjectsOmitted:
		add(status.Acted, "%d acted on")
	case run.Spec.Action == v1alpha1.ActionDelete:
		ending, gone, found := tally[v1alpha1.OutcomeTerminating], tally[v1alpha1.OutcomeGone],
			tally[v1alpha1.OutcomeFoundGone]
		add(status.Acted-ending-gone-found, "%d deleted")
		add(ending, "%d being deleted")
		add(found, "%d found gone after the run was cut off")
		add(gone, "%d gone already")
	default:
		add(status.Acted, "%d changed")
	}
	unjudged := tally[v1alpha1.OutcomeNotEvaluated]
	add(status.Failed-unjudged, "%d failed")
	add(unjudged, "%d not judged")
	add(status.Skipped, "%d left alone")
	return words
}

// would says what a run had done if acting were not off, as long as the Cleaner is as it was then.
func would(cleaner *v1alpha1.Cleaner, run *v1alpha1.CleanerRun) string {
	if cleaner.Generation != run.Spec.CleanerGeneration {
		return "matched"
	}
	switch cleaner.EffectiveAction() {
	case v1alpha1.ActionDelete:
		return "would be deleted"
	case v1alpha1.ActionTransform:
		return "would be changed"
	}
	return "matched"
}

func failure(reason string) string {
	switch reason {
	case v1alpha1.ReasonLimitExceeded:
		return "limit exceeded"
	case v1alpha1.ReasonViewIncomplete:
		return "not everything could be read"
	case v1alpha1.ReasonForbidden:
		return "rights are missing"
	case v1alpha1.ReasonPartiallyFailed:
		return "partly failed"
	}
	return "failed"
}

// many is a count and a noun.
func many(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
