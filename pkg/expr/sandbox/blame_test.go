// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// killIdle ends a session's child while nothing goes on, as the kernel does when memory is short.
func killIdle(s *Session) {
	w := <-s.free
	_ = w.process.cmd.Process.Kill() // its end is waited for
	<-w.process.reaped
	s.free <- w
}

func TestChildKilledWhileIdleIsNobodysFault(t *testing.T) {
	p := newPool(t, Config{})
	good := []Script{{Field: "evaluate", Function: "evaluate", Source: behave}}
	for range 2 {
		if problems, err := p.Compile(t.Context(), good); err != nil || problems[0] != nil {
			t.Fatalf("compiling: %v, %v", problems, err)
		}
		killIdle(p.compiler)
	}
	s := open(t, p, Options{})
	for range 2 {
		if _, err := s.Evaluate(t.Context(), behave, configMap(t, "one", "x")); err != nil {
			t.Fatalf("judging: %v", err)
		}
		killIdle(s)
	}
	const change = `function transform() obj.data.k = "y" return {resource = obj} end`
	if patch, _, err := s.Transform(t.Context(), change, configMap(t, "one", "x")); err != nil || patch == nil {
		t.Fatalf("changing: %v, %v", patch, err)
	}
}

// A list that broke off had objects of one kind, began anew with none, and the next one is of another kind.
func TestAggregateAfterAnEmptiedBatch(t *testing.T) {
	a := open(t, newPool(t, Config{}), Options{}).Aggregate(`function evaluate()
  local out = {}
  for _, r in ipairs(resources) do table.insert(out, {resource = r, message = r.kind}) end
  return {resources = out}
end`)
	secrets := object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Resource: "secrets", Namespaced: true}
	if err := a.Add(t.Context(), configMap(t, "one", "x")); err != nil {
		t.Fatal(err)
	}
	a.Truncate(0)
	if err := a.Add(t.Context(), newObject(t, secrets, `{"metadata":{"namespace":"default","name":"two","uid":"u2","resourceVersion":"1"}}`)); err != nil {
		t.Fatal(err)
	}
	selected, err := a.Finish(t.Context())
	if err != nil || len(selected) != 1 || selected[0].Message != "Secret" {
		t.Fatalf("selected %v, %v", selected, err)
	}
}
