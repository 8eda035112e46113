// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Objects are what became of all the objects that are written down of a run: those that its record lists, in that
// order, and then those that it has no room for and that the run was going to touch, in the order of its intent. Of the
// others, the record has only counts.
func Objects(ctx context.Context, parts *Parts, run *v1alpha1.CleanerRun) ([]v1alpha1.ObjectOutcome, error) {
	intents, err := ReadIntent(ctx, parts, run)
	if err != nil {
		return nil, err
	}
	outcomes, err := ReadOutcomes(ctx, parts, run)
	if err != nil {
		return nil, err
	}
	type identity struct {
		apiVersion, kind string
		uid              types.UID
	}
	victims := make(map[identity]int, len(intents))
	for i := range intents {
		victims[identity{intents[i].kind().APIVersion(), intents[i].Kind, intents[i].UID}] = i
	}
	list, listed := make([]v1alpha1.ObjectOutcome, 0, len(intents)), make([]bool, len(intents))
	for _, o := range run.Status.Objects {
		if i, ok := victims[identity{o.APIVersion, o.Kind, o.UID}]; ok {
			listed[i] = true
		}
		list = append(list, o)
	}
	for i := range intents {
		if !listed[i] {
			list = append(list, intents[i].became(outcomes[i]))
		}
	}
	return list, nil
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
