// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel_test

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// A Program is compiled once. Each run has a time of its own, and judges one object after the other.
func ExampleProgram() {
	program, err := cel.Compile([]v1alpha1.MatchCondition{{Name: "old", Expression: `now - timestamp(object.metadata.creationTimestamp) > duration("24h")`}})
	if err != nil {
		fmt.Println(err)
		return
	}
	run := program.NewRun(time.Date(2026, time.March, 2, 0, 0, 0, 0, time.UTC))
	for _, text := range []string{
		`{"metadata":{"name":"a","creationTimestamp":"2026-02-01T00:00:00Z"}}`,
		`{"metadata":{"name":"b","creationTimestamp":"2026-03-01T12:00:00Z"}}`,
	} {
		o := object.Object{Kind: object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}}, Raw: []byte(text)}
		matches, _, err := run.Evaluate(context.Background(), o)
		fmt.Println(matches, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}
