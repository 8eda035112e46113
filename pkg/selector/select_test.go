// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// TestObserverGetsEachObjectOnce: also of those that are passed over, which do not count as considered.
func TestObserverGetsEachObjectOnce(t *testing.T) {
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	const recent, old = `"creationTimestamp":"2026-01-01T23:00:00Z"`, `"creationTimestamp":"2025-01-01T00:00:00Z"`
	spec := v1alpha1.ResourceSelector{
		MinAgeSeconds: ptr.To(int64(86_400)), LabelFilters: []v1alpha1.LabelFilter{{Key: "test", Operation: v1alpha1.OperationHas}},
	}
	for name, c := range map[string]struct {
		metadata            string
		considered, matched int64
	}{
		"it matches":          {old + `,"labels":{"test":"x"}`, 1, 1},
		"it is too young":     {recent + `,"labels":{"test":"x"}`, 0, 0},
		"it has other labels": {old, 0, 0},
		"it is being deleted": {old + `,"labels":{"test":"x"},"deletionTimestamp":"2026-01-01T00:00:00Z"`, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := New(0, spec, Judge{}, now)
			if err != nil {
				t.Fatal(err)
			}
			var judged, matched int64
			found := Matches{Observer: Observer{Judged: func() { judged++ }, Candidate: func(stage.Candidate) {
				if matched++; matched > judged {
					t.Error("it is said to match before it is said to be judged")
				}
			}}}
			collector := newCollector(t.Context(), s, everything.kind, &found)
			if err := collector.add(t.Context(), []byte(`{"metadata":{"name":"x","uid":"u","resourceVersion":"1",`+c.metadata+`}}`)); err != nil {
				t.Fatal(err)
			}
			if judged != 1 || matched != c.matched || collector.considered != c.considered {
				t.Errorf("%d judged, %d matched, %d considered", judged, matched, collector.considered)
			}
		})
	}
}

// TestStoppedInTheMiddleOfAnObject: it was not judged, and is no failure.
func TestStoppedInTheMiddleOfAnObject(t *testing.T) {
	s, err := New(0, v1alpha1.ResourceSelector{}, Judge{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	found := Matches{Observer: Observer{Judged: func() { t.Error("it is said to be judged") }}}
	c := newCollector(t.Context(), s, everything.kind, &found)
	stopped := errors.New("the run was stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if err := c.judged(ctx, object.Object{}, 1, false, "", context.Canceled); !errors.Is(err, stopped) || c.considered != 0 || len(c.notEvaluated) != 0 {
		t.Errorf("%v, %d considered, %d not evaluated", err, c.considered, len(c.notEvaluated))
	}
}
