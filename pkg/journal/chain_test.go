// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type entry struct {
	N    int
	Text string
}

// written is a chain in memory.
type written struct {
	parts [][]byte
	chain *chain
}

func write(t testing.TB, entries []entry) *written {
	t.Helper()
	w := &written{}
	w.chain = newChain("run", "copies", nil, func(_ context.Context, n int32, data []byte) error {
		if int(n) != len(w.parts) {
			t.Errorf("part %d came after %d parts", n, len(w.parts))
		}
		w.parts = append(w.parts, data)
		return nil
	})
	for _, e := range entries {
		if err := w.chain.add(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.chain.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *written) read(parts [][]byte, stream, head string) ([]entry, error) {
	var entries []entry
	get := func(_ context.Context, n int32) ([]byte, error) {
		if int(n) >= len(parts) {
			return nil, errors.New("there is no such part")
		}
		return parts[n], nil
	}
	err := readChain(context.Background(), "run", stream, int32(len(parts)), head, get, func(d *json.Decoder) error {
		var e entry
		if err := d.Decode(&e); err != nil {
			return err
		}
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

// noise cannot be compressed.
func noise(n int) string {
	source := rand.New(rand.NewPCG(1, uint64(n)))
	text := make([]byte, n)
	for i := range text {
		text[i] = byte(' ' + source.IntN(95))
	}
	return string(text)
}

func TestChainIsReadAsItWasWritten(t *testing.T) {
	for name, c := range map[string]struct {
		entries []entry
		parts   int
	}{
		"nothing":                   {nil, 0},
		"one":                       {[]entry{{1, "<&>\u2028"}}, 1},
		"many small ones":           {slices.Repeat([]entry{{1, "text"}}, 100_000), 1},
		"one that fills many parts": {[]entry{{1, noise(3 << 20)}, {2, "last"}}, 0},
		"many of several parts":     {slices.Repeat([]entry{{1, noise(100 << 10)}}, 40), 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := write(t, c.entries)
			if c.parts > 0 && len(w.parts) != c.parts {
				t.Errorf("there are %d parts, want %d", len(w.parts), c.parts)
			}
			for i, part := range w.parts {
				if len(part) > maxPartBytes {
					t.Errorf("part %d has %d bytes", i, len(part))
				}
			}
			got, err := w.read(w.parts, "copies", w.chain.head)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.entries, got); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

// TestChainGoesOnAfterAFlush: what is added later is tied to what was there.
func TestChainGoesOnAfterAFlush(t *testing.T) {
	w := write(t, []entry{{1, "a"}})
	first := w.chain.head
	if err := errors.Join(w.chain.add(t.Context(), entry{2, "b"}), w.chain.flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	if got, err := w.read(w.parts, "copies", w.chain.head); err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	if _, err := w.read(w.parts, "copies", first); err == nil {
		t.Fatal("the head of before still holds")
	}
}

// TestChainWritesNoPartOfNothing: neither at first, nor when a flush follows another.
func TestChainWritesNoPartOfNothing(t *testing.T) {
	w := write(t, nil)
	if len(w.parts) != 0 || w.chain.parts != 0 || w.chain.head != "" || w.chain.size != 0 {
		t.Fatalf("there are %d parts of %d bytes, and the head %q", len(w.parts), w.chain.size, w.chain.head)
	}
	if got, err := w.read(w.parts, "copies", w.chain.head); err != nil || got != nil {
		t.Fatalf("%v, %v", got, err)
	}
	wrote := errors.Join(w.chain.add(t.Context(), entry{1, "a"}), w.chain.flush(t.Context()), w.chain.flush(t.Context()))
	if got, err := w.read(w.parts, "copies", w.chain.head); wrote != nil || err != nil || len(got) != 1 || len(w.parts) != 1 {
		t.Fatalf("%v in %d parts, %v, %v", got, len(w.parts), wrote, err)
	}
}

func TestChainThatIsNotWhatWasWritten(t *testing.T) {
	w := write(t, []entry{{1, noise(900 << 10)}, {2, "b"}})
	for name, parts := range map[string][][]byte{
		"a part is missing":      w.parts[:len(w.parts)-1],
		"a part too many":        append(slices.Clone(w.parts), w.parts[0]),
		"parts changed places":   {w.parts[1], w.parts[0], w.parts[2]},
		"a part is cut":          {w.parts[0][:100], w.parts[1], w.parts[2]},
		"a part is empty":        {{}, w.parts[1], w.parts[2]},
		"nothing is left":        nil,
		"a byte moved next door": {append(slices.Clone(w.parts[0]), w.parts[1][0]), w.parts[1][1:], w.parts[2]},
	} {
		if got, err := w.read(parts, "copies", w.chain.head); err == nil || !strings.Contains(err.Error(), "are not what the run wrote") || got != nil {
			t.Errorf("%s: %d entries, %v", name, len(got), err)
		}
	}
	if _, err := w.read(w.parts, "intent", w.chain.head); err == nil {
		t.Error("copies were read as an intent")
	}
}

// TestChainThatChangesWhileItIsRead is proved again when it is decoded.
func TestChainThatChangesWhileItIsRead(t *testing.T) {
	w := write(t, []entry{{1, "a"}})
	reads := 0
	get := func(context.Context, int32) ([]byte, error) {
		if reads++; reads > 1 {
			return append(slices.Clone(w.parts[0]), 0), nil
		}
		return w.parts[0], nil
	}
	err := readChain(t.Context(), "run", "copies", 1, w.chain.head, get, func(*json.Decoder) error { t.Error("it was decoded"); return nil })
	if err == nil || !strings.Contains(err.Error(), "part 0 changed while it was read") {
		t.Fatal(err)
	}
}

func TestChainKeepsToItsLimit(t *testing.T) {
	kept := 0
	c := newChain("run", "copies", &budget{left: 1 << 20}, func(context.Context, int32, []byte) error { kept++; return nil })
	var err error
	for i := 0; i < 100 && err == nil; i++ {
		err = c.add(t.Context(), entry{i, noise(100 << 10)})
	}
	if !errors.Is(err, errTooLarge) || kept > 4 {
		t.Fatalf("%v after %d parts", err, kept)
	}
}

func TestChainReportsThatAPartWasNotKept(t *testing.T) {
	full := errors.New("the quota is used up")
	c := newChain("run", "copies", nil, func(context.Context, int32, []byte) error { return full })
	if err := errors.Join(c.add(t.Context(), entry{1, "a"}), c.flush(t.Context())); !errors.Is(err, full) || c.parts != 0 {
		t.Fatalf("%v, and there are %d parts", err, c.parts)
	}
}

// FuzzOutcomes reads whatever stands in a part.
func FuzzOutcomes(f *testing.F) {
	data, err := encodeOutcomes(map[int]SavedOutcome{3: {Index: 3, Outcome: "Deleted", Reason: "r"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(bytes.Repeat([]byte{0x1f, 0x8b}, 20))
	f.Fuzz(func(t *testing.T, data []byte) {
		read := map[int]SavedOutcome{}
		if err := decodeOutcomes(data, func(o SavedOutcome) { read[o.Index] = o }); err != nil {
			return
		}
		again, err := encodeOutcomes(read)
		if err != nil {
			t.Fatal(err)
		}
		reread := map[int]SavedOutcome{}
		if err := decodeOutcomes(again, func(o SavedOutcome) { reread[o.Index] = o }); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(read) != fmt.Sprint(reread) {
			t.Fatalf("%v became %v", read, reread)
		}
	})
}
