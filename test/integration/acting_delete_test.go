// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Upstream: delete without preconditions, from a stale list. Required: delete with UID and resourceVersion.
func TestDeleteCarriesPreconditions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cm := b.configMap("old")
	requests := b.record(http.MethodDelete, "/old")
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionDelete)), v1alpha1.ReasonCompleted, "1 deleted")
	want := map[string]any{
		"apiVersion": "v1", "kind": "DeleteOptions",
		"preconditions": map[string]any{"uid": string(cm.UID), "resourceVersion": cm.ResourceVersion},
	}
	if got := requests(); len(got) != 1 || cmp.Diff(want, got[0].body) != "" {
		t.Fatalf("the deletes are %+v, want one of %v", got, want)
	}
}

// deleteOptions are passed to the delete call.
func TestDeleteOptionsArePassedOn(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		options v1alpha1.DeleteOptions
		want    map[string]any
		outcome v1alpha1.OutcomeResult
		reason  string
	}{
		"nothing":    {v1alpha1.DeleteOptions{}, map[string]any{}, v1alpha1.OutcomeDeleted, ""},
		"Background": {v1alpha1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}, map[string]any{"propagationPolicy": "Background"}, v1alpha1.OutcomeDeleted, ""},
		"Foreground": {
			v1alpha1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)},
			map[string]any{"propagationPolicy": "Foreground"},
			v1alpha1.OutcomeTerminating, "finalizers hold it: foregroundDeletion",
		},
		"Orphan": {
			v1alpha1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationOrphan)},
			map[string]any{"propagationPolicy": "Orphan"},
			v1alpha1.OutcomeTerminating, "finalizers hold it: orphan",
		},
		"at once": {v1alpha1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}, map[string]any{"gracePeriodSeconds": 0.0}, v1alpha1.OutcomeDeleted, ""},
		"in time": {v1alpha1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](7)}, map[string]any{"gracePeriodSeconds": 7.0}, v1alpha1.OutcomeDeleted, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.configMap("old")
			requests := b.record(http.MethodDelete, "/old")
			run := b.run(b.cleaner(v1alpha1.ActionDelete, func(c *v1alpha1.Cleaner) { c.Spec.DeleteOptions = &test.options }))
			wantOutcome(t, run, "old", test.outcome, test.reason)
			got := map[string]any{}
			for _, key := range []string{"propagationPolicy", "gracePeriodSeconds"} {
				if value, ok := requests()[0].body[key]; ok {
					got[key] = value
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Fatalf("the delete's options (-want +got):\n%s", diff)
			}
		})
	}
}

// A Pod on a node has its grace period to end: it is Terminating, not Deleted.
func TestDeletedPodHasItsGracePeriod(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.pod("slow", "none", func(p *corev1.Pod) { p.Spec.NodeName = "node" })
	b.pod("quick", "none", func(p *corev1.Pod) { p.Spec.NodeName = "node"; p.Spec.TerminationGracePeriodSeconds = ptr.To[int64](0) })
	pods := kind("", "v1", "Pod", b.namespace)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(pods)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 deleted, 1 being deleted")
	wantOutcome(t, run, "slow", v1alpha1.OutcomeTerminating, "its grace period is 30 s")
}

// A finalizer that holds the object: one DELETE, outcome Terminating, the finalizers are named and never stripped.
func TestFinalizerMakesItTerminating(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("held", b.finalized)
	c := b.cleaner(v1alpha1.ActionDelete)
	run := b.run(c)
	wantRun(t, run, v1alpha1.ReasonCompleted, "0 deleted, 1 being deleted")
	wantOutcome(t, run, "held", v1alpha1.OutcomeTerminating, "finalizers hold it: integration.kubecleaner.dev/hold")
	// The next run leaves it alone: it is being deleted.
	wantCounts(t, b.run(c), v1alpha1.RunCounts{})
	if cm := b.named("held"); len(cm.Finalizers) != 1 || b.requests.count(http.MethodDelete, "/held") != 1 {
		t.Fatalf("the finalizers are %v", cm.Finalizers)
	}
}

// denyDelete makes a policy that denies deleting the ConfigMap, and waits until it does.
func (b *bench) denyDelete(name, message string) {
	b.t.Helper()
	b.deny(admissionv1.Delete, name, message)
	must(b.t, wait.PollUntilContextTimeout(b.t.Context(), 20*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		return b.user.Delete(ctx, b.named(name), client.DryRunAll) != nil, nil
	}))
}

// deny makes a policy that denies doing something to a ConfigMap.
func (b *bench) deny(operation admissionv1.OperationType, name, message string) {
	b.t.Helper()
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: strings.ToLower("deny-" + string(operation) + "-" + b.namespace)}}
	policy.Spec.MatchConstraints = &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
		ResourceNames: []string{name},
		RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{operation},
			Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
		},
	}}}
	policy.Spec.MatchConstraints.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: b.namespace}}
	policy.Spec.Validations = []admissionv1.Validation{{Expression: "false", Message: message}}
	must(b.t, b.user.Create(b.t.Context(), policy))
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: policy.Name}}
	binding.Spec.PolicyName = policy.Name
	binding.Spec.ValidationActions = []admissionv1.ValidationAction{admissionv1.Deny}
	must(b.t, b.user.Create(b.t.Context(), binding))
	b.t.Cleanup(func() {
		_ = b.user.Delete(context.Background(), binding)
		_ = b.user.Delete(context.Background(), policy)
	})
}

// Admission denies: that object fails with the policy's message, the others continue.
func TestDeniedDeleteFailsThatObjectOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{"first", "guarded", "last"} {
		b.configMap(name)
	}
	b.denyDelete("guarded", "the audit needs it")
	c := b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationCleanerReport))
	run := b.run(c)
	wantRun(t, run, v1alpha1.ReasonPartiallyFailed, "3 of 3 objects matched; 2 deleted, 1 denied. The first failure was on ConfigMap "+b.namespace+"/guarded: ", "the audit needs it")
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 3, Matched: 3, Acted: 2, Failed: 1})
	wantOutcome(t, run, "guarded", v1alpha1.OutcomeDenied)
	said := "ValidatingAdmissionPolicy 'deny-delete-" + b.namespace + "' with binding 'deny-delete-" + b.namespace + "' denied request: the audit needs it"
	if got := run.Status.Objects[1].Reason; got != said {
		t.Fatalf("the reason is %q, want the policy's own words, %q", got, said)
	}
	b.wantNames("guarded")
	if run.Status.Phase != v1alpha1.RunFailed {
		t.Fatalf("the phase is %s", run.Status.Phase)
	}
	if diff := cmp.Diff([]string{"first", "last"}, reportedNames(b.reported(c))); diff != "" {
		t.Fatalf("the Report lists what was handled (-want +got):\n%s", diff)
	}
}

// The duration of a run is that of the run, also when it touched something: the fake clock stands still.
func TestDurationIsExact(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	run := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 1, Matched: 1, Acted: 1})
	if run.Status.Duration.Duration != 0 {
		t.Fatalf("the run took %s by a clock that stands still", run.Status.Duration.Duration)
	}
}
