// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/summary"
)

// maxMessage bounds a record's message in bytes.
const maxMessage = 4096

// conclude says in which phase the run ends, for which reason, and in a sentence. stopped is why it was stopped, if it
// was.
func conclude(t *task, out *outcomes, stopped error) (v1alpha1.RunPhase, string, string) {
	record, outcomes, d, incomplete, err := t.record, out.list, out.decision, out.whyIncomplete(), out.fault
	touched := summary.Counts(record, outcomes, int64(len(d.view.notEvaluated)))
	end := func(phase v1alpha1.RunPhase, reason, message string) (v1alpha1.RunPhase, string, string) {
		return phase, reason, v1alpha1.Truncate(summary.Hinted(record, reason, message), maxMessage)
	}
	stopped = cmp.Or(stopped, out.stopped)
	switch {
	case stopped != nil && (incomplete != nil || isCut(err, stopped) || slices.ContainsFunc(outcomes, interrupted)):
		return end(v1alpha1.RunInterrupted, stopReason(stopped),
			fmt.Sprintf("The run was stopped: %s%s %s", t.stopWords(stopped, out), awayWords(incomplete), touched))
	case err != nil: // of the operator's own records: it says the way out itself
		return v1alpha1.RunFailed, reasonFor(err, v1alpha1.ReasonFailed),
			v1alpha1.Truncate("Nothing was touched: "+summary.OneLine(err), maxMessage)
	case incomplete != nil:
		return end(v1alpha1.RunFailed, reasonFor(incomplete, v1alpha1.ReasonViewIncomplete),
			"Nothing was touched, because the run could not read or judge everything: "+summary.OneLine(incomplete))
	case d.limit != nil:
		return end(v1alpha1.RunFailed, v1alpha1.ReasonLimitExceeded,
			"Nothing was touched: "+d.limit.Error()+guard.WayOut(d.limit))
	}
	touched = t.planWords(touched, outcomes)
	touched += d.missingWords() + unjudgedWords(d.view) + unknownWords(record, d)
	with := summary.DeletedWith(record, outcomes)
	if record.Status.Plan != nil {
		phase, reason := t.planPhase()
		return end(phase, reason, touched+waitingWords(d)+with)
	}
	if failed, reason := firstFailure(outcomes); failed != "" {
		return end(v1alpha1.RunFailed, reason, touched+with+failed)
	}
	phase, reason := v1alpha1.RunCompleted, v1alpha1.ReasonCompleted
	if d.view.unjudged != nil {
		phase, reason = v1alpha1.RunFailed, v1alpha1.ReasonPartiallyFailed
	}
	much := summary.Much(record, t.cleaner.Spec.BlastRadiusLimit != nil)
	return end(phase, reason, touched+waitingWords(d)+emptyScopeWords(d.view)+much+with+clockWords(d.view))
}

// firstFailure says which object failed first, if any did, and gives the reason for which the run fails by them all.
func firstFailure(outcomes []stage.Outcome) (words, reason string) {
	reason = v1alpha1.ReasonPartiallyFailed
	for i := range outcomes {
		if o := &outcomes[i]; o.Result.IsFailure() {
			if reason = reasonOf(*o, reason); words == "" {
				words = fmt.Sprintf(" The first failure was on %s: %s", o.Object, o.Detail)
			}
		}
	}
	return words, reason
}

func interrupted(o stage.Outcome) bool { return o.Result == v1alpha1.OutcomeInterrupted }

// reasonFor is Forbidden when the API server refused something for want of rights.
func reasonFor(err error, otherwise string) string {
	switch {
	case isA[*outdatedError](err):
		return v1alpha1.ReasonCRDOutdated
	case isA[*foreignError](err):
		return v1alpha1.ReasonForeignController
	case summary.Forbidden(err):
		return v1alpha1.ReasonForbidden
	}
	return otherwise
}

// reasonOf is reasonFor of an object. What was denied is not for want of rights, whatever code the denial has.
func reasonOf(outcome stage.Outcome, otherwise string) string {
	if outcome.Result == v1alpha1.OutcomeDenied {
		return otherwise
	}
	return reasonFor(outcome.Err, otherwise)
}

// unjudgedWords says what was left alone because it could not be judged, in a run that went on with the others.
func unjudgedWords(v *view) string {
	if v.unjudged == nil {
		return ""
	}
	return fmt.Sprintf(" Objects that could not be judged were left alone (onPartialView: Skip): %s.",
		summary.OneLine(v.unjudged))
}

// unknownWords say how many objects are left alone because they are unknown, and what was refused first.
func unknownWords(record *v1alpha1.CleanerRun, d *decision) string {
	n, why := int64(0), error(nil)
	for i, verdict := range d.matched.All() {
		if r := d.rulings[i]; r != nil && r.result == v1alpha1.OutcomeUnknown {
			n, why = n+1, cmp.Or(why, d.view.findings.Unread(verdict.Candidate))
		}
	}
	switch {
	case n == 0:
		return ""
	case why == nil:
		return fmt.Sprintf(" Left alone as Unknown: %s.", summary.Objects(n))
	case !apierrors.IsForbidden(why): // no right would help
		return fmt.Sprintf(" Left alone as Unknown, because it is unknown whether they are used: %s; for example %s.",
			summary.Objects(n), summary.OneLine(why))
	}
	return fmt.Sprintf(" Left alone as Unknown, because something that could use them could not be read: %s; for example %s. %s",
		summary.Objects(n), summary.OneLine(why), summary.Hint(why.Error(), record.Spec.ServiceAccountRef))
}

func waitingWords(d *decision) string {
	if d.waiting == 0 {
		return ""
	}
	by := "not yet in enough consecutive runs (occurrenceThreshold)"
	if d.view.findings != nil {
		by = "not yet in enough consecutive runs (occurrenceThreshold), or not yet for long enough (finding.forSeconds)"
	}
	return fmt.Sprintf(" %d more matched, but %s.", d.waiting, by)
}

// inNoNamespace names the selectors whose namespaceSelector matches no namespace.
func (v *view) inNoNamespace() (errs []error) {
	for i, selection := range v.selections {
		if selection.Err == nil && !selection.Scope.Cluster && len(selection.Scope.Namespaces) == 0 {
			errs = append(errs, fmt.Errorf("resourceSelectors[%d].namespaceSelector matches no namespace", i))
		}
	}
	return errs
}

// emptyScopeWords names the selectors that looked in no namespace.
func emptyScopeWords(v *view) string {
	text := ""
	for _, err := range v.inNoNamespace() {
		text += " " + err.Error() + "."
	}
	for _, words := range v.emptyScopes {
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
