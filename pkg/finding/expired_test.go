// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

// TestDialects: what marks of several tools say together, and those of some of them alone.
func TestDialects(t *testing.T) {
	t.Parallel()
	kinds := served(t)
	const janitor, ours, both = "KubeJanitor", "KubeCleaner", "KubeCleaner KubeJanitor"
	for name, test := range map[string]struct {
		marks string
		// all is what is said without dialects, and by what of those that are named.
		all string
		by  map[string]string
	}{
		"another one keeps it": {
			"janitor/ttl: 1h, cleaner/ttl: forever", "",
			map[string]string{janitor: "it expired at 2026-03-01T11:00:00Z, by janitor/ttl", ours: "", both: "", "Mayfly": ""},
		},
		"another one cannot be read": {
			"janitor/ttl: 1h, cleaner/ttl: 1x",
			"it is unknown when it expires: annotation cleaner/ttl \"1x\" cannot be read: write a duration such as 90m, 12h, 7d or 2w, or forever",
			map[string]string{janitor: "it expired at 2026-03-01T11:00:00Z, by janitor/ttl", "Mayfly": ""},
		},
		"both are over": {
			"janitor/ttl: 1h, cleaner/ttl: 90m", "it expired at 2026-03-01T11:30:00Z, by cleaner/ttl",
			map[string]string{
				janitor: "it expired at 2026-03-01T11:00:00Z, by janitor/ttl",
				both:    "it expired at 2026-03-01T11:30:00Z, by cleaner/ttl",
			},
		},
	} {
		for _, each := range []bool{false, true} {
			f := finding.New(finding.Options{
				Table: tableOf(t), Served: kinds, Now: now, EachDialect: each, Wanted: []finding.Want{{
					Kind: gk("ConfigMap"),
					Type: v1alpha1.FindingExpired,
				}},
			})
			o := load(t, of("v1 ConfigMap shop/a", "creationTimestamp: "+ago(2*time.Hour)+", annotations: {"+test.marks+"}"), 1, kinds)
			f.Look(f.Lists()[0], o)
			found := slices.Collect(f.Findings())
			if told := len(found) == 1; told != (each || test.all != "") {
				t.Errorf("%s: %d findings with each dialect: %t", name, len(found), each)
			}
			for _, one := range found {
				if got := reason(one.Expired(now)); got != test.all {
					t.Errorf("%s: all: %s\nwant %s", name, got, test.all)
				}
				for dialects, want := range test.by {
					var asked []v1alpha1.MarkDialect
					for dialect := range strings.FieldsSeq(dialects) {
						asked = append(asked, v1alpha1.MarkDialect(dialect))
					}
					if got := reason(one.Expired(now, asked...)); got != want {
						t.Errorf("%s: %s: %s\nwant %s", name, dialects, got, want)
					}
				}
			}
		}
	}
}

func reason(f *finding.Finding) string {
	if f == nil {
		return ""
	}
	return f.Reason
}
