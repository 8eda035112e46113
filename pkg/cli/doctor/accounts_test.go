// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Cleaners that name the same account that is gone share a line: it proposes no deletion of only one of them.
func TestWayOutWithoutAccount(t *testing.T) {
	t.Parallel()
	p := &patient{}
	for name, account := range map[string]string{"a": "shared", "b": "shared", "c": "own", "d": ""} {
		c := v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if account != "" {
			c.Spec.ServiceAccountRef = &v1alpha1.ServiceAccountRef{Namespace: "shop", Name: account}
		}
		p.cleaners = append(p.cleaners, c)
	}
	for i := range p.cleaners {
		c := &p.cleaners[i]
		if c.Spec.ServiceAccountRef == nil {
			continue
		}
		got := p.withoutAccount(c)
		if deletes := strings.Contains(got, "kubectl delete cleaner "+c.Name); deletes != (c.Name == "c") ||
			!strings.Contains(got, "kubectl -n shop create serviceaccount "+c.Spec.ServiceAccountRef.Name) {
			t.Errorf("%s: the way out is %q", c.Name, got)
		}
	}
}
