// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// edited changes a Cleaner's first selector.
func edited(edit func(*v1alpha1.ResourceSelector)) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) { edit(&c.Spec.ResourcePolicySet.ResourceSelectors[0]) }
}

// selecting replaces a Cleaner's selectors.
func selecting(selectors ...v1alpha1.ResourceSelector) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) { c.Spec.ResourcePolicySet.ResourceSelectors = selectors }
}

// kind is a selector of all objects of a kind in the namespace.
func kind(group, version, kind, namespace string) v1alpha1.ResourceSelector {
	return v1alpha1.ResourceSelector{Group: group, Version: version, Kind: kind, Namespace: namespace}
}

// has is a filter of objects that have the label.
func has(key string) []v1alpha1.LabelFilter {
	return []v1alpha1.LabelFilter{{Key: key, Operation: v1alpha1.OperationHas}}
}

// equal is a filter of objects whose label has the value.
func equal(key, value string) []v1alpha1.LabelFilter {
	return []v1alpha1.LabelFilter{{Key: key, Operation: v1alpha1.OperationEqual, Value: ptr.To(value)}}
}

func aggregated(script string) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) { c.Spec.ResourcePolicySet.AggregatedSelection = script }
}

func transform(script string) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) { c.Spec.Transform = script }
}

func threshold(n int32) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) { c.Spec.OccurrenceThreshold = ptr.To(n) }
}

func notifying(types ...v1alpha1.NotificationType) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) {
		for _, kind := range types {
			c.Spec.Notifications = append(c.Spec.Notifications, v1alpha1.Notification{Name: string(kind), Type: kind})
		}
	}
}

// together creates n objects, many at once.
func (b *bench) together(n int, object func(i int) client.Object) {
	b.t.Helper()
	errs := make([]error, n)
	workqueue.ParallelizeUntil(b.t.Context(), 16, n, func(i int) { errs[i] = b.user.Create(b.t.Context(), object(i)) })
	must(b.t, errors.Join(errs...))
}

// configMaps creates n ConfigMaps, named prefix-0 and so on, that the Cleaners of this test select. data.n is their number.
func (b *bench) configMaps(namespace, prefix string, n int, edit ...func(*corev1.ConfigMap)) {
	b.t.Helper()
	b.together(n, func(i int) client.Object {
		cm := &corev1.ConfigMap{Data: map[string]string{"n": fmt.Sprint(i)}}
		cm.Namespace, cm.Name, cm.Labels = namespace, fmt.Sprintf("%s-%d", prefix, i), map[string]string{"test": "x"}
		for _, e := range edit {
			e(cm)
		}
		return cm
	})
}

// names are those of the ConfigMaps of a namespace, sorted.
func (b *bench) names(namespace string) []string {
	b.t.Helper()
	var list corev1.ConfigMapList
	must(b.t, b.user.List(b.t.Context(), &list, client.InNamespace(namespace)))
	found := map[string]bool{}
	for _, cm := range list.Items {
		found[cm.Name] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// edit changes an object as a user does.
func edit[T client.Object](b *bench, object T, change func(T)) {
	before, ok := object.DeepCopyObject().(T)
	if !ok {
		b.t.Error("a copy is of another type")
		return
	}
	change(object)
	if err := b.user.Patch(context.Background(), object, client.MergeFrom(before)); err != nil {
		b.t.Error(err)
	}
}

// finalized holds an object with a finalizer until the test ends.
func (b *bench) finalized(cm *corev1.ConfigMap) {
	cm.Finalizers = []string{"integration.kubecleaner.dev/hold"}
	b.t.Cleanup(func() {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		_ = client.IgnoreNotFound(b.user.Patch(context.Background(), cm.DeepCopy(), patch))
	})
}

// reported returns the Report of a Cleaner.
func (b *bench) reported(c *v1alpha1.Cleaner) *v1alpha1.Report {
	b.t.Helper()
	var report v1alpha1.Report
	must(b.t, b.user.Get(b.t.Context(), client.ObjectKey{Name: c.Name}, &report))
	return &report
}

// stored returns the record as it stands in the cluster.
func (b *bench) stored(run *v1alpha1.CleanerRun) *v1alpha1.CleanerRun {
	b.t.Helper()
	var stored v1alpha1.CleanerRun
	must(b.t, b.user.Get(b.t.Context(), client.ObjectKey{Name: run.Name}, &stored))
	return &stored
}

// runNow asks for a run as a user does, waits for its end and returns the Cleaner with the outcome in its status. The
// executor must have been started.
func (b *bench) runNow(c *v1alpha1.Cleaner) *v1alpha1.Cleaner {
	b.t.Helper()
	edit(b, b.get(c.Name), func(c *v1alpha1.Cleaner) {
		c.Annotations = map[string]string{v1alpha1.RunRequestedAtAnnotation: fmt.Sprint(serial.Add(1))}
	})
	b.clock.SetTime(b.clock.Now().Add(time.Second)) // a nominal time names one run
	b.reconcile(c)
	b.waitFinished(c)
	return b.reconcile(c)
}

// runWith carries out a run of the Cleaner under a context of the test's.
func (b *bench) runWith(ctx context.Context, c *v1alpha1.Cleaner) *v1alpha1.CleanerRun {
	b.t.Helper()
	b.clock.SetTime(b.clock.Now().Add(time.Second))
	return b.carryOut(ctx, run.Request{Cleaner: c.Name, Nominal: b.clock.Now().Truncate(time.Second), Trigger: v1alpha1.TriggerSchedule})
}

// serviceAccount makes the account that Pods of the test's namespace need.
func (b *bench) serviceAccount() {
	b.t.Helper()
	account := &corev1.ServiceAccount{}
	account.Namespace, account.Name = b.namespace, "default"
	must(b.t, b.user.Create(b.t.Context(), account))
}

const widgetGroup = "integration.kubecleaner.dev"

var installWidgets = sync.OnceValue(func() error {
	_, err := envtest.InstallCRDs(env.Config, envtest.CRDInstallOptions{Paths: []string{"testdata/widgets.yaml"}, ErrorIfPathMissing: true})
	return err
})

// widget creates a custom resource with the given spec, which is JSON.
func (b *bench) widget(name, spec string) *unstructured.Unstructured {
	b.t.Helper()
	must(b.t, installWidgets())
	w := &unstructured.Unstructured{}
	text := fmt.Sprintf(`{"apiVersion":"%s/v1","kind":"Widget","metadata":{"name":%q,"namespace":%q},"spec":%s}`, widgetGroup, name, b.namespace, spec)
	must(b.t, w.UnmarshalJSON([]byte(text)))
	must(b.t, b.user.Create(b.t.Context(), w))
	return w
}

// thing creates any object.
func (b *bench) thing(gvk schema.GroupVersionKind, name string, content map[string]any) *unstructured.Unstructured {
	b.t.Helper()
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvk)
	u.SetName(name)
	must(b.t, b.user.Create(b.t.Context(), u))
	b.t.Cleanup(func() { _ = b.user.Delete(context.Background(), u) })
	return u
}

// wantOutcome fails the test unless the object has the outcome, with a reason that contains each text.
func wantOutcome(t *testing.T, run *v1alpha1.CleanerRun, name string, want v1alpha1.OutcomeResult, texts ...string) {
	t.Helper()
	i := slices.IndexFunc(run.Status.Objects, func(o v1alpha1.ObjectOutcome) bool { return o.Name == name })
	if i < 0 {
		t.Fatalf("%s is not in the record: %s", name, run.Status.Message)
	}
	got := run.Status.Objects[i]
	if got.Outcome != want {
		t.Fatalf("the outcome of %s is %s, want %s: %s", name, got.Outcome, want, got.Reason)
	}
	wantTexts(t, "the reason of "+name, got.Reason, texts...)
}

// wantTexts fails the test unless the text contains each of texts.
func wantTexts(t *testing.T, what, text string, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if !strings.Contains(text, want) {
			t.Fatalf("%s is %q, want it to contain %q", what, text, want)
		}
	}
}

// wantNames compares the names of the ConfigMaps of the test's namespace.
func (b *bench) wantNames(want ...string) {
	b.t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, b.names(b.namespace)); diff != "" {
		b.t.Fatalf("the ConfigMaps that are there (-want +got):\n%s", diff)
	}
}

// reportedNames are the names of the objects that a Report lists, in its order.
func reportedNames(report *v1alpha1.Report) []string {
	var names []string
	for _, info := range report.Spec.ResourceInfo {
		names = append(names, info.Resource.Name)
	}
	return names
}
