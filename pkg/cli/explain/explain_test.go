// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"
)

func TestNamespaceSelector(t *testing.T) {
	trial := &Judge{Namespaces: map[string]labels.Set{"test": {"env": "test", "kubernetes.io/metadata.name": "test"}, "ending": nil}}
	tests := []struct {
		selector, namespace string
		want                bool
	}{
		{"env=test", "test", true},
		{"env=prod", "test", false},
		{"env=test", "ending", false},
		{"!env", "ending", false},
		{"env=test", "unknown", true}, // not known, so taken as satisfied
		{"kubernetes.io/metadata.name notin (kube-system)", "unknown", true},
		{"kubernetes.io/metadata.name notin (kube-system)", "kube-system", false}, // a namespace's name is always known
		{"env=test,kubernetes.io/metadata.name=a", "b", false},
		{"kubernetes.io/metadata.name=test", "test", true},
	}
	for _, tt := range tests {
		if got := trial.selectsNamespace(tt.selector, tt.namespace); got != tt.want {
			t.Errorf("%q on %s = %v, want %v", tt.selector, tt.namespace, got, tt.want)
		}
	}
}
