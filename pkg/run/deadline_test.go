// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"math"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func TestDeadlineOf(t *testing.T) {
	for name, test := range map[string]struct {
		seconds *int64
		want    time.Duration
	}{
		"unset":    {nil, MaxDuration},
		"set":      {ptr.To(int64(90)), 90 * time.Second},
		"the most": {ptr.To(int64(3600)), MaxDuration},
		"more than the CustomResourceDefinition allows": {ptr.To(int64(math.MaxInt64)), MaxDuration},
	} {
		t.Run(name, func(t *testing.T) {
			cleaner := &v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{ActiveDeadlineSeconds: test.seconds}}
			if got := deadlineOf(cleaner); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestStopWordsOfWhoWaited(t *testing.T) {
	late := &deadlineError{30 * time.Second}
	for waited, want := range map[time.Duration]string{
		time.Second - 1: "activeDeadlineSeconds (30) passed before it began; raise it (at most 3600), or let the Cleaner select less.",
		29314 * time.Millisecond: "activeDeadlineSeconds (30) passed before it began. For 29.3s of that it waited for memory for its scripts, which other runs had: " +
			"raise --max-script-memory, or the deadline (at most 3600).",
	} {
		if got := stopWords(late, "before it began", waited); got != want {
			t.Errorf("%s: %s", waited, got)
		}
	}
}
