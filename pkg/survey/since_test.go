// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// TestSince follows one object through runs: found, unknown, weak, not asked about, or not found.
func TestSince(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_700_000_000, 0)
	const found, unknown, weak, unasked, used = 'f', 'u', 'w', '-', 'n'
	for name, test := range map[string]struct {
		runs string
		// earlier is how long before the first run the API server knows a part of it to be so: that no Pod uses a claim. 0
		// where nobody knows.
		earlier time.Duration
		waits   bool
		// since is the run since which it is counted. -1 is that it is not.
		since int
	}{
		"once":                  {"f", 0, true, 0},
		"three runs in an hour": {"fff", 0, true, 0},
		"long enough":           {"ffffff", 0, false, 0},
		"unknown once":          {"fffuff", 0, true, 4},
		"less sure once":        {"ffwfff", 0, true, 3},
		"not asked about":       {"fff-", 0, true, -1},
		"used at the end":       {"fffn", 0, false, -1},
		"in part for long":      {"fff", 24 * time.Hour, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &v1alpha1.Cleaner{}
			c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{
				Version: "v1", Kind: "ConfigMap", Finding: &v1alpha1.FindingSelector{Type: v1alpha1.FindingUnused, ForSeconds: ptr.To[int64](3 * 3600)},
			}}
			o := object.Object{Kind: object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}}, UID: "a"}
			counts, waits := guard.Counts(nil), false
			for i, run := range test.runs {
				one := finding.Finding{Kind: o.Kind, UID: o.UID, Type: v1alpha1.FindingUnused, Confidence: v1alpha1.ConfidenceLikely}
				if test.earlier > 0 {
					one.Since = start.Add(-test.earlier)
				}
				all := []*finding.Finding{&one}
				switch run {
				case unknown:
					all[0].Unknown = []finding.Unread{{}}
				case weak:
					all[0].Confidence = v1alpha1.ConfidenceWeak
				case used:
					all = nil
				}
				f := newFindings(c, slices.Values(all), counts, start.Add(time.Duration(i)*40*time.Minute))
				if run != unasked {
					_, ok := f.Judge(0)(o)
					if ok != (run == found || run == unknown) {
						t.Fatalf("run %d found it: %t", i, ok)
					}
				}
				counts = guard.Counts{}
				f.Count(counts)
				waits = f.Waits(counts, stage.Candidate{Object: o})
			}
			if waits != test.waits {
				t.Errorf("it waits: %t", waits)
			}
			want := guard.Counts{}
			if test.since >= 0 {
				want["ConfigMap__a__Unused"] = start.Add(time.Duration(test.since) * 40 * time.Minute).Unix()
				want["ConfigMap__a__Unused__runs"] = int64(min(len(test.runs)-test.since, 3))
			}
			if diff := cmp.Diff(want, counts); diff != "" {
				t.Errorf("the counts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSeriesOfSelectors: what one selector has found for long, one that asks for more may have found just now.
func TestSeriesOfSelectors(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_700_000_000, 0)
	c := &v1alpha1.Cleaner{}
	for _, asked := range []v1alpha1.FindingSelector{{}, {MinConfidence: v1alpha1.ConfidenceLikely}, {MinConfidence: v1alpha1.ConfidenceWeak}, {Dialects: []v1alpha1.MarkDialect{"KubeJanitor"}}} {
		asked.Type, asked.ForSeconds = v1alpha1.FindingUnused, ptr.To[int64](3600)
		c.Spec.ResourcePolicySet.ResourceSelectors = append(c.Spec.ResourcePolicySet.ResourceSelectors, v1alpha1.ResourceSelector{Version: "v1", Kind: "ConfigMap", Finding: &asked})
	}
	o := object.Object{Kind: object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}}, UID: "a"}
	counts, f := guard.Counts(nil), (*Findings)(nil)
	for i, confidence := range []v1alpha1.FindingConfidence{v1alpha1.ConfidenceWeak, v1alpha1.ConfidenceWeak, v1alpha1.ConfidenceWeak, v1alpha1.ConfidenceLikely} {
		one := &finding.Finding{Kind: o.Kind, UID: o.UID, Type: v1alpha1.FindingUnused, Confidence: confidence}
		f = newFindings(c, slices.Values([]*finding.Finding{one}), counts, start.Add(time.Duration(i)*time.Hour))
		for n := range c.Spec.ResourcePolicySet.ResourceSelectors {
			f.Judge(n)(o)
		}
		counts = guard.Counts{}
		f.Count(counts)
	}
	for n, waits := range []bool{true, true, false, true} {
		if got := f.Waits(counts, stage.Candidate{Object: o, Selector: n}); got != waits {
			t.Errorf("by selector %d it waits: %t; the counts are %v", n, got, counts)
		}
	}
}

// A time of the API server's counts where it is of the whole finding, and in three runs all the same.
func TestSinceOfTheServer(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	for kind, test := range map[string]struct {
		typ   v1alpha1.FindingType
		runs  int
		waits bool
	}{
		"PersistentVolume":      {v1alpha1.FindingUnused, 3, false},
		"PersistentVolumeClaim": {v1alpha1.FindingUnused, 3, true},
		"Deployment.apps":       {v1alpha1.FindingIdle, 3, true},
		"StatefulSet.apps":      {v1alpha1.FindingExpired, 3, false},
		"CronJob.batch":         {v1alpha1.FindingUnhealthy, 3, true},
		"Job.batch":             {v1alpha1.FindingFinished, 3, false},
		"Pod":                   {v1alpha1.FindingFailed, 2, true},
	} {
		gk := schema.ParseGroupKind(kind)
		o := object.Object{Kind: object.Kind{GroupVersionKind: gk.WithVersion("v1")}, UID: "a"}
		c := &v1alpha1.Cleaner{}
		asked := &v1alpha1.FindingSelector{Type: test.typ, ForSeconds: ptr.To[int64](3 * 3600)}
		c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{Group: gk.Group, Version: "v1", Kind: gk.Kind, Finding: asked}}
		one := &finding.Finding{Kind: o.Kind, UID: o.UID, Type: test.typ, Confidence: v1alpha1.ConfidenceCertain, Since: now.Add(-24 * time.Hour)}
		counts := guard.Counts(nil)
		var f *Findings
		for range test.runs {
			f = newFindings(c, slices.Values([]*finding.Finding{one}), counts, now)
			f.Judge(0)(o)
			counts = guard.Counts{}
			f.Count(counts)
		}
		if waits := f.Waits(counts, stage.Candidate{Object: o}); waits != test.waits {
			t.Errorf("%s %s waits: %t", kind, test.typ, waits)
		}
	}
}

// Objects that are found alike have counts of their own.
func TestEachOfManyAlikeIsCounted(t *testing.T) {
	c := &v1alpha1.Cleaner{}
	asked := &v1alpha1.FindingSelector{Type: v1alpha1.FindingUnused, ForSeconds: ptr.To(int64(60))}
	c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{Version: "v1", Kind: "ConfigMap", Finding: asked}}
	var all []*finding.Finding
	for _, uid := range []types.UID{"a", "b", "c", "d"} {
		all = append(all, &finding.Finding{UID: uid, Type: v1alpha1.FindingUnused, Confidence: v1alpha1.ConfidenceLikely})
	}
	all[2].Reason = "another"
	all[3].Unknown = []finding.Unread{{}}
	f, counts := newFindings(c, slices.Values(all), nil, time.Unix(100, 0)), guard.Counts{}
	if f.found[findingKey{"a", v1alpha1.FindingUnused}] != f.found[findingKey{"b", v1alpha1.FindingUnused}] {
		t.Error("what is the same takes memory twice")
	}
	for _, one := range all {
		o := object.Object{UID: one.UID}
		if told, is := f.Judge(0)(o); !is || told.Reason != one.Reason {
			t.Errorf("%s: %t, %+v", one.UID, is, told)
		}
		_, unknown := f.Unknown(stage.Candidate{Object: o})
		if unknown != (one.UID == "d") {
			t.Errorf("%s is unknown: %t", one.UID, unknown)
		}
	}
	f.Count(counts)
	if len(counts) != 6 { // since when, and how often, of a, b and c
		t.Errorf("counts: %v", counts)
	}
	weaker := *all[1]
	weaker.Confidence = v1alpha1.ConfidenceWeak
	again := newFindings(c, slices.Values([]*finding.Finding{&weaker, all[2], all[3]}), nil, time.Unix(200, 0))
	ended := map[string]bool{}
	for _, key := range f.Ended(again) {
		ended[key] = true
	}
	if left := counts.Without(ended); len(left) != 2 { // of c
		t.Errorf("after a was not found again, and b less surely: %v", left)
	}
	for _, uid := range []types.UID{"a", "b", "c"} {
		if ended := again.EndedOf(stage.Candidate{Object: object.Object{UID: uid}}); len(ended) > 0 != (uid != "c") {
			t.Errorf("of %s alone, these ended: %v", uid, ended)
		}
	}
}

// TestFoundAsBefore: to a condition on a finding, only how many kinds were searched makes no difference.
func TestFoundAsBefore(t *testing.T) {
	t.Parallel()
	first := &finding.Finding{Confidence: v1alpha1.ConfidenceWeak, Searched: 27, Reason: "none of 27 kinds names it, but 27 Pods read all"}
	for name, test := range map[string]struct {
		edit func(*finding.Finding)
		want bool
	}{
		"the same":       {func(*finding.Finding) {}, true},
		"one more kind":  {func(f *finding.Finding) { f.Searched, f.Reason = 28, "none of 28 kinds names it, but 27 Pods read all" }, true},
		"one more Pod":   {func(f *finding.Finding) { f.Reason = "none of 27 kinds names it, but 28 Pods read all" }, false},
		"another reason": {func(f *finding.Finding) { f.Reason = "none of 27 kinds names it" }, false},
		"more sure":      {func(f *finding.Finding) { f.Confidence = v1alpha1.ConfidenceLikely }, false},
	} {
		again := *first
		test.edit(&again)
		if got := saysSame(&again, first); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if saysSame(first, nil) {
		t.Error("what was not found before is found as before")
	}
}
