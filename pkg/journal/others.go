// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

const (
	// maxOtherBytes bounds what a run stores of the objects that its record has no room for, compressed.
	maxOtherBytes = 8 << 20
	// maxOtherParts bounds in how many parts those of all runs are: about 128 MiB, compressed.
	maxOtherParts = 512
	// runsWithOthers is of how many runs of a Cleaner they are kept: of the latest, and of the one that it is compared
	// with.
	runsWithOthers = 2
	// otherTimeout bounds the storing: the end of the run waits for it.
	otherTimeout = 30 * time.Second
)

// KeepOthers stores the objects of a run that touched nothing and that its record, which is described by now, has no
// room for. A run that acted has an intent instead. It returns what to add to the run's message: nothing, unless they
// could not be stored. The record then only counts them.
func (j *Journal) KeepOthers(
	ctx context.Context,
	run *v1alpha1.CleanerRun,
	outcomes []stage.Outcome,
	more iter.Seq[stage.Outcome],
) string {
	run.Status.OtherObjects = nil
	if run.Status.ObjectsOmitted == 0 || run.Status.Intent != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, otherTimeout)
	defer cancel()
	err := j.makeRoomForOthers(ctx, run)
	if err == nil {
		err = j.storeOthers(ctx, run, outcomes, more)
	}
	if err == nil {
		return ""
	}
	klog.FromContext(ctx).Error(err, "Could not store the objects that the record has no room for", "run", run.Name)
	return fmt.Sprintf(" %d of the objects are counted, but not listed, because they could not be stored: %s.",
		run.Status.ObjectsOmitted, strings.Join(strings.Fields(err.Error()), " "))
}

// storeOthers writes the parts. When one cannot be written, it takes back the others.
func (j *Journal) storeOthers(
	ctx context.Context,
	run *v1alpha1.CleanerRun,
	outcomes []stage.Outcome,
	more iter.Seq[stage.Outcome],
) error {
	attempt := utilrand.String(5)
	parts := j.newBundle(run, attempt)
	parts.closed = true // there is nothing else to put into the same Secret
	stored := parts.chain(streamObjects, &budget{left: maxOtherBytes})
	err := addOthers(ctx, stored, listedIn(run), outcomes, more)
	if err == nil {
		err = stored.flush(ctx)
	}
	if err != nil {
		dropping, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTimeout)
		defer cancel()
		parts.drop(dropping)
		return err
	}
	run.Status.OtherObjects = &v1alpha1.RunParts{
		Namespace: j.namespace, Attempt: attempt, Objects: stored.objects, Parts: stored.parts, Head: stored.head,
	}
	return nil
}

// addOthers adds the objects that are not listed, as many as there is surely room for.
func addOthers(
	ctx context.Context,
	stored *chain,
	listed map[identity]bool,
	outcomes []stage.Outcome,
	more iter.Seq[stage.Outcome],
) error {
	for _, seq := range []iter.Seq[stage.Outcome]{slices.Values(outcomes), more} {
		for outcome := range seq {
			entry := entryOf(&outcome)
			if listed[identity{entry.APIVersion, entry.Kind, entry.UID}] {
				continue
			}
			if stored.size > maxOtherBytes-2*maxPartBytes {
				return nil
			}
			if err := stored.add(ctx, entry); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachOther hands out the objects that a run that touched nothing stored beside its record. It hands out none when they
// are not kept any more.
func eachOther(
	ctx context.Context, parts *Parts, run *v1alpha1.CleanerRun, each func(v1alpha1.ObjectOutcome),
) error {
	stored := run.Status.OtherObjects
	if stored == nil {
		return nil
	}
	get := func(ctx context.Context, n int32) ([]byte, error) {
		return parts.part(ctx, run, place{stored.Namespace, stored.Attempt}, streamObjects, n)
	}
	begun := false
	err := readChain(ctx, run.UID, streamObjects, stored.Parts, stored.Head, get, func(d *json.Decoder) error {
		var entry v1alpha1.ObjectOutcome
		if err := d.Decode(&entry); err != nil {
			return err
		}
		begun = true
		each(entry)
		return nil
	})
	if errors.Is(err, ErrNoPart) && !begun {
		return nil
	}
	return err
}

// others are the Secrets with objects of a run that its record has no room for.
type others struct {
	uid     types.UID
	run     string
	nominal time.Time
	secrets []*metav1.PartialObjectMetadata
}

// cleaner is what the names of all runs of a Cleaner begin with, and those of no other.
func (o *others) cleaner() string { return o.run[:max(0, strings.LastIndexByte(o.run, '-'))] }

// makeRoomForOthers deletes what is too much when the run stores as much as it may: of its Cleaner, and then the oldest
// of all Cleaners.
func (j *Journal) makeRoomForOthers(ctx context.Context, run *v1alpha1.CleanerRun) error {
	found, err := j.listOthers(ctx)
	if err != nil {
		return wrap("listing the Secrets with objects of earlier runs", err)
	}
	slices.SortFunc(found, func(a, b *others) int { // newest first
		return cmp.Or(b.nominal.Compare(a.nominal), cmp.Compare(b.run, a.run))
	})
	parts, runs := maxOtherBytes/fullPartBytes, map[string]int{(&others{run: run.Name}).cleaner(): 1}
	var errs []error
	for _, o := range found {
		left := o.uid == run.UID // by an attempt of this run that was cut off
		if !left && runs[o.cleaner()] < runsWithOthers && parts+len(o.secrets) <= maxOtherParts {
			runs[o.cleaner()]++
			parts += len(o.secrets)
			continue
		}
		for _, secret := range o.secrets {
			errs = append(errs, client.IgnoreNotFound(j.client.Delete(ctx, secret, client.Preconditions{UID: &secret.UID})))
		}
	}
	return wrap("deleting the Secrets with objects of earlier runs", errors.Join(errs...))
}

// listOthers lists what runs have stored.
func (j *Journal) listOthers(ctx context.Context) ([]*others, error) {
	byRun := map[types.UID]*others{}
	var found []*others
	err := j.eachName(ctx, corev1.SchemeGroupVersion.WithKind("SecretList"), func(secret *metav1.PartialObjectMetadata) {
		owner := metav1.GetControllerOf(secret)
		if owner == nil {
			return
		}
		of := byRun[owner.UID]
		if of == nil {
			of = &others{uid: owner.UID, run: owner.Name, nominal: nominalOf(owner.Name, secret)}
			byRun[owner.UID] = of
			found = append(found, of)
		}
		of.secrets = append(of.secrets, secret)
	}, client.InNamespace(j.namespace), client.MatchingLabels{v1alpha1.PartLabel: streamObjects})
	return found, err
}
