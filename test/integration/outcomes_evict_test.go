// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// evicting evicts the Pods of the test's namespace that have the label test.
func (b *bench) evicting() func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) {
		c.Spec.ResourcePolicySet.ResourceSelectors[0].Kind = "Pod"
		c.Spec.DeleteOptions = &v1alpha1.DeleteOptions{PodDeletion: v1alpha1.PodDeletionEvict}
	}
}

// runningPod creates a Pod that is ready, with the label app of its name: a budget does not protect one that never ran.
func (b *bench) runningPod(name string) *corev1.Pod {
	b.t.Helper()
	b.pod(name, "none", func(p *corev1.Pod) { p.Labels = map[string]string{"test": "x", "app": name} })
	pod := b.livePod(name)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	must(b.t, b.user.Status().Update(b.t.Context(), pod))
	return pod
}

// livePod is nil when there is none of the name.
func (b *bench) livePod(name string) *corev1.Pod {
	b.t.Helper()
	var pod corev1.Pod
	err := b.user.Get(b.t.Context(), client.ObjectKey{Namespace: b.namespace, Name: name}, &pod)
	must(b.t, client.IgnoreNotFound(err))
	if err != nil {
		return nil
	}
	return &pod
}

// budget keeps so many of the Pods with the label app available, of which there is one. Its status is what its controller makes of
// that, whether or not that one runs.
func (b *bench) budget(name, app string, available int32) {
	b.t.Helper()
	pdb := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name}}
	pdb.Spec.MinAvailable = ptr.To(intstr.FromInt32(available))
	pdb.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	must(b.t, b.user.Create(b.t.Context(), pdb))
	must(b.t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := b.user.Get(b.t.Context(), client.ObjectKeyFromObject(pdb), pdb); err != nil {
			return err
		}
		pdb.Status.ObservedGeneration, pdb.Status.ExpectedPods = pdb.Generation, 1
		pdb.Status.CurrentHealthy, pdb.Status.DesiredHealthy, pdb.Status.DisruptionsAllowed = 1, available, 1-available
		return b.user.Status().Update(b.t.Context(), pdb)
	}))
}

// F22: a budget holds a Pod back, which is Denied in the budget's words and not asked for again; the others are evicted.
func TestEvictionGoesByTheBudget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	for _, name := range []string{"held", "free", "twice", "plain"} {
		b.runningPod(name)
	}
	b.budget("holds", "held", 1)
	b.budget("lets", "free", 0)
	b.budget("one", "twice", 0)
	b.budget("other", "twice", 0)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, b.evicting()))
	wantRun(t, run, v1alpha1.ReasonPartiallyFailed, "4 of 4 objects matched; 2 deleted, 2 denied. ")
	wantOutcome(t, run, "held", v1alpha1.OutcomeDenied,
		"Cannot evict pod as it would violate the pod's disruption budget. The disruption budget holds needs 1 healthy pods and has 1 currently")
	wantOutcome(t, run, "twice", v1alpha1.OutcomeDenied, severalBudgets)
	wantOutcome(t, run, "free", v1alpha1.OutcomeDeleted)
	wantOutcome(t, run, "plain", v1alpha1.OutcomeDeleted)
	for name, is := range map[string]bool{"held": true, "twice": true, "free": false, "plain": false} {
		if (b.livePod(name) != nil) != is {
			t.Errorf("Pod %s is there: %t", name, !is)
		}
		if n := b.requests.count(http.MethodPost, "/"+name+"/eviction"); n != 1 {
			t.Errorf("%d evictions of %s were asked for, want 1", n, name)
		}
	}
	if n := b.requests.count(http.MethodDelete, "/held"); n > 0 {
		t.Error("the Pod was deleted, not evicted")
	}
	// Without podDeletion, a budget does not hold a Pod back, as before.
	run = b.run(b.cleaner(v1alpha1.ActionDelete, b.evicting(), func(c *v1alpha1.Cleaner) { c.Spec.DeleteOptions = nil }))
	wantOutcome(t, run, "held", v1alpha1.OutcomeDeleted)
}

const severalBudgets = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."

// What is evicted is the Pod that was judged.
func TestEvictionIsOfTheJudgedPod(t *testing.T) {
	t.Parallel()
	web, err := rest.HTTPClientFor(env.Config)
	must(t, err)
	applied := func(r *http.Request) { // and the answer is lost
		response, err := web.Transport.RoundTrip(r)
		must(t, err)
		must(t, response.Body.Close())
	}
	for name, test := range map[string]struct {
		meddle    func(b *bench, r *http.Request) (lost bool)
		want      v1alpha1.OutcomeResult
		is        bool
		evictions int64
	}{
		"nothing happens": {func(*bench, *http.Request) bool { return false }, v1alpha1.OutcomeDeleted, false, 1},
		"it stops matching": {func(b *bench, _ *http.Request) bool {
			pod := b.livePod("old")
			must(b.t, b.user.Patch(b.t.Context(), pod, client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"test": null}}}`))))
			return false
		}, v1alpha1.OutcomeChanged, true, 1},
		"it changes and matches": {func(b *bench, _ *http.Request) bool {
			pod := b.livePod("old")
			must(b.t, b.user.Patch(b.t.Context(), pod, client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"more": "1"}}}`))))
			return false
		}, v1alpha1.OutcomeDeleted, false, 2},
		"it is created again": {func(b *bench, _ *http.Request) bool {
			must(b.t, b.user.Delete(b.t.Context(), b.livePod("old"), client.GracePeriodSeconds(0)))
			b.runningPod("old")
			return false
		}, v1alpha1.OutcomeReplaced, true, 1},
		"the answer is lost":  {func(_ *bench, r *http.Request) bool { applied(r); return true }, v1alpha1.OutcomeDeleted, false, 1},
		"the request is lost": {func(*bench, *http.Request) bool { return true }, v1alpha1.OutcomeDeleted, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.serviceAccount()
			pod := b.runningPod("old")
			var evictions atomic.Int64
			b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
				if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/pods/old/eviction") || evictions.Add(1) > 1 {
					return nil, nil
				}
				wantEviction(t, r, pod)
				if test.meddle(b, r) {
					return nil, io.ErrUnexpectedEOF
				}
				return nil, nil
			})
			wantOutcome(t, b.run(b.cleaner(v1alpha1.ActionDelete, b.evicting())), "old", test.want)
			if is := b.livePod("old") != nil; is != test.is || evictions.Load() != test.evictions {
				t.Errorf("the Pod is there: %t, after %d evictions", is, evictions.Load())
			}
		})
	}
}

// wantEviction looks at the body of an eviction, and leaves it as it was.
func wantEviction(t *testing.T, r *http.Request, pod *corev1.Pod) {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	must(t, err)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	var eviction policyv1.Eviction
	must(t, json.Unmarshal(body, &eviction))
	options := eviction.DeleteOptions
	if options == nil || options.Preconditions == nil || *options.Preconditions.UID != pod.UID || *options.Preconditions.ResourceVersion != pod.ResourceVersion {
		t.Errorf("the eviction is %s", body)
	}
}

// Other kinds of such a Cleaner are deleted.
func TestOnlyPodsAreEvicted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.runningPod("old")
	b.configMap("settings")
	run := b.run(b.cleaner(v1alpha1.ActionDelete, func(c *v1alpha1.Cleaner) {
		c.Spec.ResourcePolicySet.ResourceSelectors = append(c.Spec.ResourcePolicySet.ResourceSelectors, kind("", "v1", "Pod", b.namespace))
		c.Spec.DeleteOptions = &v1alpha1.DeleteOptions{PodDeletion: v1alpha1.PodDeletionEvict}
	}))
	wantOutcome(t, run, "old", v1alpha1.OutcomeDeleted)
	wantOutcome(t, run, "settings", v1alpha1.OutcomeDeleted)
	if n := b.requests.count(http.MethodDelete, "/configmaps/settings") + b.requests.count(http.MethodPost, "/pods/old/eviction"); n != 2 {
		t.Error("the ConfigMap is deleted, and the Pod evicted")
	}
}
