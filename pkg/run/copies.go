// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// dropNeedless drops the copies of a run that has ended and certainly touched nothing. There is room for so many
// copies only: otherwise a Cleaner that fails in each run would displace copies that somebody may need.
func (s Record) dropNeedless(ctx context.Context, record *v1alpha1.CleanerRun, outcomes []stage.Outcome) {
	if !record.Status.Phase.Final() || record.Status.Copies == nil || slices.ContainsFunc(outcomes, mayNeedCopy) {
		return
	}
	if err := s.Journal.DropNeedless(ctx, record); err != nil { // they are dropped when they expire
		klog.FromContext(ctx).Error(err, "Could not drop the copies of a run that touched nothing")
	}
}

// mayNeedCopy reports whether an object may have been deleted or changed, by the run or by somebody else.
func mayNeedCopy(o stage.Outcome) bool {
	if o.Unclear {
		return true
	}
	switch o.Result {
	case v1alpha1.OutcomeNotActed, v1alpha1.OutcomeInterrupted, v1alpha1.OutcomeNotEvaluated, v1alpha1.OutcomeUnknown,
		v1alpha1.OutcomeProtected, v1alpha1.OutcomeChanged, v1alpha1.OutcomeConflict, v1alpha1.OutcomeUnchanged,
		v1alpha1.OutcomeDenied:
		return false
	case v1alpha1.OutcomeFailed:
		return !isRefusal(o.Err)
	}
	return true
}

// isRefusal reports whether the API server did not do what it was asked, and said why. A joined error is no refusal.
func isRefusal(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		status, is := err.(apierrors.APIStatus)
		if !is {
			continue
		}
		switch status.Status().Code {
		case http.StatusBadRequest, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusUnprocessableEntity:
			return true
		}
	}
	return false
}
