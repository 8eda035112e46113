// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const (
	// MaxKeepersPerCleaner is how many runs of one Cleaner keep copies, unless Places say otherwise: those of a week where
	// each hour something is deleted.
	MaxKeepersPerCleaner = 200
	// MaxKeepers is how many runs of all Cleaners do: each takes a record and at least one Secret.
	MaxKeepers = 2000
	// namesPerPage is how many objects are listed at once, by their metadata.
	namesPerPage = 500
)

// keeper is a run that keeps copies, as far as is known: they may have been dropped since.
type keeper struct {
	cleaner, uid types.UID
	name         string
	nominal      time.Time
	// bytes is how much the copies take. Zero until somebody has read the record of a run that was listed.
	bytes int64
}

// keepers are the runs that keep copies, the oldest first. They are listed once: after that, only this process makes
// any. It is safe for concurrent use.
type keepers struct {
	mu     sync.Mutex
	listed bool
	runs   []keeper
}

// nominalOf is the nominal time that stands in a run's name. Of any other name it is when the Secret was created.
func nominalOf(run string, secret *metav1.PartialObjectMetadata) time.Time {
	seconds, err := strconv.ParseInt(run[strings.LastIndexByte(run, '-')+1:], 10, 64)
	if err != nil {
		return secret.CreationTimestamp.Time
	}
	return time.Unix(seconds, 0)
}

// makeRoom drops the oldest copies where another run that keeps some would be one too many, of its Cleaner or of all,
// and while all take too much. What cannot be dropped does not keep the run from working: the sweep drops it when it
// expires.
func (j *Journal) makeRoom(ctx context.Context, cleaner types.UID) error {
	if err := j.listKeepers(ctx); err != nil {
		return err
	}
	for {
		oldest, why := j.tooMany(cleaner)
		if why == "" {
			return nil
		}
		if err := j.dropKeeper(ctx, oldest, why); err != nil {
			klog.FromContext(ctx).Error(err, "Could not drop the oldest copies", "run", oldest.name)
		}
	}
}

// tooMany takes the run out whose copies are to be dropped, and says why. There is none when why is empty.
func (j *Journal) tooMany(cleaner types.UID) (oldest keeper, why string) {
	perCleaner, all := cmp.Or(j.Places.MaxKeepersPerCleaner, MaxKeepersPerCleaner), cmp.Or(j.Places.MaxKeepers, MaxKeepers)
	k := &j.keepers
	k.mu.Lock()
	defer k.mu.Unlock()
	ofCleaner, first, bytes := 0, -1, int64(0)
	for i := range k.runs {
		bytes += k.runs[i].bytes
		if k.runs[i].cleaner == cleaner {
			if ofCleaner++; first < 0 {
				first = i
			}
		}
	}
	at := 0
	switch {
	case ofCleaner >= perCleaner:
		at, why = first, fmt.Sprintf("%d newer runs of the Cleaner keep copies, which is the limit", perCleaner)
	case len(k.runs) >= all:
		why = fmt.Sprintf("%d newer runs of all Cleaners keep copies, which is the limit", all)
	case j.Places.MaxBytes > 0 && bytes > j.Places.MaxBytes:
		why = tooManyBytes(j.Places.MaxBytes)
	default:
		return keeper{}, ""
	}
	oldest = k.runs[at]
	k.runs = slices.Delete(k.runs, at, at+1)
	return oldest, why
}

// dropKeeper drops the copies of a run, if it still keeps any.
func (j *Journal) dropKeeper(ctx context.Context, oldest keeper, why string) error {
	run, err := j.Find(ctx, oldest.name)
	if err != nil || run == nil || run.UID != oldest.uid || !run.Status.Phase.Final() || !holdsCopies(run) {
		return err
	}
	return j.dropEarly(ctx, run, why)
}

// dropEarly drops copies before their time, and reports that.
func (j *Journal) dropEarly(ctx context.Context, run *v1alpha1.CleanerRun, why string) error {
	err := j.drop(ctx, run, why)
	if err == nil && j.Dropped != nil {
		j.Dropped(run, why)
	}
	return err
}

// add adds a run that keeps copies.
func (k *keepers) add(run *v1alpha1.CleanerRun) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.runs = slices.DeleteFunc(k.runs, isOf(run.UID)) // it may have been listed already
	k.runs = append(k.runs, keeper{
		cleaner: run.Spec.CleanerUID, uid: run.UID, name: run.Name, nominal: run.Spec.NominalTime.Time,
		bytes: ptr.Deref(run.Status.Copies, v1alpha1.RunCopies{}).Bytes,
	})
	slices.SortStableFunc(k.runs, byAge)
}

// weigh takes note of how much the copies of runs take.
func (k *keepers) weigh(runs []v1alpha1.CleanerRun) {
	bytes := make(map[types.UID]int64, len(runs))
	for i := range runs {
		bytes[runs[i].UID] = runs[i].Status.Copies.Bytes
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.runs {
		if weighed, is := bytes[k.runs[i].uid]; is {
			k.runs[i].bytes = weighed
		}
	}
}

// remove forgets a run whose copies were dropped.
func (k *keepers) remove(run types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.runs = slices.DeleteFunc(k.runs, isOf(run))
}

func (k *keepers) has(run types.UID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.ContainsFunc(k.runs, isOf(run))
}

func isOf(run types.UID) func(keeper) bool { return func(k keeper) bool { return k.uid == run } }

// byAge puts the oldest first.
func byAge(a, b keeper) int { return cmp.Or(a.nominal.Compare(b.nominal), cmp.Compare(a.name, b.name)) }

// listKeepers lists the runs that keep copies, once, by the Secrets that stand for these.
func (j *Journal) listKeepers(ctx context.Context) error {
	k := &j.keepers
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.listed {
		return nil
	}
	known := map[types.UID]bool{}
	var found []keeper
	err := j.eachName(ctx, corev1.SchemeGroupVersion.WithKind("SecretList"), func(secret *metav1.PartialObjectMetadata) {
		owner := metav1.GetControllerOf(secret)
		if owner != nil && !known[owner.UID] {
			known[owner.UID] = true
			found = append(found, keeper{
				cleaner: types.UID(secret.Labels[v1alpha1.CopiesLabel]), uid: owner.UID, name: owner.Name,
				nominal: nominalOf(owner.Name, secret),
			})
		}
	}, client.InNamespace(j.namespace), client.HasLabels{v1alpha1.CopiesLabel})
	if err != nil {
		return wrap("listing the Secrets with copies", err)
	}
	slices.SortFunc(found, byAge)
	k.runs, k.listed = found, true
	return nil
}
