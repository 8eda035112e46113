// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"testing"
)

// BenchmarkStream shows what an object costs in all: the way to the child, the script, and the way back.
func BenchmarkStream(b *testing.B) {
	s := open(b, newPool(b, Config{}), Options{})
	matching := 0
	stream := s.Stream(`function evaluate()
		return {matching = obj.status.phase == "Succeeded" and obj.spec.restartPolicy == "Never" and obj.metadata.namespace ~= "kube-system"}
	end`, func(j Judged) error {
		if j.Matching {
			matching++
		}
		return j.Err
	})
	done := pod(b, 10)
	running := pod(b, 11)
	b.SetBytes(int64(len(done.Raw)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		o := running
		if n%10 == 0 {
			o = done
		}
		n++
		if err := stream.Add(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
	if err := stream.Finish(b.Context()); err != nil {
		b.Fatal(err)
	}
	if matching != (n+9)/10 {
		b.Fatalf("%d of %d match", matching, n)
	}
}
