// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func TestBlastRadius(t *testing.T) {
	count := func(n int32) *v1alpha1.BlastRadiusLimit { return &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To(n)} }
	percentage := func(n int32) *v1alpha1.BlastRadiusLimit {
		return &v1alpha1.BlastRadiusLimit{MaxPercentage: ptr.To(n)}
	}
	both := &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To[int32](5), MaxPercentage: ptr.To[int32](10)}
	tests := map[string]struct {
		limit          *v1alpha1.BlastRadiusLimit
		matched, total int64
		want           string
	}{
		"no limit":                         {nil, 1000, 1000, ""},
		"nothing matched":                  {count(0), 0, 0, ""},
		"count, equal":                     {count(3), 3, 0, ""},
		"count, one more":                  {count(3), 4, 0, "blast radius limit exceeded: 4 resources matched (max count 3)"},
		"count 0":                          {count(0), 1, 9, "blast radius limit exceeded: 1 resources matched (max count 0)"},
		"percentage, equal":                {percentage(10), 10, 100, ""},
		"percentage, one more":             {percentage(10), 11, 100, "blast radius limit exceeded: 11% of resources matched (max percentage 10%)"},
		"percentage, a fraction more":      {percentage(10), 109, 1000, "blast radius limit exceeded: 10.9% of resources matched (max percentage 10%)"},
		"percentage, a hair more":          {percentage(10), 100001, 1000000, "blast radius limit exceeded: 10.0001% of resources matched (max percentage 10%)"},
		"percentage, a third":              {percentage(33), 1, 3, "blast radius limit exceeded: 33.33% of resources matched (max percentage 33%)"},
		"percentage 100 of all":            {percentage(100), 7, 7, ""},
		"percentage of a total of zero":    {percentage(100), 1, 0, "blast radius limit exceeded: 100% of resources matched (max percentage 100%)"},
		"either one trips, the count":      {both, 6, 1000, "blast radius limit exceeded: 6 resources matched (max count 5)"},
		"either one trips, the percentage": {both, 5, 49, "blast radius limit exceeded: 10.2% of resources matched (max percentage 10%)"},
		"neither trips":                    {both, 5, 50, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := BlastRadius(test.limit, test.matched, test.total); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Fatalf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestUnjudged(t *testing.T) {
	for _, test := range []struct {
		unjudged, considered int64
		want                 bool
	}{
		{0, 0, true}, {10, 10, true}, {11, 11, false}, {11, 1099, false}, {11, 1100, true}, {100, 9999, false}, {100, 10000, true},
	} {
		if err := Unjudged(test.unjudged, test.considered); (err == nil) != test.want {
			t.Errorf("%d of %d: %v", test.unjudged, test.considered, err)
		}
	}
}

func TestCountsSeen(t *testing.T) {
	first := Counts{}.Seen([]string{"a", "b"}, 3)
	second := first.Seen([]string{"a"}, 3)
	third := second.Seen([]string{"a", "b"}, 3)
	fourth := third.Seen([]string{"a", "b"}, 3)
	want := []Counts{{"a": 1, "b": 1}, {"a": 2}, {"a": 3, "b": 1}, {"a": 3, "b": 2}}
	if diff := cmp.Diff(want, []Counts{first, second, third, fourth}); diff != "" {
		t.Fatal(diff)
	}
}
