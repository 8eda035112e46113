// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestWhatIsNotGoneOnWith: what changes without the object must be judged anew, whenever the next leader comes.
func TestWhatIsNotGoneOnWith(t *testing.T) {
	now := time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)
	record := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{NominalTime: metav1.NewTime(now)}}
	record.Status.StartTime = ptr.To(metav1.NewTime(now))
	for want, set := range map[string]v1alpha1.ResourcePolicySet{
		"":                             {ResourceSelectors: []v1alpha1.ResourceSelector{{}}},
		"judged together with other":   {AggregatedSelection: "x"},
		"judged by its events":         {ResourceSelectors: []v1alpha1.ResourceSelector{{}, {IncludeEvents: ptr.To(true)}}},
		"events, metrics or logs must": {ResourceSelectors: []v1alpha1.ResourceSelector{{MetricQueries: []v1alpha1.MetricQuery{{}}}}},
		"metrics or logs must":         {ResourceSelectors: []v1alpha1.ResourceSelector{{LogSource: &v1alpha1.LogSource{}}}},
	} {
		cleaner := &v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{ResourcePolicySet: set}}
		if got := tooLate(cleaner, record, now.Add(time.Minute)); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%+v: %q, want %q", set, got, want)
		}
	}
}
