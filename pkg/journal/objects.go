// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// EachObject hands out what became of all the objects that are written down of a run: those that its record lists, in
// that order, and then those that it has no room for. Of a run that acted, these are what it was going to touch, in the
// order of its intent; of any other, what is still kept of them. Of the rest, the record has only counts. It keeps none
// of them: a run may have touched a hundred thousand. After an error, those that were handed out are not all.
func EachObject(
	ctx context.Context, parts *Parts, run *v1alpha1.CleanerRun, each func(v1alpha1.ObjectOutcome),
) error {
	outcomes, err := ReadOutcomes(ctx, parts, run)
	if err != nil {
		return err
	}
	listed := listedIn(run)
	for _, o := range run.Status.Objects {
		each(o)
	}
	if run.Status.Intent == nil {
		return eachOther(ctx, parts, run, each)
	}
	n, planned := 0, int64(0)
	err = eachIntent(ctx, parts, run, func(intent *Intent) error {
		if !listed[identity{intent.kind().APIVersion(), intent.Kind, intent.UID}] {
			object := intent.became(outcomes[n])
			if each(object); object.Outcome == v1alpha1.OutcomePlanned {
				planned++
			}
		}
		n++
		return nil
	})
	if err == nil && run.Status.Phase.Final() && planned > mostPlanned(run) {
		return fmt.Errorf("a Secret with the outcomes of the run: %w", ErrNoPart)
	}
	return err
}

// mostPlanned is how many objects an ended run may have left as they were planned. It wrote down what became of all
// others.
func mostPlanned(run *v1alpha1.CleanerRun) (n int64) {
	tallies := Tallies(run)
	if len(tallies) >= maxTallies { // these are not all
		return math.MaxInt64
	}
	for _, tally := range tallies {
		if tally.Outcome == v1alpha1.OutcomePlanned {
			n += tally.Count
		}
	}
	return n
}

// identity is an object as a selector selects it.
type identity struct {
	apiVersion, kind string
	uid              types.UID
}

// listedIn are the objects that the record of a run lists.
func listedIn(run *v1alpha1.CleanerRun) map[identity]bool {
	listed := make(map[identity]bool, len(run.Status.Objects))
	for i := range run.Status.Objects {
		o := &run.Status.Objects[i]
		listed[identity{o.APIVersion, o.Kind, o.UID}] = true
	}
	return listed
}

// became is what became of the victim, as far as that is saved. The message is whole in the intent.
func (i *Intent) became(saved SavedOutcome) v1alpha1.ObjectOutcome {
	message := i.Message
	if saved.Message != "" && saved.Message != v1alpha1.Truncate(message, maxSavedReason) { // it was judged again
		message = saved.Message
	}
	return v1alpha1.ObjectOutcome{
		APIVersion: i.kind().APIVersion(), Kind: i.Kind, Namespace: i.Namespace, Name: i.Name, UID: i.UID,
		Outcome: cmp.Or(saved.Outcome, v1alpha1.OutcomePlanned), Reason: saved.Reason, Message: message,
	}
}
