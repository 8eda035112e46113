// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// F21: a policy denies deleting one object and changing another: those are Denied in the policy's words, the others continue.
func TestPolicyDenies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{"first", "kept", "frozen", "last"} {
		b.configMap(name, stale)
	}
	b.denyDelete("kept", "the audit needs it")
	b.deny(registrationv1.Update, "frozen", "it is frozen")
	frozen := b.named("frozen")
	must(t, wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		return b.user.Patch(ctx, frozen.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"data":{"a":"b"}}`)), client.DryRunAll) != nil, nil
	}))

	run := b.run(b.cleaner(v1alpha1.ActionTransform, transform(touch)))
	wantRun(t, run, v1alpha1.ReasonPartiallyFailed, "4 of 4 objects matched; 3 changed, 1 denied. ",
		"The first failure was on ConfigMap "+b.namespace+"/frozen: ValidatingAdmissionPolicy 'deny-update-"+b.namespace+"'", "denied request: it is frozen")
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 4, Matched: 4, Acted: 3, Failed: 1})
	wantOutcome(t, run, "frozen", v1alpha1.OutcomeDenied, "it is frozen")

	run = b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, run, v1alpha1.ReasonPartiallyFailed, "4 of 4 objects matched; 3 deleted, 1 denied. ", "/kept: ValidatingAdmissionPolicy 'deny-delete-")
	wantOutcome(t, run, "kept", v1alpha1.OutcomeDenied, "the audit needs it")
	b.wantNames("kept")
	for _, name := range []string{"kept", "frozen"} {
		for _, method := range []string{http.MethodDelete, http.MethodPatch} {
			if n := b.requests.count(method, "/"+name); n > 1 {
				t.Errorf("%d %s of %s: what is denied is not tried again in the same run", n, method, name)
			}
		}
	}
}

// A policy's words are stored without what a terminal obeys, or what kubectl cannot print as YAML.
func TestRefusalIsStoredPrintable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("kept")
	b.denyDelete("kept", "no\x1b]0;title\x07 \u009b2J\u202eway")
	c := b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationCleanerReport))
	run := b.run(c)
	wantOutcome(t, run, "kept", v1alpha1.OutcomeDenied, "denied request: no ]0;title   2Jway")
	for _, stored := range []any{run, b.reported(c)} {
		text, err := yaml.Marshal(stored)
		must(t, err)
		for _, r := range []string{`\e`, `\x1b`, `\a`, `\x9b`, `\u202e`, "\x1b", "\x07", "\u009b", "\u202e"} {
			if strings.Contains(strings.ToLower(string(text)), r) {
				t.Errorf("%q is stored: %s", r, text)
			}
		}
	}
}

// A webhook may deny with any code. None of them reads as a conflict, as gone, as a fault, or as haste.
func TestWebhookDenies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	codes := map[string]int32{"bad-request": 400, "unauthorized": 401, "forbidden": 403, "not-found": 404, "conflict": 409, "haste": 429, "fault": 500}
	for name := range codes {
		b.configMap(name)
	}
	b.configMap("free")
	b.webhook(func(name string) *metav1.Status {
		code, denied := codes[name]
		if !denied {
			return nil
		}
		// Details as the API server's own answers have them: a 404 that names the object, a time to wait.
		return &metav1.Status{Code: code, Message: "ask the owner", Reason: metav1.StatusReasonConflict, Details: &metav1.StatusDetails{Name: name, RetryAfterSeconds: 1}}
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, run, v1alpha1.ReasonPartiallyFailed, "8 of 8 objects matched; 1 deleted, 7 denied. The first failure was on ConfigMap ")
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 8, Matched: 8, Acted: 1, Failed: 7})
	for name := range codes {
		wantOutcome(t, run, name, v1alpha1.OutcomeDenied, `admission webhook "guard.kubecleaner.dev" denied the request: ask the owner`)
		if n := b.requests.count(http.MethodDelete, "/"+name); n != 1 {
			t.Errorf("%d deletes of %s, want 1", n, name)
		}
	}
}

// webhook lets deny decide on deletes of the test's ConfigMaps, and waits until it does.
func (b *bench) webhook(deny func(name string) *metav1.Status) {
	b.t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			b.t.Error(err)
			return
		}
		status := deny(review.Request.Name)
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: status == nil, Result: status}
		if review.Request.Name == "probe" {
			review.Response.Allowed = false
		}
		if err := json.NewEncoder(w).Encode(review); err != nil {
			b.t.Error(err)
		}
	}))
	b.t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	config := &registrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "guard-" + b.namespace}}
	config.Webhooks = []registrationv1.ValidatingWebhook{{
		Name: "guard.kubecleaner.dev", SideEffects: ptr.To(registrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		ClientConfig:      registrationv1.WebhookClientConfig{URL: &server.URL, CABundle: ca},
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: b.namespace}},
		Rules: []registrationv1.RuleWithOperations{{
			Operations: []registrationv1.OperationType{registrationv1.Delete},
			Rule:       registrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
		}},
	}}
	must(b.t, b.user.Create(b.t.Context(), config))
	b.t.Cleanup(func() { _ = b.user.Delete(context.Background(), config) })
	probe := b.configMap("probe", func(cm *corev1.ConfigMap) { cm.Labels = nil })
	must(b.t, wait.PollUntilContextTimeout(b.t.Context(), 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		return b.user.Delete(ctx, probe, client.DryRunAll) != nil, nil
	}))
}

// Want of rights is no denial: it is a failure that says Forbidden, and whom to ask.
func TestWantOfRightsIsNoDenial(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	b.onConfigMaps(http.MethodDelete, func(r *http.Request) (*http.Response, error) {
		return forbidden(t, r, "configmaps", "old"), nil
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, run, v1alpha1.ReasonForbidden, "1 failed", forbiddenHint)
	wantOutcome(t, run, "old", v1alpha1.OutcomeFailed, `configmaps "old" is forbidden: User`)
}

const forbiddenHint = "Give the operator the right in the ClusterRole or Role for what Cleaners may touch"
