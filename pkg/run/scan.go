// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// maxWhole is of how many matches of a Scan the outcomes are made at once. It is more than a CleanerRun or a Report has room for.
const maxWhole = 10_000

// scan is what a Scan keeps of what matches, which may be most of a cluster: who the objects are, and which of them are protected.
// Nobody looks at their bytes again.
type scan struct {
	matches *object.Verdicts
	// errs are those of finding out what is protected.
	errs []error
}

// keepsNames reports whether a run needs no more of what matches than its name, once it was judged. A preview, which shows objects,
// does not ask.
func keepsNames(action v1alpha1.Action, expressions *expressions) bool {
	return action == v1alpha1.ActionScan && expressions.aggregate == nil && expressions.cleaner.CopyStorage() != v1alpha1.StorageReport
}

// judgeFound says whether an object is protected by what it is itself. Its namespace is looked at when all are known.
func (r *Runner) judgeFound(s *scan, candidate object.Candidate) object.Verdict {
	verdict := object.Verdict{Candidate: candidate, Act: true}
	reason, err := r.Protection.Reason(candidate.Object, nil)
	if err != nil && len(s.errs) < maxScanErrors {
		s.errs = append(s.errs, err)
	}
	if reason != "" {
		verdict.Act, verdict.Skip, verdict.Reason = false, v1alpha1.OutcomeProtected, reason
	}
	return verdict
}

// maxScanErrors is how many errors are kept. One is enough to make the view incomplete.
const maxScanErrors = 10

// change replaces the verdicts by what each returns, and forgets those of which it returns false.
func (s *scan) change(each func(object.Verdict) (object.Verdict, bool)) {
	changed := new(object.Verdicts)
	for _, verdict := range s.matches.All() {
		if verdict, keep := each(verdict); keep {
			changed.Add(verdict)
		}
	}
	s.matches = changed
}

// keys are what occurrences are counted by.
func (s *scan) keys() []string {
	keys := make([]string, 0, s.matches.Len())
	for _, verdict := range s.matches.All() {
		keys = append(keys, journal.CountKey(verdict.Object))
	}
	return keys
}

// protectScan is protect for a Scan: what is left to look at is the namespaces.
func (r *Runner) protectScan(ctx context.Context, s *scan) error {
	names := map[string]bool{}
	for _, verdict := range s.matches.All() {
		if verdict.Act && verdict.Namespace != "" {
			names[verdict.Namespace] = true
		}
	}
	namespaces, err := r.Reader.Namespaces(ctx, slices.Sorted(maps.Keys(names)))
	if err != nil {
		return fmt.Errorf("finding out which namespaces are protected: %w", err)
	}
	errs, reasons := s.errs, map[string]string{}
	for name := range names {
		// Of one that is not protected by what it is itself, all that counts is the namespace.
		one := object.Object{Namespace: name, Raw: []byte(`{"metadata":{}}`)}
		reason, err := r.Protection.Reason(one, namespaces[name])
		if errs = append(errs, err); reason != "" {
			reasons[name] = reason
		}
	}
	if len(reasons) > 0 {
		s.change(func(v object.Verdict) (object.Verdict, bool) {
			if reason := reasons[v.Namespace]; v.Act && reason != "" {
				v.Act, v.Skip, v.Reason = false, v1alpha1.OutcomeProtected, reason
			}
			return v, true
		})
	}
	return errors.Join(errs...)
}

// outcomes are those of the first objects, at most so many.
func (s *scan) outcomes(record *v1alpha1.CleanerRun, most int) []object.Outcome {
	outcomes := make([]object.Outcome, 0, min(most, s.matches.Len()))
	for i, verdict := range s.matches.All() {
		if i == most {
			break
		}
		outcomes = append(outcomes, scanned(record, verdict))
	}
	return outcomes
}

// first are the outcomes that a record may list. Each object that matches is logged, also beyond that.
func (s *scan) first(ctx context.Context, record *v1alpha1.CleanerRun) []object.Outcome {
	log := klog.FromContext(ctx)
	for _, verdict := range s.matches.All() {
		if verdict.Act {
			logMatch(log, verdict.Candidate)
		}
	}
	return s.outcomes(record, maxWhole)
}

// rest are the outcomes that are not among the first. Nil, as of no Scan, is none.
func (s *scan) rest(record *v1alpha1.CleanerRun) iter.Seq[object.Outcome] {
	return func(yield func(object.Outcome) bool) {
		if s == nil {
			return
		}
		for i, verdict := range s.matches.All() {
			if i >= maxWhole && !yield(scanned(record, verdict)) {
				return
			}
		}
	}
}

// toTell are the outcomes to tell: the first ones, and all where somebody is told of all.
func (s *scan) toTell(record *v1alpha1.CleanerRun, first []object.Outcome) []object.Outcome {
	tellsAll := func(n v1alpha1.NotificationStatus) bool {
		return n.Type == v1alpha1.NotificationCleanerReport || n.Type == v1alpha1.NotificationEvent
	}
	if s == nil || s.matches.Len() <= maxWhole || !slices.ContainsFunc(record.Status.Notifications, tellsAll) {
		return first
	}
	return s.outcomes(record, s.matches.Len())
}
