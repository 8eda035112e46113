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
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// History is what is known of a Cleaner's records, so that they need not be listed after each run: the API server looks
// through the records of all Cleaners for that. The zero value knows nothing. It is for one goroutine.
type History struct {
	// past are the records that may be deleted when they are too many.
	past []past
	// keeping are the records that hold copies, and so may not be deleted yet.
	keeping []past
	// whole is true when there are no others that a list could show.
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
	// unsent is true of one whose notifications are not all sent.
	unsent bool
	// until is until when it holds copies, unless they are dropped before.
	until time.Time
}

// maxUnsent is how many of a Cleaner's records are kept because notifications of them are still to be sent: a service
// that is down must not fill the API server's store. Older ones are deleted like any others.
const maxUnsent = 10

// listAfter is after how many runs the records are listed all the same: another operator may have left some.
const listAfter = 50

// Empty is the history of a Cleaner that has no records.
func Empty() History { return History{whole: true} }

// Add adds a run that has ended. One that is kept because a notification of it is still to be sent is looked at in a
// list, until it is not.
func (h *History) Add(run *v1alpha1.CleanerRun) {
	if h.added++; h.added > listAfter || run.UID == "" {
		h.whole = false
	}
	if run.UID != "" {
		h.add(run, time.Time{})
	}
}

// add files a record where it belongs.
func (h *History) add(run *v1alpha1.CleanerRun, now time.Time) {
	known := func(p past) bool { return p.uid == run.UID }
	switch {
	case slices.ContainsFunc(h.past, known), slices.ContainsFunc(h.keeping, known):
	case isPast(run, now):
		h.past = append(h.past, pastOf(run))
	case run.Status.Phase.Final() && holdsCopies(run):
		entry := pastOf(run)
		entry.until = run.Status.Copies.ExpirationTime.Time
		h.keeping = append(h.keeping, entry)
	default:
		h.whole = false
	}
}

// addUnsent files records with notifications that are still to be sent. The latest are looked at in the next list.
func (h *History) addUnsent(records []past) {
	slices.SortFunc(records, newestFirst)
	h.whole = h.whole && len(records) == 0
	for i, record := range records {
		if i >= maxUnsent {
			record.unsent = true
			h.past = append(h.past, record)
		}
	}
}

func newestFirst(a, b past) int { return b.nominal.Compare(a.nominal) }

func pastOf(run *v1alpha1.CleanerRun) past {
	return past{
		name:    run.Name,
		uid:     run.UID,
		nominal: run.Spec.NominalTime.Time,
		good:    run.Status.Phase.Good(),
	}
}

// isPast reports whether a record is there for people only.
func isPast(run *v1alpha1.CleanerRun, now time.Time) bool {
	return run.Status.Phase.Final() && !holdsCopies(run) && !hasUnsent(run, now)
}

// Prune deletes the Cleaner's oldest finished records beyond its history limits. Those that hold copies stay until
// Sweep drops the copies. The records are listed only when the history is not whole; it is up to date then.
func (j *Journal) Prune(ctx context.Context, cleaner *v1alpha1.Cleaner, history *History) error {
	if !history.whole {
		if err := j.listHistory(ctx, cleaner, history); err != nil {
			return err
		}
	}
	if err := j.lookAtKeeping(ctx, history); err != nil {
		return err
	}
	slices.SortFunc(history.past, newestFirst)
	good := ptr.Deref(cleaner.Spec.SuccessfulRunsHistoryLimit, 3)
	bad := ptr.Deref(cleaner.Spec.FailedRunsHistoryLimit, 1)
	var kept []past
	var errs []error
	for _, run := range history.past {
		if cleaner.HasPlanOf(run.name) || isActive(cleaner, run.name) {
			kept = append(kept, run)
			continue
		}
		left := &bad
		if run.good {
			left = &good
		}
		if *left--; *left >= 0 {
			kept = append(kept, run)
			continue
		}
		if run.unsent {
			klog.FromContext(ctx).Info("Gave up the notifications of a run, because those of later runs wait too", "run", run.name)
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

// isActive reports whether the status does not say yet how a run ended.
func isActive(cleaner *v1alpha1.Cleaner, run string) bool {
	return cleaner.Status.ActiveRun != nil && cleaner.Status.ActiveRun.Name == run
}

// listHistory lists the Cleaner's records, and reads those that are not known yet.
func (j *Journal) listHistory(ctx context.Context, cleaner *v1alpha1.Cleaner, history *History) error {
	before := map[types.UID]past{}
	for _, entry := range slices.Concat(history.past, history.keeping) {
		before[entry.uid] = entry
	}
	found, unknown := History{whole: true}, []string(nil)
	err := j.eachName(ctx, v1alpha1.GroupVersion.WithKind("CleanerRunList"), func(run *metav1.PartialObjectMetadata) {
		switch entry, known := before[run.UID]; {
		case !known:
			unknown = append(unknown, run.Name)
		case entry.until.IsZero():
			found.past = append(found.past, entry)
		default:
			found.keeping = append(found.keeping, entry)
		}
	}, client.MatchingLabels{v1alpha1.CleanerLabel: string(cleaner.UID)})
	if err != nil {
		return wrap("listing the CleanerRuns of "+cleaner.Name, err)
	}
	unsent, err := j.readRecords(ctx, unknown, &found)
	if err != nil {
		return err
	}
	found.addUnsent(unsent)
	*history = found
	return nil
}

// readRecords reads records, and files them. It returns those with notifications that are still to be sent.
func (j *Journal) readRecords(ctx context.Context, names []string, to *History) (unsent []past, err error) {
	for _, name := range names {
		run, err := j.Find(ctx, name)
		switch {
		case err != nil:
			return nil, err
		case run == nil:
		case run.Status.Phase.Final() && !holdsCopies(run) && hasUnsent(run, j.clock.Now()):
			unsent = append(unsent, pastOf(run))
		default:
			to.add(run, j.clock.Now())
		}
	}
	return unsent, nil
}

// lookAtKeeping reads the records whose copies may be dropped by now: their time is over, or they had to make room.
func (j *Journal) lookAtKeeping(ctx context.Context, history *History) error {
	if len(history.keeping) == 0 {
		return nil
	}
	if err := j.listKeepers(ctx); err != nil {
		return err
	}
	now, all := j.clock.Now(), history.keeping
	history.keeping = nil
	for i, entry := range all {
		if entry.until.After(now) && j.keepers.has(entry.uid) {
			history.keeping = append(history.keeping, entry)
			continue
		}
		run, err := j.Find(ctx, entry.name)
		if err != nil {
			history.keeping = append(history.keeping, all[i:]...)
			return err
		}
		if run == nil || run.UID != entry.uid {
			continue
		}
		if history.add(run, now); holdsCopies(run) {
			j.keepers.add(run)
		}
	}
	return nil
}

// Runs are the Cleaner's records without their objects, in no order.
func (j *Journal) Runs(ctx context.Context, cleaner *v1alpha1.Cleaner) ([]v1alpha1.CleanerRun, error) {
	var runs []v1alpha1.CleanerRun
	err := j.eachRun(ctx, func(run *v1alpha1.CleanerRun) { runs = append(runs, *withoutObjects(run)) },
		client.MatchingLabels{v1alpha1.CleanerLabel: string(cleaner.UID)})
	return runs, wrap("listing the CleanerRuns of "+cleaner.Name, err)
}
