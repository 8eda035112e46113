// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

func rollback(r v1alpha1.Rollback) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) { c.Spec.Rollback = &r }
}

// parts are the Secrets that a run wrote, sorted by name.
func (b *bench) parts(run *v1alpha1.CleanerRun) []corev1.Secret {
	b.t.Helper()
	var list corev1.SecretList
	must(b.t, b.user.List(b.t.Context(), &list, client.InNamespace(operatorNamespace), client.MatchingLabels{v1alpha1.RunLabel: string(run.UID)}))
	return list.Items
}

// copies are the copies of a run, by the object's name.
func (b *bench) copies(run *v1alpha1.CleanerRun) map[string]journal.Copy {
	b.t.Helper()
	found := map[string]journal.Copy{}
	must(b.t, journal.ReadCopies(b.t.Context(), journal.NewParts(b.user), run, func(c journal.Copy) error {
		found[c.Name] = c
		return nil
	}))
	return found
}

// TestIntentAndCopiesComeBeforeTheFirstDelete, and hold for each victim all that is needed to bring it back.
func TestIntentAndCopiesComeBeforeTheFirstDelete(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const n = 3
	b.configMaps(b.namespace, "old", n, func(cm *corev1.ConfigMap) { cm.Data["text"] = "<&> " + cm.Data["n"] })
	before := map[string]*corev1.ConfigMap{}
	for _, name := range b.names(b.namespace) {
		before[name] = b.object(name)
	}
	c := b.cleaner(v1alpha1.ActionDelete)
	checked := false
	b.beforeFirst(http.MethodDelete, "", func() {
		checked = true
		var runs v1alpha1.CleanerRunList
		must(t, b.user.List(t.Context(), &runs, client.MatchingLabels{v1alpha1.CleanerLabel: string(c.UID)}))
		run := &runs.Items[0]
		if run.Status.Phase != v1alpha1.RunExecuting || run.Status.Matched != n || run.Status.Copies.Objects != n || run.Status.Intent.Objects != n {
			t.Errorf("before the first delete the record says %+v", run.Status)
		}
		if got := b.copies(run); len(got) != n {
			t.Errorf("before the first delete there are %d copies", len(got))
		}
	})
	run := b.run(c)
	wantRun(t, run, v1alpha1.ReasonCompleted, "3 deleted")
	if !checked {
		t.Fatal("nothing was deleted")
	}
	stored := b.stored(run)
	intents, err := journal.ReadIntent(t.Context(), journal.NewParts(b.user), stored)
	must(t, err)
	known, err := journal.ReadOutcomes(t.Context(), journal.NewParts(b.user), stored)
	must(t, err)
	copies := b.copies(stored)
	for i, intent := range intents {
		was := before[intent.Name]
		want := journal.Intent{
			Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespace: b.namespace, Name: was.Name,
			UID: was.UID, ResourceVersion: was.ResourceVersion,
		}
		if diff := cmp.Diff(want, intent); diff != "" || known[i].Outcome != v1alpha1.OutcomeDeleted {
			t.Errorf("intent (-want +got):\n%s\noutcome %v", diff, known[i])
		}
		var copied corev1.ConfigMap
		must(t, json.Unmarshal(copies[was.Name].Object, &copied))
		was.ManagedFields, was.TypeMeta = nil, metav1.TypeMeta{}
		if diff := cmp.Diff(was, &copied); diff != "" {
			t.Errorf("the copy (-want +got):\n%s", diff)
		}
	}
	for _, part := range b.parts(run) {
		owner := metav1.GetControllerOf(&part)
		if owner == nil || owner.UID != run.UID || part.Type != v1alpha1.PartSecretType {
			t.Errorf("Secret %s is of type %s and owned by %v", part.Name, part.Type, owner)
		}
	}
	if len(stored.OwnerReferences) != 0 {
		t.Error("a run that holds copies would go away with its Cleaner")
	}
}

// TestPartsOfALargeRunFit: no object that a run writes is larger than 512 KiB, also when what it copies cannot be compressed, and
// the copies are exact.
func TestPartsOfALargeRunFit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	texts := map[string]string{}
	for i := range 3 {
		noise := make([]byte, 250<<10)
		_, _ = rand.Read(noise)
		name := fmt.Sprintf("large-%d", i)
		texts[name] = hex.EncodeToString(noise)
		b.configMap(name, func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"text": texts[name]} })
	}
	b.configMaps(b.namespace, "old", 1200)
	c := b.cleaner(v1alpha1.ActionDelete, evaluate(`function evaluate() return {matching = true, message = string.rep("m", 900) .. obj.metadata.name} end`))
	run := b.run(c)
	wantRun(t, run, v1alpha1.ReasonCompleted, "1203 deleted")
	parts := b.parts(run)
	streams := map[string]int{}
	for _, part := range parts {
		streams[part.Labels[v1alpha1.PartLabel]]++
		if size := len(rawGet(t, "/api/v1/namespaces/"+operatorNamespace+"/secrets/"+part.Name)); size > 512<<10 {
			t.Errorf("Secret %s has %d bytes", part.Name, size)
		}
	}
	if streams["copies"] < 3 || streams["intent"] < 1 || streams["outcomes"] != 3 {
		t.Errorf("there are %v", streams)
	}
	if size := len(rawGet(t, "/apis/apps.projectsveltos.io/v1alpha1/cleanerruns/"+run.Name)); size > 512<<10 {
		t.Errorf("the record has %d bytes", size)
	}
	copies := b.copies(b.stored(run))
	for name, text := range texts {
		var cm corev1.ConfigMap
		must(t, json.Unmarshal(copies[name].Object, &cm))
		if cm.Data["text"] != text {
			t.Errorf("the copy of %s differs", name)
		}
	}
	if len(copies) != 1203 {
		t.Errorf("there are %d copies", len(copies))
	}
}

// TestCopiesThatAreTooLargeStopTheRun before it touches anything, and leave nothing behind.
func TestCopiesThatAreTooLargeStopTheRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", 2)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, rollback(v1alpha1.Rollback{MaxBytes: ptr.To(int64(100))})))
	wantRun(t, run, v1alpha1.ReasonFailed, "Nothing was touched: ",
		"the copies of the 2 objects take more than 100 bytes, compressed: raise rollback.maxBytes (it cannot be more than the operator's --max-copies-bytes), let the Cleaner select fewer objects, or set rollback.storage to None if you do not need to restore them")
	b.wantNames("old-0", "old-1")
	if parts := b.parts(run); len(parts) != 0 || b.stored(run).Status.Intent != nil {
		t.Fatalf("the run left %d Secrets behind, and says %+v", len(parts), b.stored(run).Status.Intent)
	}
}

// TestNoCopies: of what a controller creates again, and when the user wants none. Nobody creates a Pod without an owner again.
func TestNoCopies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.configMap("old")
	b.pod("user", "old", func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "user", UID: "1", Controller: ptr.To(true)}}
	})
	b.pod("bare", "old")
	run := b.run(b.cleaner(v1alpha1.ActionDelete, b.configMapsAndPods()))
	wantRun(t, run, v1alpha1.ReasonCompleted, "3 deleted")
	if got := b.copies(b.stored(run)); len(got) != 2 || got["old"].Kind != "ConfigMap" || got["bare"].Kind != "Pod" {
		t.Fatalf("there are copies of %v", got)
	}
	b.configMap("other")
	run = b.run(b.cleaner(v1alpha1.ActionDelete, rollback(v1alpha1.Rollback{Storage: v1alpha1.StorageNone})))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 deleted")
	if stored := b.stored(run); stored.Status.Copies != nil || stored.Status.Intent == nil {
		t.Fatalf("the status is %+v", stored.Status)
	}
}

// TestCopyOfWhatChanged: an object that changed since it was judged is copied again before it is deleted.
func TestCopyOfWhatChanged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	b.beforeFirst(http.MethodDelete, "/configmaps/old", func() {
		cm := b.object("old")
		cm.Data = map[string]string{"new": "value"}
		must(t, b.user.Update(t.Context(), cm))
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 deleted")
	stored := b.stored(run)
	if got := b.copies(stored)["old"]; !strings.Contains(string(got.Object), `"new":"value"`) || stored.Status.Copies.Objects != 1 {
		t.Fatalf("the last copy is %s, of %+v", got.Object, stored.Status.Copies)
	}
}

// TestCopiesOfWhatChangedAreWrittenTogether: while one is written, the others that changed wait, and the record is written once for all of them.
func TestCopiesOfWhatChangedAreWrittenTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const many = 12 // fewer than are dealt with at once
	b.configMaps(b.namespace, "busy", many)
	at := newBarrier(t)
	var mu sync.Mutex
	changed := map[string]bool{}
	first := sync.OnceFunc(at.pass)
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		_, name, isVictim := strings.Cut(r.URL.Path, "/configmaps/")
		mu.Lock()
		change := isVictim && r.Method == http.MethodDelete && !changed[name]
		if change {
			changed[name] = true
		}
		last, begun := change && len(changed) == many, len(changed) > 0
		mu.Unlock()
		if change {
			edit(b, b.named(name), func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"new": "value"} })
		}
		if last {
			defer at.open()
		}
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/secrets") && begun {
			first() // the first copy waits until all have changed
		}
		return nil, nil
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, run, v1alpha1.ReasonCompleted, fmt.Sprintf("%d deleted", many))
	stored := b.stored(run)
	for name, c := range b.copies(stored) {
		if !strings.Contains(string(c.Object), `"new":"value"`) {
			t.Errorf("the last copy of %s is %s", name, c.Object)
		}
	}
	// Besides: it begins to act, and it ends.
	if n := b.requests.count(http.MethodPut, "/"+run.Name+"/status"); n > 2+many/2 {
		t.Errorf("the record was written %d times for %d objects that changed", n-2, many)
	}
}

// TestRecordIsSmallWhileTheRunActs: it is written anew every few seconds then.
func TestRecordIsSmallWhileTheRunActs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const many = 600
	b.configMaps(b.namespace, strings.Repeat("long-", 30), many)
	var listed, omitted, size int
	b.beforeFirst(http.MethodDelete, "", func() {
		var runs v1alpha1.CleanerRunList
		must(t, b.user.List(t.Context(), &runs))
		for i := range runs.Items {
			if status := &runs.Items[i].Status; status.Phase == v1alpha1.RunExecuting && status.Matched == many {
				text, err := json.Marshal(status)
				must(t, err)
				listed, omitted, size = len(status.Objects), int(status.ObjectsOmitted), len(text)
			}
		}
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, run, v1alpha1.ReasonCompleted, fmt.Sprintf("%d deleted", many))
	if listed != 0 || omitted != many || size > 2<<10 {
		t.Errorf("while the run acted, its record listed %d objects, omitted %d, and took %d bytes", listed, omitted, size)
	}
	if stored := b.stored(run); len(stored.Status.Objects) < many/2 {
		t.Errorf("at its end, the record lists %d objects", len(stored.Status.Objects))
	}
}

// TestAFlippedBitIsDetected in any byte of what a run wrote down.
func TestAFlippedBitIsDetected(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	run := b.stored(b.run(b.cleaner(v1alpha1.ActionDelete)))
	parts := b.parts(run)
	if len(parts) != 1 || parts[0].Name != run.Name+"-"+run.Status.Intent.Attempt+"-bundle-0" || len(parts[0].Data["outcomes.gz"]) == 0 {
		t.Fatalf("a small run wrote %d Secrets", len(parts))
	}
	part := parts[0]
	for _, stream := range []string{"intent", "copies"} {
		for i := range part.Data[stream+".gz"] {
			handed := 0
			reader := journal.NewParts(flipping{Client: b.user, key: stream + ".gz", at: i})
			_, intentErr := journal.ReadIntent(t.Context(), reader, run)
			copiesErr := journal.ReadCopies(t.Context(), reader, run, func(journal.Copy) error { handed++; return nil })
			err := map[string]error{"intent": intentErr, "copies": copiesErr}[stream]
			if err == nil || !strings.Contains(err.Error(), "are not what the run wrote") || (stream == "copies" && handed > 0) {
				t.Fatalf("byte %d of %s: %v, and %d copies were handed out", i, stream, err, handed)
			}
		}
	}
}

// flipping flips a bit of one Secret.
type flipping struct {
	client.Client
	key string
	at  int
}

func (f flipping) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := f.Client.Get(ctx, key, o, opts...)
	if secret, ok := o.(*corev1.Secret); ok {
		data := slices.Clone(secret.Data[f.key])
		data[f.at] ^= 1
		secret.Data[f.key] = data
	}
	return err
}

// What is saved already is not written again: the API server answers that with the version there was, which proves nothing.
func TestOutcomesAreWrittenOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", 150)
	run := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, run, v1alpha1.ReasonCompleted, "150 of 150 objects matched; 150 deleted.")
	// The first 100 outcomes take one write; the rest takes one, and one more if it came while that was on its way.
	if n := b.requests.count(http.MethodPut, "-bundle-0"); n < 2 || n > 3 {
		t.Errorf("the outcomes were replaced %d times", n)
	}
	if n := len(b.parts(run)); n == 0 {
		t.Error("there are no parts")
	}
}
