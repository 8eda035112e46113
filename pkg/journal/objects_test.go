// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// secrets are Secrets by name. What the API server does with them does not matter here.
type secrets struct {
	client.Reader

	data map[string][]byte
}

func (s secrets) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	data, ok := s.data[key.Name]
	if !ok {
		return apierrors.NewNotFound(corev1.Resource("secrets"), key.Name)
	}
	secret := into.(*corev1.Secret)
	secret.Name, secret.UID, secret.Data = key.Name, "some", map[string][]byte{partKey: data}
	return nil
}

// largeRun is a run that deleted n ConfigMaps, of which its record lists the first.
func largeRun(t *testing.T, n int) (*v1alpha1.CleanerRun, *Parts) {
	t.Helper()
	run := runAt(1)
	run.Name, run.UID = "nightly-1", "the-run"
	run.Status.Intent = &v1alpha1.RunIntent{Namespace: "kubecleaner", Objects: int64(n)}
	stored := secrets{data: map[string][]byte{}}
	intents := newChain(run.UID, streamIntent, nil, func(_ context.Context, part int32, data []byte) error {
		stored.data[partName(run, "", streamIntent, part)] = data
		return nil
	})
	parts := newOutcomeParts(n)
	for i := range n {
		intent := Intent{
			Version: "v1", Kind: "ConfigMap", Namespace: "shop", Name: fmt.Sprint("victim-", i), UID: types.UID(fmt.Sprint("uid-", i)),
			Message: fmt.Sprintf("nothing uses the ConfigMap victim-%d: 24 sources were read to their end", i),
		}
		if err := intents.add(t.Context(), intent); err != nil {
			t.Fatal(err)
		}
		parts[i/outcomesPerPart].outcomes[i] = SavedOutcome{Index: i, Outcome: v1alpha1.OutcomeDeleted}
	}
	if err := intents.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	run.Status.Intent.Parts, run.Status.Intent.Head = intents.parts, intents.head
	for part := range parts {
		data, err := encodeOutcomes(parts[part].outcomes)
		if err != nil {
			t.Fatal(err)
		}
		stored.data[partName(run, "", streamOutcomes, int32(part))] = data
	}
	run.Status.Objects = []v1alpha1.ObjectOutcome{{APIVersion: "v1", Kind: "ConfigMap", UID: "uid-0", Name: "victim-0"}}
	return run, NewParts(stored)
}

// TestEachObjectMissesOutcomes: of an ended run, what has no outcome any more is not what was only planned.
func TestEachObjectMissesOutcomes(t *testing.T) {
	run, parts := largeRun(t, 6000)
	run.Status.Phase = v1alpha1.RunCompleted
	run.Status.Tallies = []v1alpha1.ObjectTally{{APIVersion: "v1", Kind: "ConfigMap", Outcome: v1alpha1.OutcomeDeleted, Count: 5999}}
	read := func() error { return EachObject(t.Context(), parts, run, func(v1alpha1.ObjectOutcome) {}) }
	if err := read(); err != nil {
		t.Fatal(err)
	}
	delete(parts.client.(secrets).data, partName(run, "", streamOutcomes, 1))
	if err := read(); !errors.Is(err, ErrNoPart) {
		t.Errorf("got %v, want that a part is missing", err)
	}
	run.Status.Phase = v1alpha1.RunExecuting // it is not written yet
	if err := read(); err != nil {
		t.Error(err)
	}
}

// TestEachObjectKeepsNone: whoever shows a page of 100,000 objects needs no memory for the others.
func TestEachObjectKeepsNone(t *testing.T) {
	const objects, mostPerObject = 100_000, 250 // an ObjectOutcome alone takes more, without its texts
	run, parts := largeRun(t, objects)
	heap := func() int64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before, grown, n := heap(), int64(0), 0
	err := EachObject(t.Context(), parts, run, func(o v1alpha1.ObjectOutcome) {
		if want := fmt.Sprint("victim-", n); o.Name != want || n > 0 && o.Outcome != v1alpha1.OutcomeDeleted {
			t.Fatalf("object %d is %+v, want %s", n, o, want)
		}
		if n++; n == objects {
			grown = heap() - before
		}
	})
	if err != nil || n != objects {
		t.Fatalf("%d of %d objects: %v", n, objects, err)
	}
	if grown > objects*mostPerObject {
		t.Errorf("%d bytes are kept of each object, want at most %d", grown/objects, mostPerObject)
	}
	t.Logf("%d bytes are kept of each object", grown/objects)
}
