// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// countsPerShard keeps one ConfigMap below 512 KiB: a key is at most 63 + 2 + 36 characters. Several are filled to
// three quarters on average, so that none of them is over that by chance.
const countsPerShard = 4000

// split spreads counts over ConfigMaps by a hash of the key: another object changes no more than one of them.
func split(counts map[string]int64) []map[string]string {
	n := 1
	for len(counts) > countsPerShard && len(counts) > n*countsPerShard*3/4 {
		n *= 2
	}
	parts := make([]map[string]string, n)
	for i := range parts {
		parts[i] = map[string]string{}
	}
	for key, count := range counts {
		hash := fnv.New32a()
		_, _ = hash.Write([]byte(key)) // it never fails
		parts[hash.Sum32()%uint32(n)][key] = strconv.FormatInt(count, 10)
	}
	return parts
}

// hashOfCounts distinguishes one content of a ConfigMap from all others.
func hashOfCounts(data map[string]string) (string, error) {
	text, err := json.Marshal(data)
	return hashOf(text)[:16], err
}

// isStale reports whether a ConfigMap counts for an earlier Cleaner of the same name.
func isStale(cleaner *v1alpha1.Cleaner, counts *corev1.ConfigMap) bool {
	owner, owned := counts.Labels[countsLabel]
	return owned && owner != string(cleaner.UID)
}

// isCounted reports whether a ConfigMap has what the first one says. Any other content is of a write that was cut off.
func isCounted(cleaner *v1alpha1.Cleaner, first, counts *corev1.ConfigMap) bool {
	if counts.Name == first.Name {
		return true
	}
	hash, err := hashOfCounts(counts.Data)
	for n, wanted := range strings.Split(first.Annotations[countedShardsAnnotation], ",") {
		if counts.Name == countsName(cleaner, n) {
			return err == nil && hash == wanted
		}
	}
	return false
}

// isStored reports whether a ConfigMap is there as it would be written.
func isStored(counts *corev1.ConfigMap, stored []corev1.ConfigMap) bool {
	i := slices.IndexFunc(stored, named(counts.Name))
	if i < 0 || !maps.Equal(stored[i].Data, counts.Data) || stored[i].Labels[countsLabel] != counts.Labels[countsLabel] {
		return false
	}
	for key, value := range counts.Annotations {
		if stored[i].Annotations[key] != value {
			return false
		}
	}
	return true
}
