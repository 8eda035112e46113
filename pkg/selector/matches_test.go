// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

func candidate(i, size int) stage.Candidate {
	o := object.Object{Namespace: "default", Name: fmt.Sprintf("object-%07d", i), UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i)), ResourceVersion: "1234567"}
	o.Raw = fmt.Appendf(nil, `{"metadata":{"name":%q},"data":{"k":%q}}`, o.Name, bytes.Repeat([]byte("x"), size))
	return stage.Candidate{Object: o}
}

// TestTooMuchIsFound: an error, rather than an end of the whole operator by the kernel. What a list that began anew had found
// does not count.
func TestTooMuchIsFound(t *testing.T) {
	f := Matches{Memory: NewBudget(2 << 20).Share()}
	f.Verdicts.Bodies = true
	add := func(from, n int) (err error) {
		for i := range n {
			if err = f.add(t.Context(), candidate(from+i, 1<<20), false); err != nil {
				return err
			}
		}
		return nil
	}
	if err := add(0, 2); err != nil {
		t.Fatal(err)
	}
	f.truncate(0)
	if err := add(0, 2); err != nil {
		t.Fatalf("after the list began anew: %v", err)
	}
	const want = "not enough memory for the first 3 objects that match: they take more than 2 MiB of memory: let the Cleaner select fewer objects (with namespace, labelFilters or matchConditions), or write several Cleaners, or raise --max-selection-memory"
	if err := add(2, 1); err == nil || err.Error() != want {
		t.Fatalf("got %v", err)
	}
}

// TestFoundKeepsIdentitiesOnly: what a Scan matches is kept by name, and stays small: it may be most of a cluster.
func TestFoundKeepsIdentitiesOnly(t *testing.T) {
	const matches = 20_000
	f := Matches{}
	before := heap()
	for i := range matches {
		if err := f.add(t.Context(), candidate(i, 100), false); err != nil {
			t.Fatal(err)
		}
	}
	if got := (heap() - before) / matches; got > 150 {
		t.Errorf("%d bytes are kept of each match, want at most 150", got)
	}
	if want := int64(f.Verdicts.Bytes() + matches*seenSize); f.Memory.bytes != want {
		t.Errorf("%d bytes are counted, and %d are there", f.Memory.bytes, want)
	}
	if err := f.add(t.Context(), candidate(7, 100), false); err != nil || f.len() != matches {
		t.Errorf("what was found twice is kept twice: %d of %d, %v", f.len(), matches, err)
	}
	f.truncate(10)
	for i := range 20 {
		if err := f.add(t.Context(), candidate(i, 100), false); err != nil {
			t.Fatal(err)
		}
	}
	for i, verdict := range f.Verdicts.All() {
		if want := candidate(i, 0).Name; verdict.Name != want {
			t.Errorf("after the list began anew the %d-th is %s, want %s", i, verdict.Name, want)
		}
	}
	if f.len() != 20 {
		t.Errorf("after the list began anew there are %d, want 20", f.len())
	}
}

// BenchmarkFound shows what each object that matches takes of the memory until the run is over, besides its own bytes, which a Scan
// does not keep.
func BenchmarkFound(b *testing.B) {
	b.Run("delete", func(b *testing.B) { benchmarkFound(b, true) })
	b.Run("scan", func(b *testing.B) { benchmarkFound(b, false) })
}

func benchmarkFound(b *testing.B, bodies bool) {
	const matches, size = 100_000, 1000
	for b.Loop() {
		before := heap()
		f := Matches{}
		f.Verdicts.Bodies = bodies
		raw := 0
		for i := range matches {
			c := candidate(i, size)
			raw += len(c.Raw)
			if err := f.add(b.Context(), c, false); err != nil {
				b.Fatal(err)
			}
		}
		if !bodies {
			raw = 0
		}
		b.ReportMetric((float64(heap()-before)-float64(raw))/matches, "B/match")
		runtime.KeepAlive(&f)
	}
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// TestTooManyCannotBeJudged: what is kept of them counts, too, and is given back when the list begins anew.
func TestTooManyCannotBeJudged(t *testing.T) {
	found := &Matches{Memory: NewBudget(ownMemory).Share()}
	c := &collector{selector: &Selector{}, found: found, scope: Scope{ending: []string{"gone"}}}
	fail := func() (n int, err error) {
		for err == nil {
			n++
			c.failures, c.added = 0, 1
			err = c.failed(candidate(n, 0).Object, int64(n), errors.New(strings.Repeat("no ", 100)))
		}
		return n, err
	}
	n, err := fail()
	if err == nil || !strings.Contains(err.Error(), "objects that could not be judged: they take more than 1 MiB of memory") || n < 1000 {
		t.Fatalf("after %d: %v", n, err)
	}
	if err := c.restart(t.Context()); err != nil || found.Memory.bytes != 0 {
		t.Fatalf("%d bytes are counted after the list began anew, %v", found.Memory.bytes, err)
	}
	if !c.scope.isEnding(object.Object{Namespace: "gone"}) {
		t.Error("it is forgotten which namespaces are being deleted")
	}
	if again, _ := fail(); again != n {
		t.Errorf("%d were kept the second time, %d the first", again, n)
	}
}
