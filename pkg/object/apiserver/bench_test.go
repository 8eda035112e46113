// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// samplePod is a Pod as a list of built-in kinds holds it, 40 % of it managedFields.
func samplePod(tb testing.TB) []byte {
	tb.Helper()
	raw, err := os.ReadFile("../testdata/pod.json")
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// listOf streams a list of n times the same item, without holding it.
func listOf(item []byte, n int) io.Reader {
	return io.MultiReader(
		strings.NewReader(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[`),
		&repeated{item: append([]byte(","), item...), left: n, at: 1}, // the first one without its comma
		strings.NewReader(`]}`),
	)
}

type repeated struct {
	item     []byte
	left, at int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.item[r.at:])
	if r.at += n; r.at == len(r.item) {
		r.at, r.left = 0, r.left-1
	}
	return n, nil
}

// BenchmarkScanList shows how fast a list is cut into objects, which bounds how fast a cluster can be read, and that it takes no
// memory for each.
func BenchmarkScanList(b *testing.B) {
	const n = 1000
	pod := samplePod(b)
	b.SetBytes(int64(n * len(pod)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ScanList(listOf(pod, n), func([]byte) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNew shows what it costs to find out an object's identity, which each object pays that is read.
func BenchmarkNew(b *testing.B) {
	pod := samplePod(b)
	b.SetBytes(int64(len(pod)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := object.New(configMaps(), pod); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppendWithoutManagedFields shows what each object pays that matches, so that less of it is kept.
func BenchmarkAppendWithoutManagedFields(b *testing.B) {
	pod := samplePod(b)
	var dst []byte
	b.SetBytes(int64(len(pod)))
	b.ReportAllocs()
	for b.Loop() {
		dst = object.AppendWithoutManagedFields(dst[:0], pod)
	}
}
