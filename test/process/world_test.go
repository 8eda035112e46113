// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/faults"
)

// bystanders are the objects of a world that the Cleaner does not select.
const bystanders = 5

var worlds atomic.Int64

// world is a namespace with objects, and a Cleaner that takes most of them.
type world struct {
	t       *testing.T
	client  client.Client
	cleaner *v1alpha1.Cleaner
	objects int
	before  map[types.UID]*faults.Object
}

// newWorld creates the objects. Nothing happens before start.
func newWorld(t *testing.T, c client.Client, action v1alpha1.Action, objects int) *world {
	t.Helper()
	name := fmt.Sprintf("world-%d", worlds.Add(1))
	must(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	var group errgroup.Group
	group.SetLimit(8)
	for i := range objects + bystanders {
		cm := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: fmt.Sprintf("victim-%03d", i), Labels: map[string]string{"old": "yes"}},
			Data:       map[string]string{"n": fmt.Sprint(i)},
		}
		if i >= objects {
			cm.Name, cm.Labels = fmt.Sprintf("bystander-%d", i), nil
		}
		group.Go(func() error { return c.Create(t.Context(), cm) })
	}
	must(t, group.Wait())
	w := &world{t: t, client: c, objects: objects, cleaner: &v1alpha1.Cleaner{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{v1alpha1.RunRequestedAtAnnotation: "now"}},
		Spec: v1alpha1.CleanerSpec{
			Schedule: "0 0 1 1 *", Action: ptr.To(action),
			ResourcePolicySet: v1alpha1.ResourcePolicySet{ResourceSelectors: []v1alpha1.ResourceSelector{{
				Version: "v1", Kind: "ConfigMap", Namespace: name,
				LabelFilters: []v1alpha1.LabelFilter{{Key: "old", Operation: v1alpha1.OperationHas}},
			}}},
			Notifications: []v1alpha1.Notification{{Name: "report", Type: v1alpha1.NotificationCleanerReport}},
		},
	}}
	if action == v1alpha1.ActionTransform {
		w.cleaner.Spec.Transform = `function transform() obj.data.touched = obj.data.n return {resource = obj} end`
	}
	w.before = map[types.UID]*faults.Object{}
	for uid, object := range configMaps(t, c, name) {
		w.before[uid] = &faults.Object{Last: object}
		if object.GetLabels()["old"] == "" {
			w.before[uid].Spared = "it is not selected"
		}
	}
	return w
}

// start creates the Cleaner, which asks for a run.
func (w *world) start() {
	w.t.Helper()
	must(w.t, w.client.Create(w.t.Context(), w.cleaner))
}

// configMaps are those of a namespace, by their UID.
func configMaps(t *testing.T, c client.Client, namespace string) map[types.UID]*unstructured.Unstructured {
	t.Helper()
	var list unstructured.UnstructuredList
	list.SetAPIVersion("v1")
	list.SetKind("ConfigMapList")
	must(t, c.List(t.Context(), &list, client.InNamespace(namespace)))
	objects := map[types.UID]*unstructured.Unstructured{}
	for i := range list.Items {
		objects[list.Items[i].GetUID()] = &list.Items[i]
	}
	return objects
}

// isOver reports whether the Cleaner's status shows the end of its run.
func (w *world) isOver(ctx context.Context) (bool, error) {
	err := w.client.Get(ctx, client.ObjectKeyFromObject(w.cleaner), w.cleaner)
	return w.cleaner.Status.LastRun != nil && w.cleaner.Status.ActiveRun == nil, err
}

// check fails the test unless the one run did all it was to do, and the invariants hold. It returns the run.
func (w *world) check(how string) *v1alpha1.CleanerRun {
	w.t.Helper()
	records, err := faults.ReadRecords(w.t.Context(), w.client, w.cleaner.UID)
	must(w.t, err)
	after := faults.World{
		Action: *w.cleaner.Spec.Action, Storage: v1alpha1.StorageSecret, Before: w.before, After: configMaps(w.t, w.client, w.cleaner.Name), Records: records,
		Touched: isTouched,
	}
	for _, err := range faults.Check(&after) {
		w.t.Errorf("%s: %v", how, err)
	}
	if len(records) != 1 {
		w.t.Fatalf("%s: there are %d runs", how, len(records))
	}
	done := w.objects
	for _, object := range after.After {
		if object.GetLabels()["old"] != "" && !isTouched(object) {
			done--
		}
	}
	run := &records[0].Run
	if run.Status.Phase != v1alpha1.RunCompleted || done != w.objects || int(run.Status.Acted) != w.objects || len(records[0].Intents) != w.objects {
		w.t.Errorf("%s: %d of %d objects are dealt with, and the run says %s, %+v, %d intents: %s", how, done, w.objects,
			run.Status.Phase, run.Status.RunCounts, len(records[0].Intents), run.Status.Message)
	}
	if w.cleaner.Status.LastRun.Name != run.Name || w.cleaner.Status.FailureMessage != nil {
		w.t.Errorf("%s: the Cleaner says %+v", how, w.cleaner.Status)
	}
	if w.t.Failed() {
		w.t.FailNow() // the next ones would say the same
	}
	return run
}

func isTouched(o *unstructured.Unstructured) bool {
	touched, _, _ := unstructured.NestedString(o.Object, "data", "touched")
	return touched != ""
}

// remove deletes what the run left behind: nothing collects garbage here, and operators read all records when they start.
func (w *world) remove() {
	w.t.Helper()
	var runs v1alpha1.CleanerRunList
	must(w.t, w.client.List(w.t.Context(), &runs, client.MatchingLabels{v1alpha1.CleanerLabel: string(w.cleaner.UID)}))
	must(w.t, w.client.Delete(w.t.Context(), w.cleaner))
	for i := range runs.Items {
		parts := client.MatchingLabels{v1alpha1.RunLabel: string(runs.Items[i].UID)}
		must(w.t, w.client.DeleteAllOf(w.t.Context(), &corev1.Secret{}, client.InNamespace(operatorNamespace), parts))
		must(w.t, client.IgnoreNotFound(w.client.Delete(w.t.Context(), &runs.Items[i])))
	}
	must(w.t, w.client.DeleteAllOf(w.t.Context(), &corev1.ConfigMap{}, client.InNamespace(w.cleaner.Name)))
}
