// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import "testing"

// BenchmarkEvaluate shows what one object costs: conversion, a fresh environment, the chunk and the call.
func BenchmarkEvaluate(b *testing.B) {
	s := session(b, `function evaluate(obj) return {matching = obj.spec.replicas == 0, message = "idle"} end`)
	o := deployment(b, `,"spec":{"replicas":0,"template":{"spec":{"containers":[{"name":"a","image":"b"}]}}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Evaluate(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEnvironment shows how much of that are the tables of the libraries.
func BenchmarkEnvironment(b *testing.B) {
	box := newSandbox(session(b, "").functions())
	defer box.close()
	b.ReportAllocs()
	for b.Loop() {
		box.environment()
	}
}
