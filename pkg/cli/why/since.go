// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// addSince adds since when the runs of a Cleaner found the object so, where the API server knows of no earlier time.
// Counts that cannot be read say nothing.
func (j *job) addSince(ctx context.Context, r *Result, cleaner *v1alpha1.Cleaner) {
	selectors := cleaner.Spec.ResourcePolicySet.ResourceSelectors
	keeps := func(s v1alpha1.ResourceSelector) bool { return s.KeepsSince() }
	if len(r.Findings) == 0 || !slices.ContainsFunc(selectors, keeps) {
		return
	}
	counts, err := j.API.Counts(ctx, j.Operator(), cleaner)
	if err != nil {
		return
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		since := counted(selectors, counts, f)
		if !since.IsZero() && (f.Since == nil || since.Before(*f.Since)) {
			f.Since = &since
			j.counters[f.Type] = cleaner.Name
		}
	}
}

// counted is since when one of the selectors has the object found so, by the counts: the earliest time of them. Zero
// when none has.
func counted(selectors []v1alpha1.ResourceSelector, counts map[string]int64, f *search.Finding) (earliest time.Time) {
	if len(f.Of.Unknown) > 0 {
		return earliest
	}
	for _, s := range selectors {
		if !s.KeepsSince() || s.Finding.Type != f.Type {
			continue
		}
		since := survey.Counted(counts, f.UID, f.Of, s.Finding)
		if !since.IsZero() && (earliest.IsZero() || since.Before(earliest)) {
			earliest = since
		}
	}
	return earliest
}

// since says since when an object is found so. Empty when nobody knows.
func (j *job) since(f *search.Finding) string {
	if f.Since == nil {
		return ""
	}
	by := ""
	if counter := j.counters[f.Type]; counter != "" {
		by = ", as Cleaner " + counter + " counted"
	}
	ago := duration.HumanDuration(max(0, j.Now().Sub(*f.Since)))
	return fmt.Sprintf("Since: %s, %s ago%s.", f.Since.UTC().Format(time.RFC3339), ago, by)
}
