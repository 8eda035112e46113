// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// TestIntentThatIsTooLarge ends the run before it touches anything, and says what to do.
func TestIntentThatIsTooLarge(t *testing.T) {
	t.Parallel()
	written := 0
	intent := newChain("run", streamIntent, &budget{left: 1 << 20}, func(_ context.Context, _ int32, data []byte) error {
		written += len(data)
		return nil
	})
	var victims []Victim
	for range 10 {
		victims = append(victims, Victim{Patch: object.JSON(`{"data":{"k":"` + strings.NewReplacer(`"`, "'", `\`, "/").Replace(noise(300<<10)) + `"}}`)})
	}
	l := &Ledger{copies: &copies{storage: "None"}}
	err := l.write(t.Context(), victims, intent)
	const want = "the list of what the run would do with the 10 objects is larger than 67108864 bytes, compressed: let the Cleaner select fewer objects, or change less of each object"
	if err == nil || err.Error() != want || written > 1<<20 {
		t.Errorf("got %v after %d bytes", err, written)
	}
}

// An operator that takes a run over knows what its victims free, without their bytes.
func TestIntentKeepsWhatIsFreed(t *testing.T) {
	victim := Victim{Candidate: stage.Candidate{VolumeBytes: 1 << 30}}
	intent := intentOf(victim)
	if got := intent.Victim(); got.VolumeBytes != victim.VolumeBytes {
		t.Errorf("%d bytes are kept, want %d", got.VolumeBytes, victim.VolumeBytes)
	}
}
