// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// wordy is how many objects with long messages a Scan finds: a record has room for some two hundred of them, and the others take
// several parts.
const wordy = 1500

// wordyObjects creates some, and returns a change of a Cleaner that tells their messages.
func (b *bench) wordyObjects(n int) func(*v1alpha1.Cleaner) {
	b.t.Helper()
	b.configMaps(b.namespace, "old", n, func(cm *corev1.ConfigMap) {
		noise := make([]byte, 500)
		for i := range noise {
			noise[i] = byte(rand.N(256))
		}
		cm.Data["text"] = hex.EncodeToString(noise)
	})
	return evaluate(`function evaluate() return {matching = true, message = obj.data.text} end`)
}

// listedOf are how many objects are read of a run, each once.
func (b *bench) listedOf(run *v1alpha1.CleanerRun) int {
	b.t.Helper()
	names := map[string]bool{}
	must(b.t, journal.EachObject(b.t.Context(), journal.NewParts(b.user), run, func(o v1alpha1.ObjectOutcome) {
		if names[o.Name] || o.Outcome != v1alpha1.OutcomeMatched || len(o.Message) != 1000 || o.UID == "" {
			b.t.Errorf("%s is listed as %s, with a message of %d bytes, twice: %t", o.Name, o.Outcome, len(o.Message), names[o.Name])
		}
		names[o.Name] = true
	}))
	return len(names)
}

// TestScanStoresAllItsObjects for its latest run, and for the run that this one is compared with.
func TestScanStoresAllItsObjects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionScan, b.wordyObjects(wordy))
	var runs []*v1alpha1.CleanerRun
	for range 3 {
		run := b.stored(b.run(c))
		wantRun(t, run, v1alpha1.ReasonCompleted, "1500 of 1500 objects match")
		runs = append(runs, run)
		status := run.Status
		if status.OtherObjects == nil || status.OtherObjects.Parts < 3 || status.OtherObjects.Objects != wordy-int64(len(status.Objects)) || status.OtherObjects.Objects != status.ObjectsOmitted {
			t.Fatalf("%d are listed, %d omitted, and stored is %+v", len(status.Objects), status.ObjectsOmitted, status.OtherObjects)
		}
		parts := b.parts(run)
		if len(parts) != int(status.OtherObjects.Parts) {
			t.Errorf("there are %d Secrets, want %d", len(parts), status.OtherObjects.Parts)
		}
		for _, part := range parts {
			owner := metav1.GetControllerOf(&part)
			if owner == nil || owner.UID != run.UID || part.Type != v1alpha1.PartSecretType || !ptr.Deref(part.Immutable, false) {
				t.Errorf("Secret %s is of type %s and owned by %v", part.Name, part.Type, owner)
			}
			if size := len(rawGet(t, "/api/v1/namespaces/"+operatorNamespace+"/secrets/"+part.Name)); size > 512<<10 {
				t.Errorf("Secret %s has %d bytes", part.Name, size)
			}
		}
	}
	if left := len(b.parts(runs[0])); left != 0 {
		t.Errorf("%d Secrets of the first run are left", left)
	}
	for i, want := range []int{len(runs[0].Status.Objects), wordy, wordy} {
		if n := b.listedOf(runs[i]); n != want {
			t.Errorf("%d objects are read of run %d, want %d", n, i, want)
		}
	}
}

// TestDeleteThatTouchesNothingStoresItsObjects as a Scan does.
func TestDeleteThatTouchesNothingStoresItsObjects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionDelete, b.wordyObjects(400), func(c *v1alpha1.Cleaner) {
		c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To(int32(1))}
	})
	run := b.stored(b.run(c))
	wantRun(t, run, v1alpha1.ReasonLimitExceeded, "Nothing was touched")
	n := 0
	must(t, journal.EachObject(t.Context(), journal.NewParts(b.user), run, func(v1alpha1.ObjectOutcome) { n++ }))
	if n != 400 {
		t.Errorf("%d objects are read, want 400", n)
	}
}

// TestObjectsThatCannotBeStored do not fail the run, which says so. What was written of them is taken back.
func TestObjectsThatCannotBeStored(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionScan, b.wordyObjects(wordy))
	for name, refuse := range map[string]struct {
		method string
		after  int
	}{"no rights to list": {http.MethodGet, 0}, "no rights to write": {http.MethodPost, 0}, "the second part": {http.MethodPost, 1}} {
		n := 0
		b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
			if r.Method != refuse.method || r.URL.Path != "/api/v1/namespaces/"+operatorNamespace+"/secrets" {
				return nil, nil
			}
			if n++; n <= refuse.after {
				return nil, nil
			}
			return answer(r, http.StatusForbidden, []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"secrets is forbidden","code":403}`)), nil
		})
		run := b.stored(b.run(c))
		wantRun(t, run, v1alpha1.ReasonCompleted, fmt.Sprintf(" %d of the objects are counted, but not listed, because they could not be stored: ", run.Status.ObjectsOmitted))
		if !strings.HasSuffix(run.Status.Message, ": secrets is forbidden.") || run.Status.OtherObjects != nil || run.Status.ObjectsOmitted == 0 {
			t.Errorf("%s: %d omitted, %+v: %s", name, run.Status.ObjectsOmitted, run.Status.OtherObjects, run.Status.Message)
		}
		if parts := b.parts(run); len(parts) != 0 {
			t.Errorf("%s: %d Secrets are left", name, len(parts))
		}
		if n := b.listedOf(run); n != len(run.Status.Objects) {
			t.Errorf("%s: %d objects are read, want %d", name, n, len(run.Status.Objects))
		}
	}
}

// scanned is the record of a Scan that found two objects and has room for none of them. It is on no API server.
func scanned(cleaner string, at int) (*v1alpha1.CleanerRun, []stage.Outcome) {
	run := &v1alpha1.CleanerRun{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", cleaner, at), UID: types.UID(fmt.Sprintf("%s-uid-%d", cleaner, at))}}
	run.Status.ObjectsOmitted = 2
	outcome := stage.Outcome{Result: v1alpha1.OutcomeMatched}
	outcome.Kind = object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Resource: "configmaps", Namespaced: true}
	outcome.Name = "object"
	return run, []stage.Outcome{outcome}
}

// TestStoredObjectsOfAllCleanersAreBounded: the oldest make room, and none of a Cleaner does for a younger one of another.
func TestStoredObjectsOfAllCleanersAreBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	// Cleaners "a-0" to "a-499", each with one run of one part. The newest run may take 32 of the 512.
	b.together(500, func(i int) client.Object {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: b.namespace, Name: fmt.Sprintf("part-%d", i), Labels: map[string]string{v1alpha1.PartLabel: "objects"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.projectsveltos.io/v1alpha1", Kind: "CleanerRun", Name: fmt.Sprintf("a-%d-%d", i, 1700000000+i), UID: types.UID(fmt.Sprint("uid-", i)), Controller: ptr.To(true)}},
		}}
	})
	none := func(func(stage.Outcome) bool) {}
	book := journal.New(b.live, b.namespace, b.clock)
	run, outcomes := scanned("a-499", 1800000000)
	if words := book.KeepOthers(t.Context(), run, outcomes, none); words != "" || run.Status.OtherObjects == nil {
		t.Fatalf("%+v: %s", run.Status.OtherObjects, words)
	}
	var left corev1.SecretList
	must(t, b.user.List(t.Context(), &left, client.InNamespace(b.namespace)))
	names := map[string]bool{}
	for _, secret := range left.Items {
		names[secret.Name] = true
	}
	if len(names) != 480+1 || names["part-19"] || !names["part-20"] || !names["part-499"] {
		t.Errorf("%d are left", len(names))
	}
	// An attempt of the same run that was cut off leaves parts that no record names.
	first := run.Status.OtherObjects.Attempt
	if words := book.KeepOthers(t.Context(), run, outcomes, none); words != "" {
		t.Fatal(words)
	}
	err := b.user.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: run.Name + "-" + first + "-objects-0"}, &corev1.Secret{})
	if client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("what an attempt before left is still there: %v", err)
	}
}

// TestOverlaysLetTheOperatorStoreObjects: also one that may change nothing else.
func TestOverlaysLetTheOperatorStoreObjects(t *testing.T) {
	t.Parallel()
	for _, overlay := range []string{"default", "overlays/read-only", "overlays/scoped", "overlays/service-accounts"} {
		t.Run(overlay, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			config := rest.CopyConfig(env.Config)
			config.Impersonate = rest.ImpersonationConfig{UserName: b.operatorUnder(overlay)}
			operator, err := client.New(config, client.Options{Scheme: b.user.Scheme()})
			must(t, err)
			book := journal.New(operator, operatorNamespace, b.clock)
			for i := range 3 { // the third deletes what the first stored
				run, outcomes := scanned(b.namespace, 1700000000+i)
				if words := book.KeepOthers(t.Context(), run, outcomes, func(func(stage.Outcome) bool) {}); words != "" {
					t.Error(words)
				}
			}
		})
	}
}
