// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
)

const (
	// outdatedDelay is after how long a Cleaner is looked at again of which the API server does not keep all fields.
	outdatedDelay = 30 * time.Second
	// watchEvery is how often the API server is asked which fields it keeps, also when nothing runs.
	watchEvery = 10 * time.Second
)

// outdated leaves a Cleaner alone whose fields the API server does not all keep. To write anything of it, if only the
// status, would store it as the API server shows it: what was dropped would be lost for good. So its status says
// something only when it is known that nothing of the spec was dropped: the cache can be behind, so the API server
// refuses a patch of a spec that it does not keep.
func (r *CleanerReconciler) outdated(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	lacks string,
) (reconcile.Result, error) {
	if memory := r.memoryOf(cleaner.Name); memory.outdated.uid != cleaner.UID {
		memory.outdated = sight{cleaner.UID, cleaner.Generation, r.Clock.Now()}
	}
	again := reconcile.Result{RequeueAfter: wait.Jitter(outdatedDelay, 0.2)}
	if cleaner.Status.ObservedSpec != v1alpha1.Stamp(cleaner.Generation, cleaner.Spec.Hash()) {
		return again, nil
	}
	stored := cleaner.DeepCopy()
	refuse(cleaner, v1alpha1.ReasonCRDOutdated, lacks)
	if err := r.patch(ctx, stored, cleaner); err != nil && !errors.Is(err, errNotKept) {
		return r.retry(cleaner.Name, err)
	}
	return again, nil
}

// recall says why a Cleaner may not run that lost fields while the API server did not keep them all. Its status may be
// lost as well: then the records name both. The error is errBehind when the loss is only the cache's.
func (r *CleanerReconciler) recall(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	memory *memory,
) (lost string, err error) {
	stamp, forgotten, err := r.lastStamp(ctx, cleaner, memory)
	if err != nil {
		return "", err
	}
	outdated := memory.outdated.uid == cleaner.UID
	if stamp = cmp.Or(stamp, memory.seen); mayLack(cleaner, stamp, memory, r.begun()) {
		stamp = v1alpha1.Stamp(cleaner.Generation, editedMeanwhile)
	}
	isLost := cleaner.LostFields(stamp)
	if isLost || forgotten || outdated {
		if err := r.isLive(ctx, cleaner); err != nil {
			return "", err
		}
	}
	if isLost {
		lost = "It does not run: " + v1alpha1.LostFieldsWords + "."
	}
	if forgotten {
		forgiveLostStatus(cleaner)
	}
	if cleaner.Status.ObservedSpec = stamp; lost == "" {
		cleaner.Status.ObservedSpec = v1alpha1.Stamp(cleaner.Generation, cleaner.Spec.Hash())
	}
	return lost, nil
}

// isLive returns errBehind when the Cleaner is not as the API server has it.
func (r *CleanerReconciler) isLive(ctx context.Context, cleaner *v1alpha1.Cleaner) error {
	live, err := r.Journal.Cleaner(ctx, cleaner.Name, cleaner.UID)
	if err == nil && (live == nil || live.Spec.Hash() != cleaner.Spec.Hash() ||
		live.Status.ObservedSpec != cleaner.Status.ObservedSpec) {
		return errBehind
	}
	return err
}

// editedMeanwhile is in the stamp of a spec of which nobody knows what its author wrote: it is no spec's hash.
const editedMeanwhile = "edited-while-fields-were-dropped"

// An edit shortly before the API server was seen to drop fields may have come after it began to: it says so late, and
// is asked every watchEvery. A clock may be wrong by tolerance.
const (
	unsure    = watchEvery + 5*time.Second
	tolerance = time.Minute
)

// mayLack reports whether a Cleaner that may act was edited or created while the API server dropped fields: since the
// stamp was made or, without one, since this process looked first. One that was there before, and is as it was then, is
// whole, as k8s-cleaner's are when KubeCleaner takes them over.
func mayLack(cleaner *v1alpha1.Cleaner, stamp string, memory *memory, firstLook time.Time) bool {
	first := memory.outdated
	switch {
	case cleaner.EffectiveAction() == v1alpha1.ActionScan:
		return false
	case wasEditedUnseen(cleaner):
		return true
	case first.uid != cleaner.UID: // it was not seen while the API server dropped fields
		return false
	case stamp == "":
		return cleaner.Generation != first.generation ||
			!cleaner.CreationTimestamp.Time.Before(firstLook.Add(-tolerance).Truncate(time.Second))
	}
	return !isOfGeneration(stamp, cleaner.Generation) || first.time.Sub(memory.edited) < unsure
}

// wasEditedUnseen reports whether a Cleaner was edited while the API server dropped the status: only the annotation,
// which it keeps, still says which generation the operator saw last.
func wasEditedUnseen(cleaner *v1alpha1.Cleaner) bool {
	stamp := cleaner.AnnotatedStamp()
	return cleaner.Status.ObservedSpec == "" && stamp != "" && !isOfGeneration(stamp, cleaner.Generation)
}

func isOfGeneration(stamp string, generation int64) bool {
	return strings.HasPrefix(stamp, v1alpha1.Stamp(generation, ""))
}

// lastStamp is the stamp of the spec as it was seen last. Forgotten is true of a Cleaner that was seen before and has
// no status.
func (r *CleanerReconciler) lastStamp(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	memory *memory,
) (stamp string, forgotten bool, err error) {
	if seen := cleaner.Status.ObservedSpec; seen != "" {
		return seen, false, nil
	}
	if seen := cleaner.AnnotatedStamp(); seen != "" {
		return seen, len(cleaner.Status.Conditions) == 0, nil
	}
	if memory.unstamped {
		return "", false, nil
	}
	runs, err := r.Journal.Runs(ctx, cleaner)
	other := "" // of a record of which the Cleaner lost nothing
	for i := range runs {
		spec := &runs[i].Spec
		switch of := v1alpha1.Stamp(spec.CleanerGeneration, spec.CleanerSpecHash); {
		case spec.CleanerSpecHash == "":
		case cleaner.LostFields(of):
			stamp = of
		default:
			other = of
		}
	}
	if err == nil && len(runs) == 0 {
		memory.unstamped, memory.history = true, journal.Empty()
	}
	return cmp.Or(stamp, other), len(runs) > 0 && len(cleaner.Status.Conditions) == 0, err
}

// keepStamp annotates a Cleaner that may delete or change objects with the stamp of its spec: a run's record has it
// too, but there may be none yet.
func (r *CleanerReconciler) keepStamp(ctx context.Context, cleaner *v1alpha1.Cleaner) error {
	seen := cleaner.Status.ObservedSpec
	if seen == "" || seen == cleaner.AnnotatedStamp() || cleaner.EffectiveAction() == v1alpha1.ActionScan {
		return nil
	}
	stamped := cleaner.DeepCopy()
	metav1.SetMetaDataAnnotation(&stamped.ObjectMeta, v1alpha1.ObservedSpecAnnotation, string(cleaner.UID)+" "+seen)
	err := r.Client.Patch(ctx, stamped, client.MergeFromWithOptions(cleaner, client.MergeFromWithOptimisticLock{}))
	return client.IgnoreNotFound(err)
}

// forgiveLostStatus makes up for the status that a Cleaner lost: nobody knows whether its request for a run was
// answered, and it is not answered a second time.
func forgiveLostStatus(cleaner *v1alpha1.Cleaner) {
	cleaner.Status.ObservedGeneration = cleaner.Generation
	cleaner.Status.LastHandledRunRequest = cleaner.RunRequest()
}

// SchemaWatcher looks all the time whether the API server keeps all fields of Cleaners, and reports when that changes.
type SchemaWatcher struct {
	// Client reads Cleaners from the cache.
	Client client.Reader
	// Check says which fields the API server does not keep.
	Check   func(ctx context.Context) (lacks string, err error)
	Metrics *metrics.Metrics
	Events  events.EventRecorder
	Clock   clock.WithTicker
	// Wake makes a Cleaner be looked at.
	Wake func(name string)

	// reported is what was reported last.
	reported error
}

// NeedLeaderElection says that only the leader looks: the others run nothing.
func (w *SchemaWatcher) NeedLeaderElection() bool { return true }

// Start looks until the context ends.
func (w *SchemaWatcher) Start(ctx context.Context) error {
	ticker := w.Clock.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		w.Look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// Look looks once.
func (w *SchemaWatcher) Look(ctx context.Context) {
	log := klog.FromContext(ctx)
	lacks, fault := w.Check(ctx)
	if ctx.Err() != nil {
		return
	}
	outdated := fault
	if lacks != "" {
		outdated = errors.New(lacks)
	}
	w.Metrics.SchemaOutdated(outdated != nil)
	if fmt.Sprint(outdated) == fmt.Sprint(w.reported) {
		return
	}
	if outdated != nil {
		log.Error(outdated, "Nothing runs, because fields of Cleaners may be lost")
	} else if w.reported != nil {
		log.Info("The API server keeps all fields of Cleaners again")
	}
	var cleaners v1alpha1.CleanerList
	if err := w.Client.List(ctx, &cleaners); err != nil {
		log.Error(err, "Could not list the Cleaners") // they are woken for the change the next time
		return
	}
	w.reported = outdated
	for i := range cleaners.Items {
		if lacks != "" {
			w.Events.Eventf(
				&cleaners.Items[i],
				nil,
				corev1.EventTypeWarning,
				v1alpha1.ReasonCRDOutdated,
				"Check",
				"%s",
				v1alpha1.Truncate(lacks, 1024),
			)
		}
		w.Wake(cleaners.Items[i].Name)
	}
}
