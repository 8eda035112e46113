// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"fmt"
	"io"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// TestCopiesThatNobodyNeeds: whatever is not certain keeps its copy.
func TestCopiesThatNobodyNeeds(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "a", errors.New("no right"))
	for name, c := range map[string]struct {
		outcome v1alpha1.OutcomeResult
		err     error
		needed  bool
	}{
		"deleted":                     {v1alpha1.OutcomeDeleted, nil, true},
		"ending":                      {v1alpha1.OutcomeTerminating, nil, true},
		"changed":                     {v1alpha1.OutcomeTransformed, nil, true},
		"found gone":                  {v1alpha1.OutcomeFoundGone, nil, true},
		"somebody else's deed":        {v1alpha1.OutcomeGone, nil, true},
		"abandoned":                   {v1alpha1.OutcomeAbandoned, nil, true},
		"without its kind":            {v1alpha1.OutcomeKindGone, nil, true},
		"without an outcome":          {v1alpha1.OutcomePlanned, nil, true},
		"replaced":                    {v1alpha1.OutcomeReplaced, nil, true},
		"left alone":                  {v1alpha1.OutcomeChanged, nil, false},
		"denied":                      {v1alpha1.OutcomeDenied, nil, false},
		"not come to":                 {v1alpha1.OutcomeInterrupted, nil, false},
		"a right is missing":          {v1alpha1.OutcomeFailed, fmt.Errorf("deleting: %w", forbidden), false},
		"invalid":                     {v1alpha1.OutcomeFailed, apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "a", nil), false},
		"an answer that did not come": {v1alpha1.OutcomeFailed, io.ErrUnexpectedEOF, true},
		"lost, and then unreadable":   {v1alpha1.OutcomeFailed, fmt.Errorf("not known: %w", errors.Join(io.ErrUnexpectedEOF, forbidden)), true},
		"too many requests":           {v1alpha1.OutcomeFailed, apierrors.NewTooManyRequests("later", 1), true},
		"a fault of the server":       {v1alpha1.OutcomeFailed, apierrors.NewInternalError(errors.New("boom")), true},
		"a failure without a cause":   {v1alpha1.OutcomeFailed, nil, true},
	} {
		if needed := mayNeedCopy(stage.Outcome{Result: c.outcome, Err: c.err}); needed != c.needed {
			t.Errorf("%s: a copy is needed: %t", name, needed)
		}
		if !mayNeedCopy(stage.Outcome{Result: c.outcome, Err: c.err, Unclear: true}) {
			t.Errorf("%s, after an answer was lost: no copy is needed", name)
		}
	}
}

// TestGoneInAResumedRun: a delete of the operator before may have come late.
func TestGoneInAResumedRun(t *testing.T) {
	for of, resumed := range map[v1alpha1.OutcomeResult]v1alpha1.OutcomeResult{
		v1alpha1.OutcomeGone:     v1alpha1.OutcomeFoundGone,
		v1alpha1.OutcomeReplaced: v1alpha1.OutcomeFoundGone,
		v1alpha1.OutcomeDeleted:  v1alpha1.OutcomeDeleted,
	} {
		if got := (&acting{looks: true}).foundGone(stage.Outcome{Result: of}).Result; got != resumed {
			t.Errorf("%s in a resumed run: %s", of, got)
		}
		if got := (&acting{}).foundGone(stage.Outcome{Result: of}).Result; got != of {
			t.Errorf("%s in any other run: %s", of, got)
		}
	}
}
