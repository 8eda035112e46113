// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Most kinds' answer to a delete proves it. One live read is spent on those that are answered with the object as it was.
func TestDeletedIsProvedAtTheLeastCost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.configMap("old")
	b.pod("unscheduled", "none")
	service := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	service.Namespace, service.Name = b.namespace, "old"
	must(t, b.user.Create(t.Context(), service))
	b.widget("old", `{}`)
	for name, test := range map[string]struct {
		selector v1alpha1.ResourceSelector
		path     string
		gets     int
	}{
		"ConfigMap": {kind("", "v1", "ConfigMap", b.namespace), "/configmaps/old", 0},
		"Widget":    {kind(widgetGroup, "v1", "Widget", b.namespace), "/widgets/old", 0},
		"Service":   {kind("", "v1", "Service", b.namespace), "/services/old", 1},
		"Pod":       {kind("", "v1", "Pod", b.namespace), "/pods/unscheduled", 1},
	} {
		t.Run(name, func(t *testing.T) {
			run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(test.selector)))
			wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 1 object matched; 1 deleted")
			if got := run.Status.Objects[0].Outcome; got != v1alpha1.OutcomeDeleted {
				t.Fatalf("the outcome is %s", got)
			}
			deletes, gets := b.requests.count(http.MethodDelete, test.path), b.requests.count(http.MethodGet, test.path)
			if deletes != 1 || gets != test.gets {
				t.Fatalf("%d DELETE and %d GET, want 1 and %d", deletes, gets, test.gets)
			}
		})
	}
}

// An answer that proves nothing is looked into.
func TestAnswerToADeleteThatProvesNothing(t *testing.T) {
	t.Parallel()
	const unproved = `{"kind":"Status","apiVersion":"v1","status":"Success"}`
	for name, test := range map[string]struct {
		code   int
		body   string
		before func(*bench)
		unread bool
		want   v1alpha1.OutcomeResult
		reason string
	}{
		"200, gone":           {200, unproved, remove, false, v1alpha1.OutcomeDeleted, ""},
		"200, re-created":     {200, unproved, func(b *bench) { b.recreate("old") }, false, v1alpha1.OutcomeDeleted, ""},
		"200, still there":    {200, unproved, nothing, false, v1alpha1.OutcomeFailed, "the object is still there, and not being deleted"},
		"200, ending":         {200, unproved, func(b *bench) { update(b.finalized)(b); remove(b) }, false, v1alpha1.OutcomeTerminating, "finalizers hold it: integration.kubecleaner.dev/hold"},
		"200, empty":          {200, ``, remove, false, v1alpha1.OutcomeDeleted, ""},
		"200, cannot be read": {200, unproved, remove, true, v1alpha1.OutcomeTerminating, "the API server accepted the delete; whether the object is gone could not be read: "},
		"202, gone":           {202, unproved, remove, false, v1alpha1.OutcomeDeleted, ""},
		"202, still there":    {202, unproved, nothing, false, v1alpha1.OutcomeTerminating, "the API server accepted the delete request, but has not started to delete the object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMap("old")
			b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
				switch {
				case !strings.HasSuffix(r.URL.Path, "/configmaps/old"):
				case r.Method == http.MethodDelete:
					test.before(b)
					return answer(r, test.code, []byte(test.body)), nil
				case test.unread:
					return nil, io.ErrUnexpectedEOF
				}
				return nil, nil
			})
			wantOutcome(t, b.run(b.cleaner(v1alpha1.ActionDelete)), "old", test.want, test.reason)
			deletes, gets := b.requests.count(http.MethodDelete, "/old"), b.requests.count(http.MethodGet, "/configmaps/old")
			if deletes != 1 || gets == 0 {
				t.Fatalf("%d DELETE and %d GET", deletes, gets)
			}
		})
	}
}

// F19: an object that is being deleted already (excludeDeleted: false) is Terminating, with what holds it and since when. A second
// DELETE would do nothing, so none is sent, and no finalizer is ever taken away.
func TestFinalizerThatNeverEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("held", b.finalized)
	b.configMap("free")
	c := b.cleaner(v1alpha1.ActionDelete, excludingDeleted(ptr.To(false)))
	run := b.run(c)
	wantRun(t, run, v1alpha1.ReasonCompleted, "2 of 2 objects matched; 1 deleted, 1 being deleted.")
	wantOutcome(t, run, "held", v1alpha1.OutcomeTerminating, "finalizers hold it: integration.kubecleaner.dev/hold")
	for range 2 {
		run = b.run(c)
		wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 1 object matched; 0 deleted, 1 being deleted.")
		wantOutcome(t, run, "held", v1alpha1.OutcomeTerminating, "it was being deleted already, since 20", "Z; finalizers hold it: integration.kubecleaner.dev/hold")
	}
	if cm := b.named("held"); len(cm.Finalizers) != 1 || b.requests.count(http.MethodDelete, "/held") != 1 {
		t.Fatalf("%d deletes, want 1; the finalizers are %v", b.requests.count(http.MethodDelete, "/held"), cm.Finalizers)
	}
}

// A Pod that hangs in its grace period can be ended sooner: then a second DELETE does something.
func TestPodThatIsBeingDeletedCanBeDeletedSooner(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.pod("hanging", "none", func(p *corev1.Pod) { p.Spec.NodeName = "node" })
	pods := kind("", "v1", "Pod", b.namespace)
	pods.ExcludeDeleted = ptr.To(false)
	must(t, b.user.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "hanging"}}))
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(pods)))
	wantOutcome(t, run, "hanging", v1alpha1.OutcomeTerminating, "it was being deleted already, since 20", "its grace period is 30 s")
	if n := b.requests.count(http.MethodDelete, "/hanging"); n != 0 {
		t.Fatalf("%d deletes, want none", n)
	}
	run = b.run(b.cleaner(v1alpha1.ActionDelete, selecting(pods), func(c *v1alpha1.Cleaner) {
		c.Spec.DeleteOptions = &v1alpha1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
	}))
	wantOutcome(t, run, "hanging", v1alpha1.OutcomeDeleted)
}

// F20: a namespace that ends in the middle of a run takes its objects along, and the others continue.
func TestNamespaceThatEndsInTheMiddleOfARun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ending := b.newNamespace(nil)
	b.configMaps(ending, "lost", 3)
	b.configMaps(b.namespace, "old", 3)
	b.beforeFirst(http.MethodDelete, "", func() { b.end(ending) })
	first := kind("", "v1", "ConfigMap", ending)
	second := kind("", "v1", "ConfigMap", b.namespace)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(first, second)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "6 of 6 objects matched; 3 deleted, 3 gone already")
	for _, name := range []string{"lost-0", "lost-1", "lost-2"} {
		wantOutcome(t, run, name, v1alpha1.OutcomeGone)
	}
	b.wantNames()
}

// end ends a namespace as the namespace controller does.
func (b *bench) end(name string) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	ctx := b.t.Context()
	err := errors.Join(
		b.user.Delete(ctx, ns),
		b.user.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(name)),
		b.user.Get(ctx, client.ObjectKeyFromObject(ns), ns),
	)
	ns.Spec.Finalizers = nil
	if err = errors.Join(err, b.user.SubResource("finalize").Update(ctx, ns)); err != nil {
		b.t.Error(err)
	}
}
