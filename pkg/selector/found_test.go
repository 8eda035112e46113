// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func candidate(i, size int) object.Candidate {
	o := object.Object{Namespace: "default", Name: fmt.Sprintf("object-%07d", i), UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i)), ResourceVersion: "1234567"}
	o.Raw = fmt.Appendf(nil, `{"metadata":{"name":%q},"data":{"k":%q}}`, o.Name, bytes.Repeat([]byte("x"), size))
	return object.Candidate{Object: o}
}

// TestTooMuchIsFound: an error, rather than an end of the whole operator by the kernel. What a list that began anew had found
// does not count.
func TestTooMuchIsFound(t *testing.T) {
	f := Found{most: 3 << 20}
	add := func(from, n int) (err error) {
		for i := range n {
			if err = f.add(t.Context(), candidate(from+i, 1<<20)); err != nil {
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
	const want = "the first 2 objects that match take more than 3 MiB of memory: let the Cleaner select fewer at a time, by namespace, labelFilters or conditions"
	if err := add(2, 1); err == nil || err.Error() != want {
		t.Fatalf("got %v", err)
	}
}

// BenchmarkFound shows what each object that matches takes of the memory until the run is over, besides its own bytes.
func BenchmarkFound(b *testing.B) {
	const matches, size = 100_000, 1000
	for b.Loop() {
		before := heap()
		var f Found
		raw := 0
		for i := range matches {
			c := candidate(i, size)
			raw += len(c.Raw)
			if err := f.add(b.Context(), c); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric((float64(heap()-before)-float64(raw))/matches, "B/match")
		runtime.KeepAlive(f)
	}
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
