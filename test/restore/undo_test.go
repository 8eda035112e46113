// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal/restore"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

var (
	widgets     = object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "restore.kubecleaner.dev", Version: "v1", Kind: "Widget"}, Resource: "widgets", Namespaced: true}
	deployments = object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Resource: "deployments", Namespaced: true}
	secrets     = object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Resource: "secrets", Namespaced: true}
)

// transformed lets a Cleaner change the labelled objects of a kind by a merge patch.
func (b *bench) transformed(kind object.Kind, patch string) *v1alpha1.CleanerRun {
	b.t.Helper()
	record := b.run(b.cleaner(v1alpha1.ActionTransform, []schema.GroupVersionKind{kind.GroupVersionKind}, func(c *v1alpha1.Cleaner) {
		c.Spec.MergePatch = &runtime.RawExtension{Raw: []byte(patch)}
	}))
	wantActed(b.t, record, 1)
	return record
}

func (b *bench) widget() object.Object {
	return b.create(widgets, map[string]any{
		"apiVersion": "restore.kubecleaner.dev/v1", "kind": "Widget", "metadata": map[string]any{"name": "widget", "namespace": b.namespace},
		"spec": map[string]any{
			"big": int64(9007199254740993), "list": []any{}, "map": map[string]any{}, "gone": map[string]any{"a": []any{}},
			"nested": map[string]any{"a": 1, "keep": "x"}, "other": "o",
		},
	})
}

const widgetPatch = `{"metadata":{"annotations":{"paused":"yes"}},"spec":{"big":1,"list":[9007199254740995],"map":{"x":1},"gone":null,"nested":{"a":{"b":[]},"new":{"y":{}}},"added":{"z":[]}}}`

// Rule 8: what a Transform changed is put back exactly, beside what others changed since.
func TestUndo(t *testing.T) {
	b := newBench(t)
	widget := b.widget()
	before := b.get(widget)
	record := b.transformed(widgets, widgetPatch)
	if at(b.get(widget), "spec", "big") == at(before, "spec", "big") {
		t.Fatal("nothing was changed")
	}
	wantResults(t, b.restore(record, restore.Options{}), 1, restore.Restored)
	after := b.get(widget)
	if diff := cmp.Diff(without("Widget", before), without("Widget", after)); diff != "" {
		t.Errorf("(-before +restored):\n%s", diff)
	}
	wantResults(t, b.restore(record, restore.Options{}), 1, restore.Already)
	if again := b.get(widget); at(again, "metadata", "resourceVersion") != at(after, "metadata", "resourceVersion") {
		t.Error("a second restore changed it")
	}
	cleaner := b.cleaner(v1alpha1.ActionDelete, []schema.GroupVersionKind{widgets.GroupVersionKind})
	wantActed(t, b.run(cleaner), 0)
	b.patch(widget, `{"metadata":{"annotations":{"`+v1alpha1.RestoredFromAnnotation+`":null}}}`) // it is confirmed
	wantActed(t, b.run(cleaner), 1)
}

// What a Transform wrote as stringData is put back where the API server keeps it, which is data.
func TestUndoOfStringData(t *testing.T) {
	b := newBench(t)
	secret := b.create(secrets, map[string]any{"metadata": map[string]any{"name": "secret", "namespace": b.namespace}, "data": map[string]any{"k": "b2xk", "other": "eA=="}})
	before := b.get(secret)
	record := b.transformed(secrets, `{"stringData":{"k":"new","added":"y"}}`)
	if now := at(b.get(secret), "data", "k"); now != "bmV3" {
		t.Fatalf("it was changed to %v", now)
	}
	wantResults(t, b.restore(record, restore.Options{}), 1, restore.Restored)
	if diff := cmp.Diff(without("Secret", before), without("Secret", b.get(secret))); diff != "" {
		t.Errorf("(-before +restored):\n%s", diff)
	}
	wantResults(t, b.restore(record, restore.Options{}), 1, restore.Already)
}

// What somebody edited where the run had changed it is left alone as a whole, unless he is overruled; what he edited elsewhere stays.
func TestUndoBesideEdits(t *testing.T) {
	b := newBench(t)
	widget := b.widget()
	before := b.get(widget)
	record := b.transformed(widgets, widgetPatch)
	b.patch(widget, `{"metadata":{"annotations":{"mine":"1"}},"spec":{"other":"edited","nested":{"a":{"b":[1]}},"map":{"mine":true}}}`)
	edited := b.get(widget)
	plan := b.restore(record, restore.Options{})
	note := "metadata.annotations did not exist before the run, and stays, because it now also has: mine"
	wantItem(t, plan, "widget", restore.ChangedSince, "it was edited since at spec.nested.a; with --force that is overwritten")
	if now := b.get(widget); at(now, "metadata", "resourceVersion") != at(edited, "metadata", "resourceVersion") {
		t.Fatal("it was touched")
	}
	plan = b.restore(record, restore.Options{Force: true})
	wantItem(t, plan, "widget", restore.Restored, "", note)
	after := b.get(widget)
	spec := before["spec"].(map[string]any)
	spec["other"], spec["map"] = "edited", map[string]any{"mine": true}
	if diff := cmp.Diff(spec, after["spec"]); diff != "" {
		t.Errorf("(-want +restored):\n%s", diff)
	}
	if at(after, "metadata", "annotations", "mine") != "1" || at(after, "metadata", "annotations", "paused") != nil {
		t.Errorf("%v", after["metadata"])
	}
}

// What the API server added to what the patch wrote is nobody's edit.
func TestUndoOfDefaults(t *testing.T) {
	b := newBench(t)
	containers := func(image string) []any { return []any{map[string]any{"name": "c", "image": image}} }
	deployment := b.create(deployments, map[string]any{"metadata": map[string]any{"name": "web", "namespace": b.namespace}, "spec": map[string]any{
		"replicas": 0, "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
		"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": map[string]any{"containers": containers("registry.example.com/a")}},
	}})
	before := b.get(deployment)
	record := b.transformed(deployments, `{"spec":{"template":{"spec":{"containers":[{"name":"other","image":"registry.example.com/b","resources":{"limits":{"cpu":"0.5"}}}]}}}}`)
	if limit := at(b.get(deployment)["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any), "resources", "limits", "cpu"); limit != "500m" {
		t.Fatalf("the API server kept %v as it was", limit)
	}
	plan := b.restore(record, restore.Options{})
	for range 50 { // its controller writes its status meanwhile, which is a conflict
		if !strings.Contains(plan.Items[0].Reason, "the object has been modified") {
			break
		}
		plan = b.restore(record, restore.Options{})
	}
	wantResults(t, plan, 1, restore.Restored)
	if diff := cmp.Diff(without("Deployment", before), without("Deployment", b.get(deployment))); diff != "" {
		t.Errorf("(-before +restored):\n%s", diff)
	}
	b.patch(deployment, `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"registry.example.com/c","imagePullPolicy":"Never"}]}}}}`)
	plan = b.restore(record, restore.Options{})
	if got := item(t, plan, "web"); got.Result != restore.ChangedSince || !strings.Contains(got.Reason, "spec.template.spec.containers") {
		t.Errorf("%s: %s", got.Result, got.Reason)
	}
}

// An object that somebody deleted or created again since is not what the run changed.
func TestUndoOfWhatIsGone(t *testing.T) {
	b := newBench(t)
	widget := b.widget()
	record := b.transformed(widgets, widgetPatch)
	must(t, b.raw.Delete().AbsPath(widget.Path()).Do(t.Context()).Error())
	wantItem(t, b.restore(record, restore.Options{Force: true}), "widget", restore.Left, "somebody deleted it after the run had changed it")
	b.widget()
	wantItem(t, b.restore(record, restore.Options{}), "widget", restore.ChangedSince, "another object with this name was created since; --force restores the fields in that object")
}
