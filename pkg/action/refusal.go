// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"errors"
	"fmt"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// Failed is the outcome of an object that could not be deleted or changed: Denied when admission did not let it be,
// KindGone when the kind is not served any more, else Failed. No value of a Secret is in it.
func Failed(verdict stage.Verdict, err error) stage.Outcome { return failed(verdict, nil, err) }

// failed is Failed when a patch was sent: whoever refuses it may quote what it would have put into a Secret.
func failed(verdict stage.Verdict, patch object.JSON, err error) stage.Outcome {
	outcome := stage.Outcome{Verdict: verdict, Result: v1alpha1.OutcomeFailed, Err: err}
	said, denied := denial(err)
	switch {
	case denied:
		outcome.Result, outcome.Detail = v1alpha1.OutcomeDenied, said
	case isKindGone(err):
		outcome.Result = v1alpha1.OutcomeKindGone
		outcome.Detail = fmt.Sprintf(
			"the API server does not serve %s of %s any more, so it is not known what became of the object: %s",
			verdict.Kind.Kind,
			verdict.Kind.GroupVersion(),
			err,
		)
	default:
		// Of a patch whose result it cannot read, the API server names neither kind nor object.
		outcome.Detail = strings.TrimSpace(
			strings.Replace(err.Error(), `"" is invalid: patch: `, "the changed object would not be valid: ", 1),
		)
	}
	outcome.Detail = apiserver.WithoutBody(outcome.Detail)
	if apierrors.IsForbidden(err) && !denied { // the words of the authorizer, which sees no object
		return outcome
	}
	outcome.Detail = object.MaskQuoted(outcome.Detail, verdict.Object, patch)
	return outcome
}

// denial is what admission said when it did not let a request pass: a webhook, a policy, or a plugin of the API
// server's such as that for quotas. A PodDisruptionBudget is one too. They may answer with any code, so what
// decides are their words, which the API server puts in front of the reason. Want of rights is no denial.
func denial(err error) (said string, denied bool) {
	status, ok := statusOf(err)
	if !ok {
		return "", false
	}
	if said := heldByBudget(status); said != "" {
		return said, true
	}
	if strings.HasPrefix(status.Message, `admission webhook "`) &&
		strings.Contains(status.Message, `" denied the request`) {
		return status.Message, true
	}
	object, said, found := strings.Cut(status.Message, `" is forbidden: `)
	ofRights := strings.HasPrefix(strings.ToLower(said), `user "`) // of the authorizer, or of who may grant rights
	if !found || strings.Count(object, " ") != 1 || ofRights {
		return "", false
	}
	return said, true
}

// severalBudgets is how the API server's word begins on a Pod that it cannot evict because it does not know by which
// budget.
const severalBudgets = "This pod has more than one PodDisruptionBudget"

// heldByBudget is what the API server said when a PodDisruptionBudget holds a Pod that was to be evicted. Its code is
// that of a server that has no time, or of a fault.
func heldByBudget(status metav1.Status) string {
	if strings.HasPrefix(status.Message, severalBudgets) {
		return status.Message
	}
	if status.Details == nil {
		return ""
	}
	for _, cause := range status.Details.Causes {
		if cause.Type == policyv1.DisruptionBudgetCause {
			return status.Message + " " + cause.Message
		}
	}
	return ""
}

func denied(err error) bool {
	_, denied := denial(err)
	return denied
}

func isConflict(err error) bool { return apierrors.IsConflict(err) && !denied(err) }

// isGone reports whether the server, and not a webhook, said of this object that it is not there.
func isGone(err error, o object.Object) bool {
	return apiserver.IsAbsent(err, o.Name) && !denied(err)
}

// isKindGone reports whether the server does not know what it was asked for: its answer names no object.
func isKindGone(err error) bool {
	return apiserver.IsKindAbsent(err) && !denied(err)
}

func statusOf(err error) (metav1.Status, bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return metav1.Status{}, false
	}
	return status.Status(), true
}
