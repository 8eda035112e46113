// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/deadline"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
	"github.com/kubecleaner/kubecleaner/pkg/summary"
)

// stopReason is the reason for which a run ends that was stopped by this cause.
func stopReason(stopped error) string {
	switch {
	case isA[*deadline.Error](stopped):
		return v1alpha1.ReasonDeadlineExceeded
	case isA[*stop.Error](stopped):
		return v1alpha1.ReasonActingStopped
	case errors.Is(stopped, journal.ErrCancelled):
		return v1alpha1.ReasonCancelled
	}
	return v1alpha1.ReasonFailed
}

// isA reports whether an error is one of a type, or wraps one.
func isA[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}

// stopWords say why a run was stopped. How far it had come is said of one that took too long, and of one that was in
// the middle of a list: what its counts say is not of all objects.
func (t *task) stopWords(stopped error, out *outcomes) string {
	v := out.decision.view
	at := slices.IndexFunc(v.selections, func(s selector.Selection) bool { return s.Err != nil && isCut(s.Err, stopped) })
	selectors := t.cleaner.Spec.ResourcePolicySet.ResourceSelectors
	switch {
	case at < 0:
		return stopWords(stopped, cameTo(out), deadline.SelectLess)
	case stopReason(stopped) == v1alpha1.ReasonDeadlineExceeded:
		return stopWords(stopped, v.judgedOf(at, selectors), deadline.ReadLess(selectors[at]))
	}
	return fmt.Sprintf("%s %s.", stopped, v.judgedOf(at, selectors))
}

// judgedOf says how far a run had come that was stopped in the list of a selector.
func (v *view) judgedOf(at int, selectors []v1alpha1.ResourceSelector) string {
	judged := fmt.Sprintf("the run had judged %s of kind %s",
		summary.Objects(v.selections[at].Considered), selectors[at].Kind)
	if len(selectors) > 1 {
		done := 0
		for _, selection := range v.selections {
			if selection.Err == nil {
				done++
			}
		}
		judged = fmt.Sprintf("%d of %d selectors; %s (resourceSelectors[%d])", done, len(selectors), judged, at)
	}
	return "after " + judged + ", and the list was not read to its end"
}

// stopWords say why a run was stopped and, if that was because it took too long, how far it had come and what to do
// about it: less is how it can do with less time.
func stopWords(stopped error, cameTo, less string) string {
	late := (*deadline.Error)(nil)
	switch {
	case isA[*stop.Error](stopped):
		return fmt.Sprintf("%s. The next run after kubectl cleaner resume handles the rest.", stopped)
	case !errors.As(stopped, &late):
		return stopped.Error() + "."
	}
	return fmt.Sprintf("%s %s; %s.", late, cameTo, late.WayOut(less))
}

// cameTo says how far a run had come that was stopped.
func cameTo(out *outcomes) string {
	var wanted, left int
	for i := range out.list {
		if out.list[i].Act {
			wanted++
		}
		if interrupted(out.list[i]) {
			left++
		}
	}
	if out.whyIncomplete() != nil || out.fault != nil || left == wanted {
		return "before anything was touched"
	}
	return fmt.Sprintf("after %d of %s", wanted-left, summary.Objects(int64(wanted)))
}

// awayWords say that the API server did not answer, or had no time, when the run was stopped.
func awayWords(incomplete error) string {
	if tried := (*selector.TriedError)(nil); errors.As(incomplete, &tried) && tried.Stopped != nil {
		return " The API server " + tried.Trouble() + ": " + summary.OneLine(tried) + "."
	}
	return ""
}

// isCut reports whether an error only says that the run was stopped meanwhile.
func isCut(err, stopped error) bool {
	return errors.Is(err, stopped) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
