// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func TestTooMany(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cleaners        string // of the runs, the oldest first
		perCleaner, all int
		oldest          string
		why             string
	}{
		"none":             {"", 1, 1, "", ""},
		"room":             {"aab", 3, 4, "", ""},
		"of the Cleaner":   {"babaa", 3, 10, "a-1", "3 newer runs of the Cleaner keep copies, which is the limit"},
		"of all":           {"baba", 3, 4, "b-0", "4 newer runs of all Cleaners keep copies, which is the limit"},
		"of both":          {"baba", 2, 4, "a-1", "2 newer runs of the Cleaner keep copies, which is the limit"},
		"of another only":  {"bbbba", 3, 10, "", ""},
		"the usual limits": {"aaaa", 0, 0, "", ""},
	} {
		j := &Journal{Places: Places{MaxKeepersPerCleaner: c.perCleaner, MaxKeepers: c.all}}
		for i := len(c.cleaners) - 1; i >= 0; i-- { // however they come
			run := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{CleanerUID: types.UID(c.cleaners[i : i+1]), NominalTime: metav1.NewTime(time.Unix(int64(i), 0))}}
			run.Name = fmt.Sprintf("%c-%d", c.cleaners[i], i)
			run.UID = types.UID(run.Name)
			j.keepers.add(run)
			j.keepers.add(run) // once
		}
		oldest, why := j.tooMany("a")
		if oldest.name != c.oldest || why != c.why || oldest.name != "" && j.keepers.has(oldest.uid) {
			t.Errorf("%s: got %s, %q", name, oldest.name, why)
		}
	}
}

func TestNominalOf(t *testing.T) {
	t.Parallel()
	created := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(time.Unix(5, 0))}}
	for name, want := range map[string]int64{"unused-1795426721": 1795426721, "made-by-hand": 5, "": 5} {
		if got := nominalOf(name, created).Unix(); got != want {
			t.Errorf("%q: got %d, want %d", name, got, want)
		}
	}
}
