// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// DefaultMaxCopiesBytes is how much the copies of all runs may take together, compressed, in bytes.
const DefaultMaxCopiesBytes = 256 << 20

// runsPerPage is how many CleanerRuns are read at once. One has at most half a MiB.
const runsPerPage = 100

// Leftovers are runs that somebody has to look after.
type Leftovers struct {
	// Unfinished have no end yet; Unsent have ended, and have notifications still to be sent.
	Unfinished, Unsent []v1alpha1.CleanerRun
	// Copies are what is kept. Nil when not all records could be looked through.
	Copies *KeptCopies
}

// KeptCopies is how many copies there are, and how much they take, compressed, in bytes.
type KeptCopies struct{ Objects, Bytes int64 }

func (k *KeptCopies) add(run *v1alpha1.CleanerRun) {
	k.Objects += run.Status.Copies.Objects
	k.Bytes += run.Status.Copies.Bytes
}

// Sweep drops copies that have expired and, beyond maxBytes, the oldest, and deletes the records of Cleaners that are
// gone when they hold nothing any more.
func (j *Journal) Sweep(ctx context.Context, maxBytes int64) (left Leftovers, err error) {
	var kept []v1alpha1.CleanerRun
	var errs []error
	var wrong error
	err = j.eachRun(ctx, func(run *v1alpha1.CleanerRun) {
		if wrong == nil && j.CheckClock != nil { // now that the server has just answered
			wrong = j.CheckClock()
		}
		switch {
		case !run.Status.Phase.Final():
			left.Unfinished = append(left.Unfinished, *run)
			return
		case run.HasPendingNotifications(): // also when it is too late for them: that is to be said
			left.Unsent = append(left.Unsent, *withoutObjects(run))
			if !holdsCopies(run) {
				return
			}
		}
		if wrong != nil {
			return
		}
		keeps, err := j.dropExpired(ctx, run)
		if errs = append(errs, err); keeps {
			kept = append(kept, *withoutObjects(run))
		}
	})
	errs = append(errs, err)
	if wrong != nil {
		return left, errors.Join(append(errs, fmt.Errorf("no copies are dropped: %w", wrong))...)
	}
	errs = append(errs, j.listKeepers(ctx))
	j.keepers.weigh(kept)
	copies, dropped := j.dropBeyond(ctx, kept, maxBytes)
	errs = append(errs, dropped)
	if err == nil {
		left.Copies = copies
	}
	return left, errors.Join(errs...)
}

// dropExpired drops the copies of a run that have expired, and the record of a Cleaner that is gone, when it holds
// nothing. It reports whether copies are kept.
func (j *Journal) dropExpired(ctx context.Context, run *v1alpha1.CleanerRun) (keeps bool, err error) {
	if !holdsCopies(run) {
		return false, j.dropOrphan(ctx, run)
	}
	until := run.Status.Copies.ExpirationTime
	if j.clock.Now().Before(until.Time) {
		return true, nil
	}
	return false, j.drop(ctx, run, "their retention time ended at "+until.UTC().Format(time.RFC3339))
}

// dropBeyond drops the oldest copies, as long as all take more than maxBytes, and says what is left.
func (j *Journal) dropBeyond(ctx context.Context, kept []v1alpha1.CleanerRun, maxBytes int64) (*KeptCopies, error) {
	slices.SortFunc(kept, func(a, b v1alpha1.CleanerRun) int { // newest first
		return b.Spec.NominalTime.Compare(a.Spec.NominalTime.Time)
	})
	copies, errs := &KeptCopies{}, []error(nil)
	for i := range kept {
		if copies.Bytes+kept[i].Status.Copies.Bytes <= maxBytes {
			copies.add(&kept[i])
			continue
		}
		errs = append(errs, j.dropEarly(ctx, &kept[i], tooManyBytes(maxBytes)))
	}
	return copies, errors.Join(errs...)
}

func tooManyBytes(most int64) string {
	return fmt.Sprintf("all copies together took more than %d bytes (--max-copies-bytes)", most)
}

// withoutObjects leaves out what is not needed of a run, and large.
func withoutObjects(run *v1alpha1.CleanerRun) *v1alpha1.CleanerRun {
	run.Status.Objects = nil
	return run
}

// hasUnsent reports whether a record is kept because a notification of it is still to be sent.
func hasUnsent(run *v1alpha1.CleanerRun, now time.Time) bool {
	return run.HasPendingNotifications() && (run.Status.CompletionTime == nil ||
		now.Sub(run.Status.CompletionTime.Time) < v1alpha1.NotificationRetention)
}

// holdsCopies reports whether a run's copies are still kept.
func holdsCopies(run *v1alpha1.CleanerRun) bool {
	return run.Status.Copies != nil && run.Status.Copies.Dropped == ""
}

// dropOrphan deletes the record of a Cleaner that is gone.
func (j *Journal) dropOrphan(ctx context.Context, run *v1alpha1.CleanerRun) error {
	if len(run.OwnerReferences) > 0 {
		return nil // it goes with its Cleaner
	}
	cleaner, err := j.Cleaner(ctx, run.Spec.Cleaner, run.Spec.CleanerUID)
	if err != nil || cleaner != nil {
		return err
	}
	return wrap("deleting CleanerRun "+run.Name,
		client.IgnoreNotFound(j.client.Delete(ctx, run, client.Preconditions{UID: &run.UID})))
}

// DropNeedless drops the copies of a run that has ended and touched nothing. The record says so first: nobody looks for
// the Secrets then, and those that cannot be deleted now go with the record.
func (j *Journal) DropNeedless(ctx context.Context, run *v1alpha1.CleanerRun) error {
	const why = "the run deleted and changed nothing"
	if run.Status.Copies.Storage != v1alpha1.StorageSecret {
		return j.drop(ctx, run, why)
	}
	if err := j.markDropped(ctx, run, why); err != nil {
		return err
	}
	return j.DropCopies(ctx, run)
}

// drop deletes the copies of a run, and says so in its status.
func (j *Journal) drop(ctx context.Context, run *v1alpha1.CleanerRun, why string) error {
	if err := j.DropCopies(ctx, run); err != nil {
		return err
	}
	return j.markDropped(ctx, run, why)
}

// markDropped says in the status of a run that its copies are not kept any more.
func (j *Journal) markDropped(ctx context.Context, run *v1alpha1.CleanerRun, why string) error {
	j.keepers.remove(run.UID)
	patch := fmt.Appendf(nil, `{"metadata":{"uid":%q},"status":{"copies":{"objects":0,"dropped":%q}}}`, run.UID, why)
	target := &v1alpha1.CleanerRun{ObjectMeta: metav1.ObjectMeta{Name: run.Name}}
	err := j.client.Status().Patch(ctx, target, client.RawPatch(types.MergePatchType, patch))
	return wrap("writing that the copies of CleanerRun "+run.Name+" were dropped", client.IgnoreNotFound(err))
}
