// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// History is what is known of a Cleaner's records, so that they need not be listed after each run: the API server looks through the
// records of all Cleaners for that. The zero value knows nothing. It is for one goroutine.
type History struct {
	// past are the records that may be deleted when they are too many.
	past []past
	// whole is true when there are no others that a list could tell of.
	whole bool
	// added is how many runs have ended since the records were listed.
	added int
}

// past is a record that has ended, and that nobody needs any more but people.
type past struct {
	name    string
	uid     types.UID
	nominal time.Time
	good    bool
}

// listAfter is after how many runs the records are listed all the same: another operator may have left some.
const listAfter = 50

// Add adds a run that has ended. One that is kept for another reason than the history limits is looked at in a list, until it is not.
func (h *History) Add(run *v1alpha1.CleanerRun) {
	if h.added++; h.added > listAfter || run.UID == "" || !isPast(run, time.Time{}) {
		h.whole = false
	}
	known := slices.ContainsFunc(h.past, func(p past) bool { return p.uid == run.UID })
	if h.whole && !known {
		h.past = append(h.past, pastOf(run))
	}
}

func pastOf(run *v1alpha1.CleanerRun) past {
	return past{run.Name, run.UID, run.Spec.NominalTime.Time, run.Status.Phase == v1alpha1.RunCompleted}
}

// isPast reports whether a record is there for people only.
func isPast(run *v1alpha1.CleanerRun, now time.Time) bool {
	return run.Status.Phase.Final() && !holdsCopies(run) && !isUntold(run, now)
}

// Prune deletes the Cleaner's oldest finished records beyond its history limits. Those that hold copies stay until Sweep drops
// the copies. The records are listed only when the history does not tell all; it is up to date then.
func (j *Journal) Prune(ctx context.Context, cleaner *v1alpha1.Cleaner, history *History) error {
	if !history.whole {
		found, err := j.history(ctx, cleaner)
		if err != nil {
			return err
		}
		*history = found
	}
	slices.SortFunc(history.past, func(a, b past) int { return b.nominal.Compare(a.nominal) }) // newest first
	good := ptr.Deref(cleaner.Spec.SuccessfulRunsHistoryLimit, 3)
	bad := ptr.Deref(cleaner.Spec.FailedRunsHistoryLimit, 1)
	var kept []past
	var errs []error
	for _, run := range history.past {
		left := &bad
		if run.good {
			left = &good
		}
		if *left--; *left >= 0 {
			kept = append(kept, run)
			continue
		}
		record := &v1alpha1.CleanerRun{ObjectMeta: metav1.ObjectMeta{Name: run.name}}
		err := client.IgnoreNotFound(j.client.Delete(ctx, record, client.Preconditions{UID: &run.uid}))
		if errs = append(errs, err); err != nil {
			history.whole = false
		}
	}
	history.past = kept
	return wrap("deleting old CleanerRuns of "+cleaner.Name, errors.Join(errs...))
}

// history lists the Cleaner's records.
func (j *Journal) history(ctx context.Context, cleaner *v1alpha1.Cleaner) (History, error) {
	runs, err := j.Runs(ctx, cleaner)
	if err != nil {
		return History{}, err
	}
	found := History{whole: true}
	for i := range runs {
		if run := &runs[i]; isPast(run, j.clock.Now()) {
			found.past = append(found.past, pastOf(run))
		} else {
			found.whole = false
		}
	}
	return found, nil
}

// Runs are the Cleaner's records, in no order.
func (j *Journal) Runs(ctx context.Context, cleaner *v1alpha1.Cleaner) ([]v1alpha1.CleanerRun, error) {
	var runs v1alpha1.CleanerRunList
	err := j.client.List(ctx, &runs, client.MatchingLabels{v1alpha1.CleanerLabel: string(cleaner.UID)})
	return runs.Items, wrap("listing the CleanerRuns of "+cleaner.Name, err)
}
