// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import "testing"

func TestManagerInMessages(t *testing.T) {
	for _, test := range []struct{ message, manager, want string }{
		{"", "", ""},
		{"unused", "", "unused"},
		{"", "Helm release shop/web", "managed by Helm release shop/web"},
		{"unused; and old", "Argo CD application shop", "unused; and old; managed by Argo CD application shop"},
	} {
		got := WithManager(test.message, test.manager)
		if got != test.want || ManagerIn(got) != test.manager {
			t.Errorf("%q with %q is %q, want %q, and names %q", test.message, test.manager, got, test.want, ManagerIn(got))
		}
	}
	for _, message := range []string{"it is managed by Helm", "managed by Helm; unused"} {
		if got := ManagerIn(message); got != "" {
			t.Errorf("%q names %q", message, got)
		}
	}
}
