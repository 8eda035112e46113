// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// Rehearse asks the API server, as a dry run, whether it would delete or change an object: Planned if it would, or if
// that is not known, Unchanged if nothing of the change would remain, else Failed or Denied with its words. The detail
// of the first two says what of the change would be lost, and after is the object as it would be then; nil where that
// is not known. It changes nothing: see MayRehearse.
func (a *Actor) Rehearse(
	ctx context.Context,
	verdict stage.Verdict,
	patch object.JSON,
	options *v1alpha1.DeleteOptions,
) (outcome stage.Outcome, after *object.Object) {
	planned := stage.Outcome{Verdict: verdict, Result: v1alpha1.OutcomePlanned}
	request, err := a.rehearsal(verdict.Object, patch, options)
	if err != nil {
		return failed(verdict, patch, err), nil
	}
	unknown := &unknownFields{}
	answer, _, err := a.send(ctx, request.WarningHandlerWithContext(unknown))
	if err == nil {
		return rehearsed(planned, patch, answer, unknown)
	}
	refused := failed(verdict, patch, err)
	if refused.Result == v1alpha1.OutcomeDenied || isRefused(err) || apierrors.IsForbidden(err) {
		return refused, nil
	}
	return planned, nil // it changed, or is gone, or nobody knows
}

// MayRehearse reports whether a dry run is safe for a kind as it is: the API server itself serves it. A server behind
// it may not know of dry runs, and carry the request out.
func MayRehearse(kind object.Kind) bool {
	return clientgoscheme.Scheme.IsGroupRegistered(kind.Group)
}

func (a *Actor) rehearsal(o object.Object, patch object.JSON, options *v1alpha1.DeleteOptions) (*rest.Request, error) {
	if len(patch) == 0 {
		request, err := a.deletion(o, options, []string{metav1.DryRunAll})
		return request.Param("dryRun", metav1.DryRunAll), err
	}
	payload, err := object.AtVersion(patch, o.ResourceVersion)
	return a.patching(o, payload).Param("dryRun", metav1.DryRunAll), err
}

// IsRefused reports whether the API server refuses a rehearsed change whoever asks and whenever: what it would make is
// not valid.
func IsRefused(outcome stage.Outcome) bool {
	return outcome.Result == v1alpha1.OutcomeFailed && isRefused(outcome.Err)
}

func isRefused(err error) bool {
	if status, ok := statusOf(err); ok && strings.Contains(status.Message, "does not support dry run") { // a webhook
		return false
	}
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}
