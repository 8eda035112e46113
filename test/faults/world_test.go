// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/faultproxy"
)

const (
	finalizer = "kubecleaner.test/hold"
	touchedBy = "kubecleaner.test/touched"
	// stateLabel is "old" on what the Cleaners select.
	stateLabel = "state"
	afterList  = "it was created after the list"
)

// kinds of which a world has objects. The API server answers the deletion of a ConfigMap with a Status, and of a ServiceAccount
// with the object.
var kinds = []string{"ConfigMap", "ServiceAccount"}

// world is a small one: a Cleaner, what it selects and what it does not, and somebody who changes things while the run goes on.
type world struct {
	*site
	t         *testing.T
	namespace string
	name      string
	cleaner   *v1alpha1.Cleaner
	storage   v1alpha1.CopyStorage

	mu     sync.Mutex
	before map[types.UID]*Object
	named  map[string]types.UID

	planned, acting sync.Once
}

func newWorld(t *testing.T, s *site, namespace string, action v1alpha1.Action, edit ...func(*v1alpha1.Cleaner)) *world {
	t.Helper()
	w := &world{
		site: s, t: t, namespace: namespace, name: fmt.Sprintf("w%d", serial.Add(1)),
		before: map[types.UID]*Object{}, named: map[string]types.UID{},
	}
	w.cleaner = &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: w.name}}
	spec := &w.cleaner.Spec
	spec.Schedule, spec.Action = "0 3 * * *", ptr.To(action)
	spec.Notifications = []v1alpha1.Notification{{Name: "report", Type: v1alpha1.NotificationCleanerReport}}
	for _, kind := range kinds {
		spec.ResourcePolicySet.ResourceSelectors = append(spec.ResourcePolicySet.ResourceSelectors, v1alpha1.ResourceSelector{
			Version: "v1", Kind: kind, Namespace: namespace,
			LabelFilters: []v1alpha1.LabelFilter{
				{Key: "world", Operation: v1alpha1.OperationEqual, Value: ptr.To(w.name)},
				{Key: stateLabel, Operation: v1alpha1.OperationEqual, Value: ptr.To("old")},
			},
		})
	}
	if action == v1alpha1.ActionTransform {
		spec.Transform = `function transform()
  obj.metadata.annotations = obj.metadata.annotations or {}
  obj.metadata.annotations["` + touchedBy + `"] = "yes"
  return {resource = obj}
end`
	}
	for _, e := range edit {
		e(w.cleaner)
	}
	must(t, s.user.Create(t.Context(), w.cleaner))
	t.Cleanup(w.clear)
	w.storage = w.cleaner.CopyStorage()
	return w
}

// populate creates what the Cleaner selects and what it does not.
func (w *world) populate() {
	for _, name := range []string{"a", "b", "changed", "changed-late", "stops", "replaced"} {
		w.create("ConfigMap", name, "")
	}
	w.create("ConfigMap", "held", "", func(o *unstructured.Unstructured) { o.SetFinalizers([]string{finalizer}) })
	w.create("ConfigMap", "new", "it never matched", func(o *unstructured.Unstructured) { w.label(o, "new") })
	w.create("ServiceAccount", "c", "")
	w.create("ServiceAccount", "d", "")
	w.create("ServiceAccount", "guarded", "it is protected", func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{"cleaner/protect": "true"})
	})
}

func (w *world) label(o *unstructured.Unstructured, state string) {
	o.SetLabels(map[string]string{"world": w.name, stateLabel: state})
}

// create creates an object that matches, unless edit changes that.
func (w *world) create(kind, name, spared string, edit ...func(*unstructured.Unstructured)) {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion("v1")
	o.SetKind(kind)
	o.SetNamespace(w.namespace)
	o.SetName(w.name + "-" + name)
	w.label(o, "old")
	o.SetAnnotations(map[string]string{"note": "<&> ü"})
	for _, e := range edit {
		e(o)
	}
	if err := w.user.Create(context.Background(), o); err != nil {
		w.t.Error(err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before[o.GetUID()] = &Object{Last: o, Spared: spared}
	w.named[name] = o.GetUID()
}

// change is what somebody else does to an object. It may be too late. Then nothing happens.
func (w *world) change(name, spared string, patch map[string]any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	object := w.before[w.named[name]]
	body, err := json.Marshal(patch)
	if err != nil {
		w.t.Error(err)
	}
	now := object.Last.DeepCopy()
	err = w.user.Patch(context.Background(), now, client.RawPatch(types.MergePatchType, body))
	if client.IgnoreNotFound(err) != nil {
		w.t.Error(err)
	}
	if err == nil {
		object.Last, object.Spared = now, spared
	}
}

// replace deletes an object and creates another one of the name, which matches too.
func (w *world) replace(kind, name string) {
	w.mu.Lock()
	object := w.before[w.named[name]]
	uid := object.Last.GetUID()
	err := w.user.Delete(context.Background(), object.Last.DeepCopy(), client.Preconditions{UID: &uid})
	if err == nil {
		object.Removed = true
	}
	w.mu.Unlock()
	if err != nil {
		w.t.Error(err)
		return
	}
	w.create(kind, name, afterList)
}

// meddle is what happens meanwhile. It is called for each request of the operator, before that goes on.
func (w *world) meddle(c *faultproxy.Call) {
	if c.Verb == "create" && c.Resource == "secrets" {
		w.planned.Do(func() {
			w.change("stops", "it stopped matching", map[string]any{"metadata": map[string]any{"labels": map[string]any{stateLabel: "new"}}})
			w.change("changed", "", map[string]any{"data": map[string]any{"more": "yes"}})
			w.replace("ConfigMap", "replaced")
		})
	}
	if (c.Verb == "delete" || c.Verb == "patch") && c.Namespace == w.namespace {
		w.acting.Do(func() {
			w.change("changed-late", "", map[string]any{"data": map[string]any{"late": "yes"}})
		})
	}
}

// observe reads how the world is now, and what was written down.
func (w *world) observe(ctx context.Context) (*World, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := &World{
		Action: w.cleaner.EffectiveAction(), Storage: w.storage, Touched: isTouched, Before: w.before, After: map[types.UID]*unstructured.Unstructured{}, Unclear: w.isUnclear,
	}
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("v1")
		list.SetKind(kind + "List")
		if err := w.user.List(ctx, list, client.InNamespace(w.namespace), client.MatchingLabels{"world": w.name}); err != nil {
			return nil, err
		}
		for i := range list.Items {
			seen.After[list.Items[i].GetUID()] = &list.Items[i]
		}
	}
	var err error
	seen.Records, err = ReadRecords(ctx, w.user, w.cleaner.UID)
	return seen, err
}

func isTouched(o *unstructured.Unstructured) bool { return o.GetAnnotations()[touchedBy] == "yes" }

func (w *world) try(err error) {
	if err != nil {
		w.t.Error(err)
	}
}

// clear removes all of it.
func (w *world) clear() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var held corev1.ConfigMap
	key := client.ObjectKey{Namespace: w.namespace, Name: w.name + "-held"}
	if w.user.Get(ctx, key, &held) == nil {
		held.Finalizers = nil
		w.try(w.user.Update(ctx, &held))
	}
	for _, list := range []client.Object{&corev1.ConfigMap{}, &corev1.ServiceAccount{}} {
		w.try(w.user.DeleteAllOf(ctx, list, client.InNamespace(w.namespace), client.MatchingLabels{"world": w.name}))
	}
	var runs v1alpha1.CleanerRunList
	w.try(w.user.List(ctx, &runs, client.MatchingLabels{v1alpha1.CleanerLabel: string(w.cleaner.UID)}))
	for i := range runs.Items {
		uid := string(runs.Items[i].UID)
		w.try(w.user.DeleteAllOf(ctx, &corev1.Secret{}, client.InNamespace(operatorNamespace), client.MatchingLabels{v1alpha1.RunLabel: uid}))
		w.try(w.user.Delete(ctx, &runs.Items[i]))
	}
	w.try(w.user.Delete(ctx, w.cleaner))
	w.try(client.IgnoreNotFound(w.user.Delete(ctx, &v1alpha1.Report{ObjectMeta: metav1.ObjectMeta{Name: w.name}})))
}
