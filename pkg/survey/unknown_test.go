// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

// TestWhyUnknown: in a cluster with many custom resources, a reason stays short.
func TestWhyUnknown(t *testing.T) {
	unread := func(kinds ...string) *finding.Finding {
		found := &finding.Finding{Reason: "no user found"}
		for _, kind := range kinds {
			found.Unknown = append(found.Unknown, finding.Unread{Kind: schema.GroupKind{Kind: kind}, Err: errors.New("forbidden")})
		}
		return found
	}
	for want, found := range map[string]*finding.Finding{
		"no user found": unread(),
		"no user found; not readable: A, B, C, D, E":         unread("A", "B", "C", "D", "E"),
		"no user found; not readable: A, B, C, D and 2 more": unread("A", "B", "C", "D", "E", "F"),
	} {
		if got := whyUnknown(found); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
