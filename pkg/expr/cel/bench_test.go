// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// realPod is a Pod of 4.5 KB, half of it managedFields, as a list response has it: without kind and apiVersion.
func realPod(tb testing.TB) object.Object {
	tb.Helper()
	raw, err := os.ReadFile("testdata/pod.json")
	if err != nil {
		tb.Fatal(err)
	}
	o, err := object.New(object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Pod"), Resource: "pods", Namespaced: true}, raw)
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

// BenchmarkEvaluate is what one object costs. The aim for completed is 10 microseconds.
func BenchmarkEvaluate(b *testing.B) {
	for _, bench := range []struct{ name, expression string }{
		{"completed", "object.status.phase == 'Succeeded' && now - timestamp(object.metadata.creationTimestamp) > duration('24h')"},
		{"phase", "object.status.phase == 'Failed'"},
		{"loop", "object.status.conditions.exists(c, c.type == 'PodScheduled' && c.status == 'True')"},
		{"optional", "object.?metadata.?labels[?'app.kubernetes.io/name'].orValue('') == 'batch'"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			o := realPod(b)
			run := compiled(b, v1alpha1.MatchCondition{Name: bench.name, Expression: bench.expression}).NewRun(time.Now())
			b.SetBytes(int64(len(o.Raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := run.Evaluate(b.Context(), o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCompile is what a run costs before its first object.
func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		compiled(b, v1alpha1.MatchCondition{Name: "completed", Expression: "object.status.phase == 'Succeeded'"})
	}
}

func compiled(tb testing.TB, conditions ...v1alpha1.MatchCondition) *Program {
	tb.Helper()
	program, err := Compile(conditions)
	if err != nil {
		tb.Fatal(err)
	}
	return program
}
