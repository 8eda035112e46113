// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestTroubleIsMeasured: what kept a run from acting is counted by what it was.
func TestTroubleIsMeasured(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit   func(*v1alpha1.Cleaner)
		meddle func(*http.Request) *apierrors.StatusError
		want   map[string][]string
	}{
		"limit": {
			edit: func(c *v1alpha1.Cleaner) {
				c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To(int32(1))}
			},
			want: map[string][]string{
				"guardrail_aborts_total": {"{LimitExceeded} 1"}, "runs_total": {"{Delete,LimitExceeded} 1"}, "evaluation_errors_total": nil,
				"actions_total": {"{Delete,,ConfigMap,NotActed} 2"}, "matched_resources": {"{,ConfigMap} 2"},
			},
		},
		"script": {
			edit: evaluate(`function evaluate() if obj.metadata.name == "one" then error("no") end return {matching = true} end`),
			want: map[string][]string{
				"guardrail_aborts_total": {"{ViewIncomplete} 1"}, "runs_total": {"{Delete,ViewIncomplete} 1"}, "evaluation_errors_total": {"{lua,error} 1"},
				"actions_total":                     {"{Delete,,ConfigMap,NotActed} 1", "{Delete,,ConfigMap,NotEvaluated} 1"},
				"k8s_cleaner_error_resources_total": {"{v1,ConfigMap} 1"}, "matched_resources": {"{,ConfigMap} 1"},
			},
		},
		"condition": {
			edit: func(c *v1alpha1.Cleaner) {
				selectors(c)[0].MatchConditions = []v1alpha1.MatchCondition{{Name: "a", Expression: `object.data.absent == "x"`}}
			},
			want: map[string][]string{"evaluation_errors_total": {"{cel,error} 2"}, "evaluation_duration_seconds": {"{cel} 1"}},
		},
		"aggregated script": {
			edit: func(c *v1alpha1.Cleaner) {
				c.Spec.ResourcePolicySet.AggregatedSelection = `function evaluate() error("no") end`
			},
			want: map[string][]string{"evaluation_errors_total": {"{lua,error} 1"}, "guardrail_aborts_total": {"{ViewIncomplete} 1"}},
		},
		"transform script": {
			edit: func(c *v1alpha1.Cleaner) {
				c.Spec.Action, c.Spec.Transform = ptr.To(v1alpha1.ActionTransform), `function transform() error("no") end`
			},
			want: map[string][]string{"evaluation_errors_total": {"{lua,error} 2"}, "guardrail_aborts_total": nil, "actions_total": {"{Transform,,ConfigMap,Failed} 2"}},
		},
		"copies": {
			meddle: func(r *http.Request) *apierrors.StatusError {
				if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/secrets") {
					return apierrors.NewInternalError(errors.New("no room"))
				}
				return nil
			},
			want: map[string][]string{"snapshot_errors_total": {"{} 1"}, "guardrail_aborts_total": nil, "runs_total": {"{Delete,Failed} 1"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			registry := b.measure()
			b.configMap("one")
			b.configMap("two")
			edit := test.edit
			if edit == nil {
				edit = func(*v1alpha1.Cleaner) {}
			}
			l := b.follow(b.cleaner(v1alpha1.ActionDelete, edit))
			b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
				if test.meddle != nil {
					if status := test.meddle(r); status != nil {
						return refusal(t, r, status), nil
					}
				}
				return nil, nil
			})
			l.startExecutor()
			l.step()
			l.at(l.first())
			l.finish()
			wantMeasured(t, registry, test.want)
		})
	}
}
