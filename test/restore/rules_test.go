// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/journal/restore"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

var (
	justConfigMaps = []schema.GroupVersionKind{configMaps.GroupVersionKind}
	gadgets        = object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "restore.kubecleaner.dev", Version: "v1", Kind: "Gadget"}, Resource: "gadgets"}
	namespaces     = object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, Resource: "namespaces"}
)

// deleted lets a Cleaner delete the labelled objects of the kinds.
func (b *bench) deleted(kinds []schema.GroupVersionKind, objects ...object.Object) *v1alpha1.CleanerRun {
	b.t.Helper()
	record := b.run(b.cleaner(v1alpha1.ActionDelete, kinds))
	wantActed(b.t, record, int64(len(objects)))
	return record
}

// patch changes an object as somebody else would.
func (b *bench) patch(o object.Object, patch string) {
	b.t.Helper()
	must(b.t, b.raw.Patch(types.MergePatchType).AbsPath(o.Path()).Body([]byte(patch)).Do(context.WithoutCancel(b.t.Context())).Error())
}

// item is the plan's item of the name.
func item(t *testing.T, plan *restore.Plan, name string) *restore.Item {
	t.Helper()
	i := slices.IndexFunc(plan.Items, func(i *restore.Item) bool { return i.Name == name })
	if i < 0 {
		t.Fatalf("there is no item %s", name)
	}
	return plan.Items[i]
}

// wantItem fails the test unless the item has the result, and a reason and notes that are these.
func wantItem(t *testing.T, plan *restore.Plan, name string, result restore.Result, reason string, notes ...string) {
	t.Helper()
	got := item(t, plan, name)
	if got.Result != result || got.Reason != reason {
		t.Errorf("%s is %s: %q\nwant %s: %q", name, got.Result, got.Reason, result, reason)
	}
	if diff := cmp.Diff(notes, got.Notes); diff != "" {
		t.Errorf("notes of %s (-want +got):\n%s", name, diff)
	}
}

func ownedBy(owners ...object.Object) func(map[string]any) {
	return func(metadata map[string]any) {
		references := make([]any, 0, len(owners))
		for _, o := range owners {
			references = append(references, map[string]any{"apiVersion": "v1", "kind": o.Kind.Kind, "name": o.Name, "uid": string(o.UID)})
		}
		metadata["ownerReferences"] = references
	}
}

// Rule 3: an owner that is there as it was stays; one that is gone, or was created again, would have the garbage collector delete
// what was restored.
func TestOwners(t *testing.T) {
	b := newBench(t)
	bare := func(name string) object.Object {
		o := b.configMap(name, nil)
		b.patch(o, `{"metadata":{"labels":null}}`)
		return o
	}
	stays, again, gone := bare("stays"), bare("again"), bare("gone")
	victims := []object.Object{
		b.configMap("of-stays", nil, ownedBy(stays)), b.configMap("of-again", nil, ownedBy(again)),
		b.configMap("of-gone", nil, ownedBy(gone)), b.configMap("of-both", nil, ownedBy(stays, gone)),
	}
	record := b.deleted(justConfigMaps, victims...)
	b.gone(victims...)
	for _, o := range []object.Object{again, gone} {
		must(t, b.raw.Delete().AbsPath(o.Path()).Do(t.Context()).Error())
	}
	bare("again")

	plan := b.restore(record, restore.Options{})
	dropped := "the reference to its owner ConfigMap gone was dropped: it is gone"
	wantItem(t, plan, "of-stays", restore.Restored, "")
	wantItem(t, plan, "of-again", restore.Restored, "", "the reference to its owner ConfigMap again was dropped: it was created again, and is another one")
	wantItem(t, plan, "of-gone", restore.Restored, "", dropped)
	wantItem(t, plan, "of-both", restore.Restored, "", dropped)
	wantResults(t, b.restore(record, restore.Options{}), len(victims), restore.Already)

	// What the garbage collector deletes of the same owner shows that it has seen the others.
	canary := b.configMap("canary", nil, ownedBy(gone))
	b.gone(canary)
	want := map[string]any{"of-stays": 1, "of-again": 0, "of-gone": 0, "of-both": 1}
	for _, o := range victims {
		live := b.get(o)
		if live == nil {
			t.Fatalf("%s was collected", o)
		}
		if owners, _ := at(live, "metadata", "ownerReferences").([]any); len(owners) != want[o.Name] {
			t.Errorf("%s has owners %v", o, owners)
		}
	}
}

// Rule 6: a Namespace that is still ending is waited for, and what was deleted in it comes after it.
func TestNamespaceWithContent(t *testing.T) {
	b := newBench(t)
	shop := b.create(namespaces, map[string]any{"metadata": map[string]any{"name": b.namespace + "-shop"}})
	settings := b.create(configMaps, map[string]any{"metadata": map[string]any{"name": "settings", "namespace": shop.Name}, "data": map[string]any{"a": "1"}})
	record := b.run(b.cleaner(v1alpha1.ActionDelete, []schema.GroupVersionKind{namespaces.GroupVersionKind, configMaps.GroupVersionKind}))
	if record.Status.Phase != v1alpha1.RunCompleted || record.Status.Matched != 2 {
		t.Fatalf("%+v", record.Status)
	}
	r := b.restorer()
	plan, err := r.Plan(t.Context(), record, restore.Options{})
	must(t, err)
	wantResults(t, plan, 2, restore.Planned)
	var waited []string
	r.Carry(t.Context(), plan, restore.Progress{Waiting: func(what string) { waited = append(waited, what) }, Done: func(*restore.Item) {}})
	wantResults(t, plan, 2, restore.Restored)
	if len(waited) > 1 || len(waited) == 1 && waited[0] != "the deletion of Namespace "+shop.Name {
		t.Errorf("it waited for %q", waited)
	}
	if live := b.get(settings); at(live, "data", "a") != "1" {
		t.Errorf("restored %v", live)
	}
	// Without the Namespace, what was in it has no place.
	must(t, b.raw.Delete().AbsPath(shop.Path()).Do(t.Context()).Error())
	b.gone(object.Object{Kind: shop.Kind, Name: shop.Name, UID: types.UID(at(b.get(shop), "metadata", "uid").(string))})
	plan = b.restore(record, restore.Options{Only: func(o object.Object) bool { return o.Name == "settings" }})
	wantItem(t, plan, "settings", restore.Failed, "namespace "+shop.Name+" does not exist, or is being deleted: create it, after the deletion has finished")
}

// Rule 7: what is there and differs is not overwritten without force; with it, it is still that very object.
func TestExists(t *testing.T) {
	b := newBench(t)
	victim := b.configMap("settings", map[string]any{"a": "1"})
	record := b.deleted(justConfigMaps, victim)
	other := b.configMap("settings", map[string]any{"a": "2", "b": "3"}, func(m map[string]any) {
		m["finalizers"] = []any{"example.com/hold"}
	})
	t.Cleanup(func() { b.patch(other, `{"metadata":{"finalizers":null}}`) })
	plan := b.restore(record, restore.Options{})
	wantItem(t, plan, "settings", restore.Exists, "an object with this name exists, with other content; --force overwrites it with the copy")
	if live := b.get(victim); at(live, "data", "a") != "2" || at(live, "metadata", "resourceVersion") != other.ResourceVersion {
		t.Fatalf("it was touched: %v", live)
	}
	// Somebody edits it between the plan and its carrying out: it is judged again.
	r := b.restorer()
	plan, err := r.Plan(t.Context(), record, restore.Options{Force: true})
	must(t, err)
	b.patch(other, `{"data":{"c":"4"}}`)
	r.Carry(t.Context(), plan, restore.Progress{Waiting: func(string) {}, Done: func(*restore.Item) {}})
	wantResults(t, plan, 1, restore.Restored)
	live := b.get(victim)
	if diff := cmp.Diff(map[string]any{"a": "1"}, live["data"]); diff != "" {
		t.Error(diff)
	}
	if at(live, "metadata", "uid") != string(other.UID) || len(at(live, "metadata", "finalizers").([]any)) != 1 {
		t.Errorf("it is another one, or was let go: %v", live["metadata"])
	}
	wantResults(t, b.restore(record, restore.Options{}), 1, restore.Already)
}

// Rules 2 and 4: status and finalizers come back on request only.
func TestStatusAndFinalizersOnRequest(t *testing.T) {
	for _, asked := range []bool{false, true} {
		t.Run(fmt.Sprint(asked), func(t *testing.T) {
			b := newBench(t)
			gadget := b.create(gadgets, map[string]any{"apiVersion": "restore.kubecleaner.dev/v1", "kind": "Gadget", "metadata": map[string]any{"name": b.namespace, "finalizers": []any{"example.com/hold"}}, "spec": map[string]any{"size": 1}})
			t.Cleanup(func() { b.patch(gadget, `{"metadata":{"finalizers":null}}`) })
			must(t, b.raw.Patch(types.MergePatchType).AbsPath(gadget.Path(), "status").Body([]byte(`{"status":{"ready":true,"n":9007199254740993}}`)).Do(t.Context()).Error())
			record := b.deleted([]schema.GroupVersionKind{gadgets.GroupVersionKind}, gadget)

			plan := b.restore(record, restore.Options{})
			wantItem(t, plan, gadget.Name, restore.Failed, "it is still being deleted, held by the finalizers example.com/hold; try again when it is gone")
			b.patch(gadget, `{"metadata":{"finalizers":null}}`)
			b.gone(gadget)

			plan = b.restore(record, restore.Options{Status: asked, KeepFinalizers: asked})
			live := b.get(gadget)
			if asked {
				wantItem(t, plan, gadget.Name, restore.Restored, "")
				if fmt.Sprintf("%v %v %v", at(live, "status", "ready"), at(live, "status", "n"), at(live, "metadata", "finalizers")) != "true 9007199254740993 [example.com/hold]" {
					t.Errorf("restored %v", live)
				}
				return
			}
			wantItem(t, plan, gadget.Name, restore.Restored, "", "its finalizers were dropped: example.com/hold")
			if live["status"] != nil || at(live, "metadata", "finalizers") != nil {
				t.Errorf("restored %v", live)
			}
		})
	}
}

// What the run did not touch is not restored, and tokens are not.
func TestNotTouched(t *testing.T) {
	b := newBench(t)
	secrets := object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Resource: "secrets", Namespaced: true}
	// Not the account default: until it is there, the controller of tokens deletes this one.
	must(t, b.user.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "robot"}}))
	token := b.create(secrets, map[string]any{"type": "kubernetes.io/service-account-token", "metadata": map[string]any{
		"name": "token", "namespace": b.namespace, "annotations": map[string]any{"kubernetes.io/service-account.name": "robot"},
	}})
	victim := b.configMap("victim", nil)
	b.configMap("protected", nil, func(m map[string]any) { m["annotations"] = map[string]any{v1alpha1.ProtectAnnotation: "true"} })
	record := b.deleted([]schema.GroupVersionKind{secrets.GroupVersionKind, configMaps.GroupVersionKind}, token, victim)
	plan := b.restore(record, restore.Options{})
	if len(plan.Items) != 2 {
		t.Errorf("there are %d items, want 2", len(plan.Items))
	}
	wantItem(t, plan, "victim", restore.Restored, "")
	wantItem(t, plan, "token", restore.Left, "it is a token, which the cluster would not accept any more; make a new one")
}

// recorded makes the record of a run that has written its intent, and did nothing yet.
func (b *bench) recorded(victims ...journal.Victim) (*v1alpha1.CleanerRun, *journal.Ledger) {
	b.t.Helper()
	cleaner := b.cleaner(v1alpha1.ActionDelete, justConfigMaps)
	record, err := b.journal.Begin(b.t.Context(), cleaner, v1alpha1.CleanerRunSpec{
		Cleaner: cleaner.Name, CleanerUID: cleaner.UID, NominalTime: metav1.NewTime(b.clock.Now()), Trigger: v1alpha1.TriggerManual, Action: v1alpha1.ActionDelete,
	})
	must(b.t, err)
	ledger, err := b.journal.Intend(b.t.Context(), cleaner, record, int64(len(victims)), nil, victims)
	must(b.t, err)
	return record, ledger
}

// A run that was cut off: what is gone is brought back, what is still there was not deleted. Of several copies the last counts.
func TestRunThatWasCutOff(t *testing.T) {
	b := newBench(t)
	kept, changed := b.configMap("kept", nil), b.configMap("changed", map[string]any{"a": "1"})
	victim := func(o object.Object) journal.Victim { return journal.Victim{Candidate: stage.Candidate{Object: o}} }
	record, ledger := b.recorded(victim(kept), victim(changed))
	b.patch(changed, `{"data":{"a":"2"}}`)
	body, err := b.raw.Get().AbsPath(changed.Path()).Do(t.Context()).Raw()
	must(t, err)
	later, err := object.New(configMaps, body)
	must(t, err)
	must(t, ledger.CopyAgain(t.Context(), victim(later)))
	must(t, b.raw.Delete().AbsPath(changed.Path()).Do(t.Context()).Error())

	_, err = b.restorer().Plan(t.Context(), record, restore.Options{})
	if want := "run " + record.Name + " is still going on; wait for its end, or use --force if its operator is gone for good"; err == nil || err.Error() != want {
		t.Fatalf("got %v, want %s", err, want)
	}
	plan := b.restore(record, restore.Options{Force: true})
	wantItem(t, plan, "kept", restore.Left, "it is still there: the run did not delete it")
	wantItem(t, plan, "changed", restore.Restored, "")
	if live := b.get(changed); at(live, "data", "a") != "2" {
		t.Errorf("restored %v", live)
	}
}

// Rule 6: objects of a kind whose definition comes back in the same restore wait for it.
func TestDefinitionComesFirst(t *testing.T) {
	b := newBench(t)
	definitions := object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, Resource: "customresourcedefinitions"}
	group := b.namespace + ".example.com"
	definition := b.create(definitions, map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": definitions.Kind, "metadata": map[string]any{"name": "things." + group}, "spec": map[string]any{
		"group": group, "scope": "Namespaced", "names": map[string]any{"kind": "Thing", "plural": "things"},
		"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
	}})
	things := object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Thing"}, Resource: "things", Namespaced: true}
	b.served(things)
	thing := b.create(things, map[string]any{"apiVersion": group + "/v1", "kind": "Thing", "metadata": map[string]any{"name": "one", "namespace": b.namespace}, "spec": map[string]any{"a": "1"}})
	record, _ := b.recorded(journal.Victim{Candidate: stage.Candidate{Object: thing}}, journal.Victim{Candidate: stage.Candidate{Object: definition}})
	must(t, b.raw.Delete().AbsPath(definition.Path()).Do(t.Context()).Error())
	b.gone(definition)

	plan := b.restore(record, restore.Options{Force: true, Only: func(o object.Object) bool { return o.Kind.Kind == "Thing" }})
	wantItem(t, plan, "one", restore.Failed, "the cluster does not serve Thing of "+group+"/v1 any more")
	wantResults(t, b.restore(record, restore.Options{Force: true}), 2, restore.Restored)
	if live := b.get(thing); at(live, "spec", "a") != "1" {
		t.Errorf("restored %v", live)
	}
}

// Runs that leave nothing to bring back say why.
func TestNothingToRestore(t *testing.T) {
	b := newBench(t)
	victim := b.configMap("victim", nil)
	scan := b.run(b.cleaner(v1alpha1.ActionScan, justConfigMaps))
	none := b.run(b.cleaner(v1alpha1.ActionDelete, justConfigMaps, func(c *v1alpha1.Cleaner) { c.Spec.Rollback = &v1alpha1.Rollback{Storage: v1alpha1.StorageNone} }))
	wantActed(t, none, 1)
	b.gone(victim)
	empty := b.run(b.cleaner(v1alpha1.ActionDelete, justConfigMaps))
	b.configMap("victim", nil)
	dropped := b.deleted(justConfigMaps, victim)
	dropped.Status.Copies.Dropped = "they expired at noon"
	for record, want := range map[*v1alpha1.CleanerRun]string{
		scan:    "only reported (Scan): it touched nothing that could be restored",
		none:    "kept no copies: its Cleaner had set rollback.storage to None, or all it touched were objects without state, such as Events, finished Jobs and Pods that a controller manages",
		empty:   "touched nothing that could be restored",
		dropped: "they expired at noon",
	} {
		if _, err := b.restorer().Plan(t.Context(), record, restore.Options{}); err == nil || !strings.Contains(err.Error(), record.Name) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
