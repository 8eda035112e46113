// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestInVainOf counts kinds that were read in one namespace as read there.
func TestInVainOf(t *testing.T) {
	elsewhere, never := Unread{Kind: schema.GroupKind{Kind: "Pod"}, Elsewhere: true}, Unread{Kind: schema.GroupKind{Kind: "Role"}}
	for want, test := range map[string]struct {
		searched int
		unread   []Unread
	}{
		"no user in 1 of 2 kinds that can name it":                                            {2, []Unread{never}},
		"no user: 1 of 2 kinds that can name it could be read, in one namespace only":         {2, []Unread{elsewhere, never}},
		"no user in 1 of 3 kinds that can name it, nor in 1 more, read in one namespace only": {3, []Unread{elsewhere, never}},
		"no user: the only kind that can name it could not be read in other namespaces":       {1, []Unread{elsewhere}},
		"no user: the only kind that can name it could not be read":                           {1, []Unread{never}},
		"no user: none of 2 kinds that can name it could be read":                             {2, []Unread{never, never}},
	} {
		if got := inVainOf("no user", test.searched, test.unread, "can name it"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
