// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func maxCount(n int32) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) { c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: &n} }
}

func maxPercentage(n int32) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) { c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxPercentage: &n} }
}

// below matches the objects whose data.n is less than n.
func below(n int) string {
	return fmt.Sprintf("function evaluate() return {matching = tonumber(obj.data.n) < %d} end", n)
}

// wantLimit fails the test unless the run was stopped by the limit with the text, or, with an empty one, was not.
func wantLimit(t *testing.T, b *bench, run *v1alpha1.CleanerRun, matched int64, text string) {
	t.Helper()
	if run.Status.Matched != matched {
		t.Fatalf("%d objects matched, want %d: %s", run.Status.Matched, matched, run.Status.Message)
	}
	if text == "" {
		wantRun(t, run, v1alpha1.ReasonCompleted)
		if run.Status.Acted != matched {
			t.Fatalf("%d objects were acted on, want %d", run.Status.Acted, matched)
		}
		return
	}
	wantRun(t, run, v1alpha1.ReasonLimitExceeded)
	if want := "Nothing was touched: blast radius limit exceeded: " + text + ". "; !strings.HasPrefix(run.Status.Message, want) {
		t.Fatalf("the message is %q, want %q", run.Status.Message, want)
	}
	if run.Status.Acted != 0 || run.Status.Skipped != matched {
		t.Fatalf("counts are %+v", run.Status.RunCounts)
	}
	b.wantUntouched()
}

// Blast radius: boundary table of maxCount.
func TestBlastRadiusMaxCount(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		limit   int32
		matched int
		want    string
	}{
		"0, nothing matched": {0, 0, ""},
		"0, one":             {0, 1, "1 resources matched (max count 0)"},
		"one less":           {3, 2, ""},
		"equal":              {3, 3, ""},
		"one more":           {3, 4, "4 resources matched (max count 3)"},
	}
	for name, test := range tests {
		for _, action := range []v1alpha1.Action{v1alpha1.ActionDelete, v1alpha1.ActionTransform} {
			t.Run(name+", "+string(action), func(t *testing.T) {
				b := newBench(t)
				b.configMaps(b.namespace, "cm", 5)
				run := b.run(b.cleaner(action, evaluate(below(test.matched)), transform(touch), maxCount(test.limit)))
				wantLimit(t, b, run, int64(test.matched), test.want)
			})
		}
	}
}

// Upstream: percentage by integer division (10.9 % passes 10); denominator is taken after label filters. Required: exact
// compare matched*100 > limit*total; total before filters. Test: boundary table.
func TestBlastRadiusMaxPercentage(t *testing.T) {
	t.Parallel()
	setup := newBench(t)
	ten := setup.newNamespace(nil)
	setup.configMaps(setup.namespace, "cm", 100, unlabelledFrom(20))
	setup.configMaps(ten, "cm", 10)
	hundred, more := kind("", "v1", "ConfigMap", setup.namespace), kind("", "v1", "ConfigMap", ten)
	filtered := hundred
	filtered.LabelFilters = has("test") // 20 objects
	more.LabelFilters = equal("none", "such")
	tests := map[string]struct {
		selectors []v1alpha1.ResourceSelector
		matched   int
		limit     int32
		want      string
	}{
		"10 of 100 at 10":                           {[]v1alpha1.ResourceSelector{hundred}, 10, 10, ""},
		"11 of 100 at 10":                           {[]v1alpha1.ResourceSelector{hundred}, 11, 10, "11% of resources matched (max percentage 10%)"},
		"10 of 100 at 10, before label filters":     {[]v1alpha1.ResourceSelector{filtered}, 10, 10, ""},
		"11 of 110 at 10":                           {[]v1alpha1.ResourceSelector{hundred, more}, 11, 10, ""},
		"12 of 110 at 10: 10.9 %":                   {[]v1alpha1.ResourceSelector{hundred, more}, 12, 10, "10.91% of resources matched (max percentage 10%)"},
		"overlapping selectors are counted once":    {[]v1alpha1.ResourceSelector{hundred, hundred, filtered}, 11, 10, "11% of resources matched (max percentage 10%)"},
		"nothing of 100 at 1":                       {[]v1alpha1.ResourceSelector{hundred}, 0, 1, ""},
		"100 of 100 at 100":                         {[]v1alpha1.ResourceSelector{hundred}, 100, 100, ""},
		"100 of 100 at 99":                          {[]v1alpha1.ResourceSelector{hundred}, 100, 99, "100% of resources matched (max percentage 99%)"},
		"a selector of nothing widens nothing much": {[]v1alpha1.ResourceSelector{more, hundred}, 12, 11, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			for i := range test.selectors {
				test.selectors[i].Evaluate = below(test.matched)
			}
			c := b.cleaner(v1alpha1.ActionTransform, selecting(test.selectors...), maxPercentage(test.limit),
				transform(`function transform() obj.metadata.annotations = {run = "`+b.namespace+`"}; return {resource = obj} end`))
			wantLimit(t, b, b.run(c), int64(test.matched), test.want)
		})
	}
}

// unlabelledFrom leaves the test's label to the first n objects only.
func unlabelledFrom(n int) func(*corev1.ConfigMap) {
	return func(cm *corev1.ConfigMap) {
		var i int
		if _, err := fmt.Sscan(cm.Data["n"], &i); err != nil || i >= n {
			cm.Labels = nil
		}
	}
}

// Either one trips, and the text is that of the one that did.
func TestBlastRadiusOfBothLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "cm", 10)
	both := func(c *v1alpha1.Cleaner) {
		c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To[int32](4), MaxPercentage: ptr.To[int32](30)}
	}
	wantLimit(t, b, b.run(b.cleaner(v1alpha1.ActionDelete, evaluate(below(5)), both)), 5, "5 resources matched (max count 4)")
	wantLimit(t, b, b.run(b.cleaner(v1alpha1.ActionDelete, evaluate(below(4)), both)), 4, "40% of resources matched (max percentage 30%)")
	wantLimit(t, b, b.run(b.cleaner(v1alpha1.ActionDelete, evaluate(below(3)), both)), 3, "")
}

// Upstream: denominator counts lookup kinds. Required: total counts only kinds that can be acted on.
func TestBlastRadiusDoesNotCountLookupKinds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "cm", 5)
	b.together(45, func(i int) client.Object {
		s := &corev1.Secret{}
		s.Namespace, s.Name = b.namespace, fmt.Sprintf("lookup-%d", i)
		return s
	})
	script := `function evaluate()
  for _, r in ipairs(resources) do
    if r.kind == "ConfigMap" then return {resources = {{resource = r}}} end
  end
end`
	c := b.cleaner(v1alpha1.ActionDelete, selecting(kind("", "v1", "ConfigMap", b.namespace), kind("", "v1", "Secret", b.namespace)),
		aggregated(script), maxPercentage(19))
	wantLimit(t, b, b.run(c), 1, "20% of resources matched (max percentage 19%)")
	edit(b, b.get(c.Name), maxPercentage(20))
	wantLimit(t, b, b.run(c), 1, "")
}

// The total counts an object once, also when two selectors name two versions of its kind.
func TestBlastRadiusOfTwoVersionsOfAKind(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.together(10, func(i int) client.Object {
		h := &autoscalingv2.HorizontalPodAutoscaler{}
		h.Namespace, h.Name = b.namespace, fmt.Sprintf("h-%d", i)
		h.Spec.MaxReplicas = int32(i) + 1
		h.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "none"}
		return h
	})
	script := `function evaluate() return {matching = obj.spec.maxReplicas <= 2} end`
	one, two := kind("autoscaling", "v1", "HorizontalPodAutoscaler", b.namespace), kind("autoscaling", "v2", "HorizontalPodAutoscaler", b.namespace)
	one.Evaluate, two.Evaluate = script, script
	c := b.cleaner(v1alpha1.ActionDelete, selecting(one, two), maxPercentage(19))
	wantLimit(t, b, b.run(c), 2, "20% of resources matched (max percentage 19%)")
}

// Checked after the threshold, and without what is protected: neither would be touched.
func TestBlastRadiusCountsWhatWouldBeTouched(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "cm", 2)
	b.configMap("kept", func(cm *corev1.ConfigMap) { cm.Annotations = map[string]string{v1alpha1.ProtectAnnotation: "true"} })
	run := b.run(b.cleaner(v1alpha1.ActionDelete, maxCount(2)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "2 deleted, 1 left alone")
}

// Exceeded means nothing is touched, the would-be set is still reported, with "not acted on", and failureMessage contains the
// text that users match on.
func TestBlastRadiusIsShownInStatusAndReport(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tried := b.sends()
	b.startExecutor()
	b.configMaps(b.namespace, "cm", 4, stale)
	c := b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale), maxCount(3), notifying(v1alpha1.NotificationCleanerReport, v1alpha1.NotificationEvent))
	b.reconcile(c)
	c = b.runNow(c)
	record, err := b.runner.Record.Journal.Find(t.Context(), c.Status.LastRun.Name)
	must(t, err)
	tried(record)
	const want = "blast radius limit exceeded: 4 resources matched (max count 3)"
	wantCondition(t, c, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonLimitExceeded, want)
	wantTexts(t, "failureMessage", ptr.Deref(c.Status.FailureMessage, ""), want)
	if last := c.Status.LastRun; last.Matched != 4 || last.Skipped != 4 || len(last.Matches) != 4 || last.Matches[0].Outcome != v1alpha1.OutcomeNotActed {
		t.Fatalf("lastRun is %+v", last)
	}
	report := b.reported(c)
	wantTexts(t, "the Report's message", report.Spec.Message, want)
	for i, info := range report.Spec.ResourceInfo {
		if i > 3 || info.Message != "not acted on: "+info.Resource.Name+" is stale" {
			t.Fatalf("the Report says of %s %q", info.Resource.Name, info.Message)
		}
	}
	if len(report.Spec.ResourceInfo) != 4 || len(b.objectEvents(c)) != 0 {
		t.Fatalf("the Report lists %d objects; Events: %v", len(report.Spec.ResourceInfo), b.objectEvents(c))
	}
	b.wantUntouched()
	// With room again, the next run says nothing of it.
	edit(b, b.get(c.Name), maxCount(4))
	c = b.runNow(c)
	if c.Status.FailureMessage != nil || strings.Contains(b.reported(c).Spec.Message, "blast") {
		t.Fatalf("failureMessage is %v", c.Status.FailureMessage)
	}
	b.wantNames()
}
