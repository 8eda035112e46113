// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// someObjects are ConfigMaps with so many bytes of data each.
func someObjects(t testing.TB, count, size int) []object.Object {
	value := strings.Repeat("x", size)
	var objects []object.Object
	for i := range count {
		objects = append(objects, configMap(t, fmt.Sprintf("o%d", i), value))
	}
	return objects
}

// TestAggregateLosesItsChild lets another script of the same session end the child that has the objects.
func TestAggregateLosesItsChild(t *testing.T) {
	s := open(t, newPool(t, Config{}), short)
	a := s.Aggregate(unused)
	objects := someObjects(t, 60, 100_000)
	addAll(t, a, objects[:30]...)
	if _, err := s.Evaluate(t.Context(), behave, configMap(t, "a", "native")); budgetKind(err) != BudgetTime {
		t.Fatalf("got %v", err)
	}
	var err error
	for _, o := range objects[30:] {
		if err = a.Add(t.Context(), o); err != nil {
			break
		}
	}
	want := "the process that had the objects ended, because of another script of the same run or for want of memory on the node"
	if budgetKind(err) != BudgetKilled || err.Error() != want {
		t.Errorf("Add: %v", err)
	}
	if got, err := a.Finish(t.Context()); budgetKind(err) != BudgetKilled || got != nil {
		t.Errorf("Finish: %d, %v", len(got), err)
	}
	if got, err := s.Choose(t.Context(), unused, objects); err != nil || len(got) != len(objects) {
		t.Errorf("another one: got %d, %v", len(got), err)
	}
}
