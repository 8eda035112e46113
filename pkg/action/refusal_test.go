// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// answered is an error of the API server's, in its own words.
func answered(code int, reason metav1.StatusReason, message, about string) error {
	status := metav1.Status{Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message}
	if about != "" {
		status.Details = &metav1.StatusDetails{Name: about, Kind: "configmaps"}
	}
	return &apierrors.StatusError{ErrStatus: status}
}

func old(t *testing.T) stage.Verdict {
	t.Helper()
	raw := `{"metadata":{"namespace":"shop","name":"old","uid":"u1","resourceVersion":"7"}}`
	o, err := object.New(object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Resource: "configmaps", Namespaced: true}, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return stage.Verdict{Candidate: stage.Candidate{Object: o}, Act: true}
}

const webhook = `admission webhook "guard.example.com" denied the request: `

// A webhook may answer with any code, so its words decide.
func TestWhatARefusalIs(t *testing.T) {
	t.Parallel()
	configMaps := schema.GroupResource{Resource: "configmaps"}
	tests := map[string]struct {
		err    error
		result v1alpha1.OutcomeResult
		detail string
	}{
		"a webhook": {answered(403, "Forbidden", webhook+"the audit needs it", ""), v1alpha1.OutcomeDenied, webhook + "the audit needs it"},
		"a webhook without a reason": {
			answered(400, "", `admission webhook "guard.example.com" denied the request without explanation`, ""),
			v1alpha1.OutcomeDenied, "denied the request without explanation",
		},
		"a webhook with the code of a conflict": {answered(409, "Conflict", webhook+"no", "old"), v1alpha1.OutcomeDenied, webhook + "no"},
		"a webhook with the code of NotFound":   {answered(404, "NotFound", webhook+"no", "old"), v1alpha1.OutcomeDenied, webhook + "no"},
		"a webhook with the code of a fault":    {answered(500, "InternalError", webhook+"no", ""), v1alpha1.OutcomeDenied, webhook + "no"},
		"a webhook with the code of haste":      {answered(429, "TooManyRequests", webhook+"no", ""), v1alpha1.OutcomeDenied, webhook + "no"},
		"a webhook that does not answer": {
			answered(500, "InternalError", `Internal error occurred: failed calling webhook "guard.example.com": connection refused`, ""),
			v1alpha1.OutcomeFailed, "failed calling webhook",
		},
		"a policy": {
			answered(422, "Invalid", `configmaps "old" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: the audit needs it`, "old"),
			v1alpha1.OutcomeDenied, "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: the audit needs it",
		},
		"a policy that cites the authorizer": {
			answered(403, "Forbidden", `configmaps "old" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: is forbidden: User "me"`, "old"),
			v1alpha1.OutcomeDenied, `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: is forbidden: User "me"`,
		},
		"a quota": {
			apierrors.NewForbidden(configMaps, "old", errors.New("exceeded quota: q, requested: pods=1")),
			v1alpha1.OutcomeDenied, "exceeded quota: q, requested: pods=1",
		},
		"an immortal namespace": {
			apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "default", errors.New("this namespace may not be deleted")),
			v1alpha1.OutcomeDenied, "this namespace may not be deleted",
		},
		"want of rights": {
			apierrors.NewForbidden(configMaps, "old", errors.New(`User "me" cannot delete resource "configmaps" in API group "" in the namespace "shop"`)),
			v1alpha1.OutcomeFailed, `configmaps "old" is forbidden: User "me" cannot delete resource "configmaps"`,
		},
		"want of rights to grant": {
			apierrors.NewForbidden(schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "roles"}, "old", errors.New(`user "me" (groups=["a"]) is attempting to grant RBAC permissions not currently held`)),
			v1alpha1.OutcomeFailed, "is attempting to grant",
		},
		"a proxy's 403": {answered(403, "Forbidden", "access denied", ""), v1alpha1.OutcomeFailed, "access denied"},
		"the kind is not served": {
			apierrors.NewGenericServerResponse(http.StatusNotFound, "delete", schema.GroupResource{}, "", "404 page not found", 0, true),
			v1alpha1.OutcomeKindGone, "the API server does not serve ConfigMap of v1 any more, so it is not known what became of the object: the server could not find the requested resource",
		},
		"the kind is not served, when judged again": {
			fmt.Errorf("reading it again after a conflict: %w", answered(404, "NotFound", "the server could not find the requested resource", "")),
			v1alpha1.OutcomeKindGone, "reading it again after a conflict",
		},
		"a patch that makes no object": {
			answered(422, "Invalid", ` "" is invalid: patch: Invalid value: "{}": json: cannot unmarshal number into Go struct field ConfigMap.data of type string`, ""),
			v1alpha1.OutcomeFailed, "the changed object would not be valid: Invalid value: json: cannot unmarshal number",
		},
		"something else is not found": {answered(404, "NotFound", `configmaps "other" not found`, "other"), v1alpha1.OutcomeFailed, `"other" not found`},
		"the connection broke":        {io.ErrUnexpectedEOF, v1alpha1.OutcomeFailed, "unexpected EOF"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			verdict := old(t)
			outcome := Failed(verdict, test.err)
			if outcome.Result != test.result || !strings.Contains(outcome.Detail, test.detail) {
				t.Fatalf("it is %s: %s", outcome.Result, outcome.Detail)
			}
			if !outcome.Result.IsFailure() || isGone(test.err, verdict.Object) || isConflict(test.err) || isBusy(test.err) {
				t.Fatal("a refusal reads as something else")
			}
			if denied := test.result == v1alpha1.OutcomeDenied; denied && isUnclear(test.err) {
				t.Fatal("what was denied did not take place")
			}
		})
	}
}

func TestWhatGoneIs(t *testing.T) {
	t.Parallel()
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "old")
	if !isGone(gone, old(t).Object) || isKindGone(gone) {
		t.Fatal("a 404 that names the object says that it is gone")
	}
}

// A webhook may quote what a patch would put into a Secret, which is not in the object that was judged.
func TestRefusalOfAPatchHidesItsValues(t *testing.T) {
	t.Parallel()
	raw := `{"metadata":{"namespace":"shop","name":"s","uid":"u1","resourceVersion":"7"},"data":{"password":"aHVudGVyMmh1bnRlcjI="}}`
	o, err := object.New(object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"), Resource: "secrets", Namespaced: true}, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	refused := answered(403, "Forbidden", webhook+"new-password (bmV3LXBhc3N3b3Jk) is as weak as hunter2hunter2", "")
	a := NewActor(nil)
	refuse := func(context.Context, object.Object, object.JSON) (v1alpha1.OutcomeResult, string, error) {
		return "", "", refused
	}
	patch := object.JSON(`{"data":{"password":"bmV3LXBhc3N3b3Jk"}}`)
	outcome := a.carryOut(t.Context(), stage.Verdict{Candidate: stage.Candidate{Object: o}, Act: true}, patch, nil, refuse)
	if want := webhook + "****** (******) is as weak as ******"; outcome.Detail != want {
		t.Errorf("it says %q, want %q", outcome.Detail, want)
	}
}
