// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

const (
	// countedRunAnnotation on the counts names the run that was counted last, so that a run that is carried out again
	// after its operator went away is not counted twice.
	countedRunAnnotation = "apps.projectsveltos.io/counted-run"
	// countedSelectionAnnotation on the counts holds a hash of what selected the objects that are counted.
	countedSelectionAnnotation = "apps.projectsveltos.io/counted-selection"
	// countsLabel on the counts holds the UID of their Cleaner.
	countsLabel = "apps.projectsveltos.io/counts-of"
	// countedShardsAnnotation on the first ConfigMap of the counts holds the hashes of what all of them count, in order.
	countedShardsAnnotation = "apps.projectsveltos.io/counted-shards"
)

// selectionOf is a hash of what selects the Cleaner's objects. What is done to them is no part of it.
func selectionOf(cleaner *v1alpha1.Cleaner) (string, error) {
	set := cleaner.Spec.ResourcePolicySet
	set.Action = nil
	text, err := json.Marshal(set)
	return hashOf(text), err
}

// Counts reads in how many consecutive runs objects have matched, and which run was counted last. Counts that
// k8s-cleaner left are adopted, and so are those that do not say what was selected.
func (j *Journal) Counts(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
) (counts map[string]int64, lastRun string, err error) {
	shards, err := j.shards(ctx, cleaner)
	if err != nil {
		return nil, "", err
	}
	selection, err := selectionOf(cleaner)
	if err != nil {
		return nil, "", wrap("reading what "+cleaner.Name+" selects", err)
	}
	i := slices.IndexFunc(shards, named(countsName(cleaner, 0)))
	if i < 0 {
		return map[string]int64{}, "", nil
	}
	first := &shards[i]
	// What is counted for an earlier Cleaner of the same name, or was selected in another way, starts anew, which only
	// delays.
	if selected := first.Annotations[countedSelectionAnnotation]; isStale(cleaner, first) ||
		selected != "" && selected != selection {
		return map[string]int64{}, first.Annotations[countedRunAnnotation], nil
	}
	return countsIn(cleaner, first, shards), first.Annotations[countedRunAnnotation], nil
}

// countsIn are the counts of the shards that were written with the first. A count that cannot be read starts anew:
// counts can only delay.
func countsIn(cleaner *v1alpha1.Cleaner, first *corev1.ConfigMap, shards []corev1.ConfigMap) map[string]int64 {
	counts := map[string]int64{}
	for i := range shards {
		if !isCounted(cleaner, first, &shards[i]) {
			continue
		}
		for key, text := range shards[i].Data {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
				counts[key] = n
			}
		}
	}
	return counts
}

func named(name string) func(corev1.ConfigMap) bool {
	return func(c corev1.ConfigMap) bool { return c.Name == name }
}

// errForeign says that a ConfigMap that holds something else has the name of the counts.
var errForeign = errors.New(
	"the ConfigMap is not one that KubeCleaner wrote. KubeCleaner needs this name for the counts of occurrenceThreshold: rename the ConfigMap or the Cleaner",
)

// shards reads the Cleaner's counts: those that carry its label, and the ConfigMap by k8s-cleaner's name.
func (j *Journal) shards(ctx context.Context, cleaner *v1alpha1.Cleaner) ([]corev1.ConfigMap, error) {
	doing := fmt.Sprintf("reading the counts of %s in ConfigMap %s/%s", cleaner.Name, j.namespace, countsName(cleaner, 0))
	var labelled corev1.ConfigMapList
	if err := j.client.List(
		ctx,
		&labelled,
		client.InNamespace(j.namespace),
		client.MatchingLabels{countsLabel: string(cleaner.UID)},
	); err != nil {
		return nil, wrap(doing, err)
	}
	shards := labelled.Items
	if slices.ContainsFunc(shards, named(countsName(cleaner, 0))) {
		return shards, nil
	}
	var first corev1.ConfigMap
	err := j.client.Get(ctx, client.ObjectKey{Namespace: j.namespace, Name: countsName(cleaner, 0)}, &first)
	if apiserver.IsAbsent(err, countsName(cleaner, 0)) {
		return shards, nil
	}
	if err == nil && !holdsCounts(&first) {
		err = errForeign
	}
	return append(shards, first), wrap(doing, err)
}

// holdsCounts distinguishes counts, ours and k8s-cleaner's, from what somebody else put under their name. Counts of
// k8s-cleaner may be empty.
func holdsCounts(c *corev1.ConfigMap) bool {
	if c.Labels[countsLabel] != "" || len(c.Data)+len(c.BinaryData) == 0 {
		return true
	}
	for key, text := range c.Data {
		if _, err := strconv.ParseUint(text, 10, 64); err == nil && strings.Contains(key, "__") {
			return true
		}
	}
	return false
}

// SaveCounts replaces the counts. Only the ConfigMaps that change are written; the first, which says what all of them
// count, is the last.
func (j *Journal) SaveCounts(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	counts map[string]int64,
	run string,
) error {
	old, err := j.shards(ctx, cleaner)
	if err != nil {
		return err
	}
	selection, err := selectionOf(cleaner)
	if err != nil {
		return wrap("reading what "+cleaner.Name+" selects", err)
	}
	parts := split(counts)
	hashes := make([]string, len(parts))
	shards := make([]*corev1.ConfigMap, len(parts))
	for n, data := range parts {
		if hashes[n], err = hashOfCounts(data); err != nil {
			return wrap("writing the counts of "+cleaner.Name, err)
		}
		shards[n] = j.shard(cleaner, n, data, nil)
	}
	shards[0].Annotations = map[string]string{
		countedSelectionAnnotation: selection,
		countedShardsAnnotation:    strings.Join(hashes, ","),
	}
	changed := slices.DeleteFunc(slices.Clone(shards), func(shard *corev1.ConfigMap) bool { return isStored(shard, old) })
	if len(changed) > 0 && changed[0] != shards[0] {
		changed = slices.Insert(changed, 0, shards[0])
	}
	shards[0].Annotations[countedRunAnnotation] = run
	for _, shard := range slices.Backward(changed) {
		if err := j.put(ctx, shard, old); err != nil {
			return wrap("writing the counts of "+cleaner.Name, err)
		}
	}
	return j.dropShards(ctx, old, shards)
}

func (j *Journal) shard(cleaner *v1alpha1.Cleaner, n int, data, annotations map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: j.namespace, Name: countsName(cleaner, n),
			Labels:          map[string]string{countsLabel: string(cleaner.UID)},
			Annotations:     annotations,
			OwnerReferences: []metav1.OwnerReference{ownedBy(cleaner)},
		},
		Data: data,
	}
}

// put creates or replaces one ConfigMap.
func (j *Journal) put(ctx context.Context, shard *corev1.ConfigMap, old []corev1.ConfigMap) error {
	i := slices.IndexFunc(old, named(shard.Name))
	if i < 0 {
		return j.client.Create(ctx, shard)
	}
	shard.ResourceVersion = old[i].ResourceVersion
	return j.client.Update(ctx, shard)
}

// DropCounts deletes the Cleaner's counts, if there are any.
func (j *Journal) DropCounts(ctx context.Context, cleaner *v1alpha1.Cleaner) error {
	old, err := j.shards(ctx, cleaner)
	if errors.Is(err, errForeign) {
		return nil // there are none, and what is there is not ours
	}
	if err != nil {
		return err
	}
	return wrap("deleting the counts of "+cleaner.Name, j.dropShards(ctx, old, nil))
}

// dropShards deletes the old ConfigMaps that have no successor.
func (j *Journal) dropShards(ctx context.Context, old []corev1.ConfigMap, kept []*corev1.ConfigMap) error {
	for i := range old {
		if slices.ContainsFunc(kept, func(c *corev1.ConfigMap) bool { return c.Name == old[i].Name }) {
			continue
		}
		judged := client.Preconditions{UID: &old[i].UID, ResourceVersion: &old[i].ResourceVersion}
		if err := j.client.Delete(ctx, &old[i], judged); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// countsName is k8s-cleaner's name for the first ConfigMap. The others carry the Cleaner's UID, so that no Cleaner's
// name can be chosen to meet them.
func countsName(cleaner *v1alpha1.Cleaner, n int) string {
	if n == 0 {
		return v1alpha1.ShortName("cleaner-"+cleaner.Name, 253)
	}
	return fmt.Sprintf("cleaner-counts-%s-%d", cleaner.UID, n)
}
