// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// hexNoise is text that cannot be compressed well.
func hexNoise(r *rand.ChaCha8, bytes int) string {
	data := make([]byte, bytes/2)
	_, _ = r.Read(data)
	return hex.EncodeToString(data)
}

// TestOthersTakeNoMoreThanTheyMay: what is too much is counted only, and what is stored can be read.
func TestOthersTakeNoMoreThanTheyMay(t *testing.T) {
	t.Parallel()
	random := rand.NewChaCha8([32]byte{})
	const found, least = 20_000, 10_000 // a usual message takes much less: 250,000 objects fit
	run := runAt(1)
	run.Name, run.UID = "nightly-1", "the-run"
	stored := secrets{data: map[string][]byte{}}
	size := 0
	chain := newChain(run.UID, streamObjects, &budget{left: maxOtherBytes}, func(_ context.Context, part int32, data []byte) error {
		if size += len(data); len(data) > maxPartBytes {
			t.Errorf("part %d has %d bytes", part, len(data))
		}
		stored.data[partName(run, "a", streamObjects, part)] = data
		return nil
	})
	more := func(yield func(stage.Outcome) bool) {
		for i := range found {
			o := stage.Outcome{Result: v1alpha1.OutcomeMatched}
			o.Kind = object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Resource: "configmaps", Namespaced: true}
			id := hexNoise(random, 32)
			o.UID = types.UID(strings.Join([]string{id[:8], id[8:12], id[12:16], id[16:20], id[20:]}, "-"))
			o.Namespace, o.Name, o.Message = fmt.Sprint("team-", i/100), fmt.Sprint("settings-", id[:10]), hexNoise(random, 1024)
			if !yield(o) {
				return
			}
		}
	}
	if err := addOthers(t.Context(), chain, listedIn(run), nil, more); err != nil {
		t.Fatal(err)
	}
	if err := chain.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if size > maxOtherBytes || chain.objects < least || chain.objects == found {
		t.Errorf("%d of %d objects are stored in %d bytes", chain.objects, found, size)
	}
	run.Status.OtherObjects = &v1alpha1.RunParts{Attempt: "a", Namespace: "kubecleaner", Objects: chain.objects, Parts: chain.parts, Head: chain.head}
	n := int64(0)
	if err := EachObject(t.Context(), NewParts(stored), run, func(v1alpha1.ObjectOutcome) { n++ }); err != nil || n != chain.objects {
		t.Errorf("%d of %d objects are read: %v", n, chain.objects, err)
	}
	t.Logf("%d objects in %d parts, %d bytes", chain.objects, chain.parts, size)
	run.Status.OtherObjects.Head = "another"
	if err := EachObject(t.Context(), NewParts(stored), run, func(v1alpha1.ObjectOutcome) {}); err == nil {
		t.Error("parts that are not what the run wrote were read")
	}
}
