// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// maxMessage bounds a record's message in bytes.
const maxMessage = 4096

// conclude says in which phase the run ends, for which reason, and in a sentence.
func conclude(ctx context.Context, t *task, out *outcomes) (v1alpha1.RunPhase, string, string) {
	record, outcomes, d, incomplete, err := t.record, out.list, out.decision, out.whyIncomplete(), out.fault
	touched := touchedWords(record, outcomes, int64(len(d.view.notEvaluated)))
	end := func(phase v1alpha1.RunPhase, reason, message string) (v1alpha1.RunPhase, string, string) {
		return phase, reason, v1alpha1.Truncate(hinted(record, reason, message), maxMessage)
	}
	stopped := context.Cause(ctx)
	if stopped == nil {
		stopped = out.stopped
	}
	switch {
	case stopped != nil && (incomplete != nil || isCut(err, stopped) || slices.ContainsFunc(outcomes, interrupted)):
		return end(v1alpha1.RunInterrupted, stopReason(stopped),
			fmt.Sprintf("The run was stopped: %s%s %s", t.stopWords(stopped, out), awayWords(incomplete), touched))
	case err != nil: // of the operator's own records: it says the way out itself
		return v1alpha1.RunFailed, reasonFor(err, v1alpha1.ReasonFailed), v1alpha1.Truncate("Nothing was touched: "+oneLine(err), maxMessage)
	case incomplete != nil:
		return end(v1alpha1.RunFailed, reasonFor(incomplete, v1alpha1.ReasonViewIncomplete),
			"Nothing was touched, because the view was not complete: "+oneLine(incomplete))
	case d.limit != nil:
		return end(v1alpha1.RunFailed, v1alpha1.ReasonLimitExceeded, "Nothing was touched: "+d.limit.Error())
	}
	var first *object.Outcome
	reason := v1alpha1.ReasonPartiallyFailed
	for i := range outcomes {
		if !outcomes[i].Result.IsFailure() {
			continue
		}
		if first == nil {
			first = &outcomes[i]
		}
		reason = reasonOf(outcomes[i], reason)
	}
	touched += unjudgedWords(d.view) + unknownWords(record, d)
	switch {
	case first != nil:
		return end(v1alpha1.RunFailed, reason, fmt.Sprintf("%s The first failure was on %s: %s", touched+alongWords(record, outcomes), first.Object, first.Detail))
	case d.view.unjudged != nil:
		return end(v1alpha1.RunFailed, reason, touched+waitingWords(d)+nowhereWords(d.view)+muchWords(record)+alongWords(record, outcomes)+clockWords(d.view))
	}
	return end(v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, touched+waitingWords(d)+nowhereWords(d.view)+muchWords(record)+alongWords(record, outcomes)+clockWords(d.view))
}

// hinted adds to what is for want of rights what to grant.
func hinted(record *v1alpha1.CleanerRun, reason, message string) string {
	if reason == v1alpha1.ReasonForbidden && strings.Contains(message, " cannot ") { // RBAC's words; webhooks refuse too
		message += ". " + forbiddenHint(message, record.Spec.ServiceAccountRef)
	}
	return message
}

func interrupted(o object.Outcome) bool { return o.Result == v1alpha1.OutcomeInterrupted }

// reasonFor is Forbidden when the API server refused something for want of rights.
func reasonFor(err error, otherwise string) string {
	switch {
	case isOutdated(err):
		return v1alpha1.ReasonCRDOutdated
	case forbidden(err):
		return v1alpha1.ReasonForbidden
	}
	return otherwise
}

// reasonOf is reasonFor of an object. What was denied is not for want of rights, whatever code the denial has.
func reasonOf(outcome object.Outcome, otherwise string) string {
	if outcome.Result == v1alpha1.OutcomeDenied {
		return otherwise
	}
	return reasonFor(outcome.Err, otherwise)
}

// forbidden looks through joined errors too, where errors.As stops at the first that fits.
func forbidden(err error) bool {
	switch e := err.(type) { //nolint:errorlint // this is the unwrapping
	case nil:
		return false
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if forbidden(inner) {
				return true
			}
		}
		return false
	case interface{ Unwrap() error }:
		return apierrors.IsForbidden(err) || forbidden(e.Unwrap())
	}
	return apierrors.IsForbidden(err)
}

// touchedWords says what the run did, in counts, of the objects that matched and of those that could not be judged.
func touchedWords(record *v1alpha1.CleanerRun, outcomes []object.Outcome, unjudged int64) string {
	counts := record.Status.RunCounts
	done := map[v1alpha1.Action]string{v1alpha1.ActionDelete: "deleted", v1alpha1.ActionTransform: "changed"}[record.Spec.Action]
	text := fmt.Sprintf("%d of %s matched", counts.Matched, objects(counts.Considered))
	if done == "" && unjudged > 0 {
		text += fmt.Sprintf(", %d not judged", unjudged)
	}
	switch {
	case record.Spec.DryRun:
		return text + "; nothing was touched, because " + record.Spec.WhyDryRun() + "."
	case done == "":
		return text + "."
	}
	results := map[v1alpha1.OutcomeResult]int64{}
	for _, outcome := range outcomes {
		results[outcome.Result]++
	}
	ending, gone, found := results[v1alpha1.OutcomeTerminating], results[v1alpha1.OutcomeGone], results[v1alpha1.OutcomeFoundGone]
	if record.Spec.Action != v1alpha1.ActionDelete {
		gone = 0 // they are left alone
	}
	denied, kindGone := results[v1alpha1.OutcomeDenied], results[v1alpha1.OutcomeKindGone]
	text += fmt.Sprintf("; %d %s", counts.Acted-ending-gone-found, done)
	for _, part := range []struct {
		n     int64
		words string
	}{
		{ending, "being deleted"},
		{found, "found gone after the run was cut off"},
		{gone, "gone already"},
		{counts.Skipped, "left alone"},
		{denied, "denied"},
		{kindGone, "whose kind is not served any more"},
		{counts.Failed - denied - kindGone - unjudged, "failed"},
		{unjudged, "not judged"},
	} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.words)
		}
	}
	return text + "."
}

// unjudgedWords says what was left alone because it could not be judged, in a run that went on with the others.
func unjudgedWords(v *view) string {
	if v.unjudged == nil {
		return ""
	}
	return fmt.Sprintf(" Objects that could not be judged were left alone (onPartialView: Skip): %s.", oneLine(v.unjudged))
}

func waitingWords(d *decision) string {
	if d.waiting == 0 {
		return ""
	}
	by := "not yet in enough consecutive runs (occurrenceThreshold)"
	if d.view.findings != nil {
		by = "were not yet found so in enough consecutive runs, or for long enough (occurrenceThreshold, finding.forSeconds)"
	}
	return fmt.Sprintf(" %d more matched, but %s.", d.waiting, by)
}

// muchWords draws attention to a Delete that took more than half of what it looked at.
func muchWords(record *v1alpha1.CleanerRun) string {
	counts := record.Status.RunCounts
	if record.Spec.Action != v1alpha1.ActionDelete || counts.Considered < 2 || counts.Acted*2 <= counts.Considered {
		return ""
	}
	return " That is more than half of the objects considered; blastRadiusLimit can stop such a run."
}

// alongWords says what went with the Namespaces and the claims that were deleted. Of other kinds, preview tells.
func alongWords(record *v1alpha1.CleanerRun, outcomes []object.Outcome) string {
	var kinds []object.Kind
	for i := range outcomes {
		o := &outcomes[i]
		if guard.TakesContent(o.Kind) && o.Handled(record.Spec.Action) && record.Spec.Action == v1alpha1.ActionDelete {
			kinds = append(kinds, o.Kind)
		}
	}
	if along := guard.Along(kinds, nil); along != "" {
		return " " + along
	}
	return ""
}

// nowhereWords draws attention to a selector that looked nowhere.
func nowhereWords(v *view) string {
	text := ""
	for i, selection := range v.selections {
		if !selection.Scope.Cluster && len(selection.Scope.Namespaces) == 0 {
			text += fmt.Sprintf(" resourceSelectors[%d].namespaceSelector matches no namespace.", i)
		}
	}
	for _, words := range v.nowhere {
		text += " " + words
	}
	return text
}

// clockWords says that a Scan went by a wrong clock. Any other run does not get that far.
func clockWords(v *view) string {
	if v.clock == nil {
		return ""
	}
	return " Beware: " + v.clock.Error() + "."
}

func objects(n int64) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}

// oneLine puts joined errors on one line.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; ")
}
