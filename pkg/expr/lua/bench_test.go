// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// aPod is about 4.5 KB, almost half of it managedFields, as a cluster has them.
func aPod(t testing.TB, name string) object.Object {
	t.Helper()
	raw, err := os.ReadFile("testdata/pod.json")
	if err != nil {
		t.Fatal(err)
	}
	return newObject(t, object.Kind{GroupVersionKind: kind("", "v1", "Pod").GroupVersionKind, Resource: "pods", Namespaced: true},
		strings.ReplaceAll(string(raw), "NAME", name))
}

const threeFields = `function evaluate()
	return {matching = obj.status.phase == "Succeeded" and obj.metadata.namespace ~= "kube-system" and #obj.spec.containers > 0, message = "done"}
end`

// BenchmarkEvaluate shows what a Pod costs of which a script reads three fields.
func BenchmarkEvaluate(b *testing.B) {
	o := aPod(b, "web-0")
	b.Run("lazy", func(b *testing.B) {
		s := session(b, threeFields)
		b.ReportAllocs()
		b.SetBytes(int64(len(o.Raw)))
		for b.Loop() {
			if match, err := s.Evaluate(b.Context(), o); err != nil || !match.Matching {
				b.Fatal(match, err)
			}
		}
	})
	b.Run("eager", func(b *testing.B) {
		program, err := Compile(threeFields)
		if err != nil {
			b.Fatal(err)
		}
		s := newEagerSession(program, Options{Now: now})
		b.ReportAllocs()
		b.SetBytes(int64(len(o.Raw)))
		for b.Loop() {
			if match, err := s.Evaluate(o); err != nil || !match.Matching {
				b.Fatal(match, err)
			}
		}
	})
}

// BenchmarkWalk shows the worst case: a script that reads every value.
func BenchmarkWalk(b *testing.B) {
	o := aPod(b, "web-0")
	s := session(b, `local function walk(t) local n = 0 for _, v in pairs(t) do if type(v) == "table" then n = n + walk(v) else n = n + 1 end end return n end
		function evaluate() return {matching = walk(obj) > 50} end`)
	b.ReportAllocs()
	for b.Loop() {
		if match, err := s.Evaluate(b.Context(), o); err != nil || !match.Matching {
			b.Fatal(match, err)
		}
	}
}

// BenchmarkNothing shows the fixed costs: an environment, the chunk, the call and its deadline.
func BenchmarkNothing(b *testing.B) {
	o := aPod(b, "web-0")
	s := session(b, `function evaluate() return {} end`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Evaluate(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTransform shows what one changed field of a Pod costs.
func BenchmarkTransform(b *testing.B) {
	o := aPod(b, "web-0")
	s := session(b, `function transform() obj.metadata.labels.app = "other" return {resource=obj} end`)
	b.ReportAllocs()
	for b.Loop() {
		if patch, _, err := s.Transform(b.Context(), o); err != nil || len(patch) != 1 {
			b.Fatal(patch, err)
		}
	}
}

// BenchmarkAggregate collects 40,000 objects, half Pods and half ConfigMaps, and looks for ConfigMaps that no Pod uses. It
// reports how much of the heap each object takes when the script has ended.
func BenchmarkAggregate(b *testing.B) {
	const each = 20_000
	s := session(b, strings.Replace(unusedConfigMaps, "return hs", "print() return hs", 1))
	pod := string(object.AppendWithoutManagedFields(nil, aPod(b, "web-0").Raw))
	podKind, mapKind := aPod(b, "x").Kind, kind("", "v1", "ConfigMap")
	for b.Loop() {
		before := heap()
		c := NewCollection()
		for i := range each {
			c.Add(object.Object{Kind: podKind, Raw: []byte(strings.ReplaceAll(pod, "web-0", "web-"+strconv.Itoa(i)))})
			c.Add(object.Object{Kind: mapKind, Raw: fmt.Appendf(nil,
				`{"metadata":{"name":"settings-%d","namespace":"default","uid":"%d","resourceVersion":"1"},"data":{"k":%q}}`, i, i, strings.Repeat("x", 2000))})
		}
		added := heap()
		var peak uint64
		s.options.Print = func(string) { peak = heap() }
		start := time.Now()
		selected, err := s.Aggregate(b.Context(), c)
		b.ReportMetric(time.Since(start).Seconds(), "script-s")
		if err != nil || len(selected) != each-1 {
			b.Fatal(len(selected), err)
		}
		raw := 0
		for i := range c.Len() {
			raw += len(c.Object(i).Raw)
		}
		b.ReportMetric(float64(raw)/(2*each), "raw-B/object")
		b.ReportMetric(float64(added-before)/(2*each), "added-B/object")
		b.ReportMetric(float64(peak-before)/(2*each), "peak-B/object")
		runtime.KeepAlive(c)
	}
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
