// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// countedRunAnnotation on the counts names the run that was counted last, so that a run that is carried out again
	// after its operator went away is not counted twice.
	countedRunAnnotation = "apps.projectsveltos.io/counted-run"
	// countedSelectionAnnotation on the counts holds a hash of what selected the objects that are counted.
	countedSelectionAnnotation = "apps.projectsveltos.io/counted-selection"
	// countsLabel on the counts holds the UID of their Cleaner.
	countsLabel = "apps.projectsveltos.io/counts-of"
	// countsPerShard keeps one ConfigMap below 512 KiB: a key is at most 63 + 2 + 36 characters.
	countsPerShard = 4000
)

// CountKey is an object's key in the counts, as k8s-cleaner writes it.
func CountKey(o object.Object) string { return o.Kind.Kind + "__" + string(o.UID) }

// selectionOf is a hash of what selects the Cleaner's objects. What is done to them is no part of it.
func selectionOf(cleaner *v1alpha1.Cleaner) (string, error) {
	set := cleaner.Spec.ResourcePolicySet
	set.Action = nil
	text, err := json.Marshal(set)
	return hashOf(text), err
}

// Counts reads in how many consecutive runs objects have matched, and which run was counted last. Counts that k8s-cleaner
// left are adopted, and so are those that do not say what was selected.
func (j *Journal) Counts(ctx context.Context, cleaner *v1alpha1.Cleaner) (counts map[string]int64, lastRun string, err error) {
	shards, err := j.shards(ctx, cleaner)
	if err != nil {
		return nil, "", err
	}
	selection, err := selectionOf(cleaner)
	if err != nil {
		return nil, "", wrap("reading what "+cleaner.Name+" selects", err)
	}
	counts = map[string]int64{}
	if i := slices.IndexFunc(shards, named(countsName(cleaner, 0))); i >= 0 {
		lastRun = shards[i].Annotations[countedRunAnnotation]
	}
	for i := range shards {
		// A part that another run wrote is of a write that was cut off: what it counts starts anew, which only delays. So
		// do the counts of an earlier Cleaner of the same name, and of what was selected in another way.
		selected := shards[i].Annotations[countedSelectionAnnotation]
		owner, owned := shards[i].Labels[countsLabel]
		if shards[i].Annotations[countedRunAnnotation] != lastRun || (owned && owner != string(cleaner.UID)) || (selected != "" && selected != selection) {
			continue
		}
		for key, text := range shards[i].Data {
			// A count that cannot be read starts anew: counts can only delay.
			if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
				counts[key] = n
			}
		}
	}
	return counts, lastRun, nil
}

func named(name string) func(corev1.ConfigMap) bool {
	return func(c corev1.ConfigMap) bool { return c.Name == name }
}

// errForeign says that a ConfigMap that holds something else has the name of the counts.
var errForeign = errors.New("it holds something else than counts; occurrenceThreshold needs that name, so rename the ConfigMap or the Cleaner")

// shards reads the Cleaner's counts: those that carry its label, and the ConfigMap by k8s-cleaner's name.
func (j *Journal) shards(ctx context.Context, cleaner *v1alpha1.Cleaner) ([]corev1.ConfigMap, error) {
	doing := fmt.Sprintf("reading the counts of %s in ConfigMap %s/%s", cleaner.Name, j.namespace, countsName(cleaner, 0))
	var labelled corev1.ConfigMapList
	if err := j.client.List(ctx, &labelled, client.InNamespace(j.namespace), client.MatchingLabels{countsLabel: string(cleaner.UID)}); err != nil {
		return nil, wrap(doing, err)
	}
	shards := labelled.Items
	if slices.ContainsFunc(shards, named(countsName(cleaner, 0))) {
		return shards, nil
	}
	var first corev1.ConfigMap
	err := j.client.Get(ctx, client.ObjectKey{Namespace: j.namespace, Name: countsName(cleaner, 0)}, &first)
	if object.IsAbsent(err, countsName(cleaner, 0)) {
		return shards, nil
	}
	if err == nil && !holdsCounts(&first) {
		err = errForeign
	}
	return append(shards, first), wrap(doing, err)
}

// holdsCounts tells counts, ours and k8s-cleaner's, from what somebody else put under their name.
func holdsCounts(c *corev1.ConfigMap) bool {
	if c.Labels[countsLabel] != "" {
		return true
	}
	for key, text := range c.Data {
		if _, err := strconv.ParseUint(text, 10, 64); err == nil && strings.Contains(key, "__") {
			return true
		}
	}
	return false
}

// SaveCounts replaces the counts. The first ConfigMap, which says which run was counted last, is written last.
func (j *Journal) SaveCounts(ctx context.Context, cleaner *v1alpha1.Cleaner, counts map[string]int64, run string) error {
	old, err := j.shards(ctx, cleaner)
	if err != nil {
		return err
	}
	selection, err := selectionOf(cleaner)
	if err != nil {
		return wrap("reading what "+cleaner.Name+" selects", err)
	}
	keys := slices.Sorted(maps.Keys(counts))
	var shards []*corev1.ConfigMap
	for n := 0; n == 0 || len(keys) > 0; n++ {
		part := keys[:min(countsPerShard, len(keys))]
		keys = keys[len(part):]
		data := make(map[string]string, len(part))
		for _, key := range part {
			data[key] = strconv.FormatInt(counts[key], 10)
		}
		shards = append(shards, j.shard(cleaner, n, data, map[string]string{countedRunAnnotation: run, countedSelectionAnnotation: selection}))
	}
	for n := len(shards) - 1; n >= 0; n-- {
		if err := j.put(ctx, shards[n], old); err != nil {
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

// countsName is k8s-cleaner's name for the first ConfigMap. The others carry the Cleaner's UID, so that no Cleaner's name
// can be chosen to meet them.
func countsName(cleaner *v1alpha1.Cleaner, n int) string {
	if n == 0 {
		return v1alpha1.ShortName("cleaner-"+cleaner.Name, 253)
	}
	return fmt.Sprintf("cleaner-counts-%s-%d", cleaner.UID, n)
}
