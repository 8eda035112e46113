// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/url"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
)

// TestGroupsStay: who chose a kind sees the other kinds still, to choose another.
func TestGroupsStay(t *testing.T) {
	var secret search.Finding
	secret.Kind, secret.Namespace = "Secret", "shop"
	for _, c := range []struct {
		query, group string
		want         bool
	}{
		{"kind=ConfigMap", "kind", true},
		{"kind=ConfigMap", "namespace", false},
		{"in=blog", "namespace", true},
		{"in=blog&kind=Secret", "kind", false},
	} {
		query, err := url.ParseQuery(c.query)
		must(t, err)
		if got := isWanted(otherFilters(query, c.group), secret); got != c.want {
			t.Errorf("%s by %s: %t", c.query, c.group, got)
		}
	}
}
