// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import "testing"

func TestScopeUnion(t *testing.T) {
	a, b := Scope{Namespaces: []string{"x", "y"}}, Scope{Namespaces: []string{"y", "a"}}
	if got := a.Union(b); got.Cluster || len(got.Namespaces) != 3 || !got.Contains("a") || got.Contains("z") {
		t.Errorf("the union is %+v", got)
	}
	if got := a.Union(Scope{Cluster: true}); !got.Cluster || !got.Contains("z") {
		t.Errorf("the union with the cluster is %+v", got)
	}
	if nowhere := (Scope{}); nowhere.Contains("a") || nowhere.Contains("") {
		t.Error("nowhere contains something")
	}
}
