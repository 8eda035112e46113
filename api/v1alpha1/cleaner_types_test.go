// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"math"
	"testing"
	"time"

	"k8s.io/utils/ptr"
)

func TestStartingDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		seconds *int64
		want    *time.Duration
	}{
		"unset":                      {nil, nil},
		"0":                          {ptr.To[int64](0), ptr.To(10 * time.Second)},
		"too short":                  {ptr.To[int64](9), ptr.To(10 * time.Second)},
		"as short as can be":         {ptr.To[int64](10), ptr.To(10 * time.Second)},
		"usual":                      {ptr.To[int64](600), ptr.To(10 * time.Minute)},
		"more than a Duration holds": {ptr.To[int64](math.MaxInt64), ptr.To(time.Duration(math.MaxInt64).Truncate(time.Second))},
	} {
		cleaner := &Cleaner{Spec: CleanerSpec{StartingDeadlineSeconds: c.seconds}}
		if got := cleaner.StartingDeadline(); !ptr.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
