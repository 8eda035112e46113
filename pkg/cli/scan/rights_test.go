// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/rights"
)

// To apply a Role must not take away what an earlier one gave, nor what one for somebody else gives.
func TestRolesOfOtherRightsHaveOtherNames(t *testing.T) {
	of := func(who string, resources ...string) string {
		t.Helper()
		var all []rights.Right
		for _, resource := range resources {
			all = append(all, rights.Right{Verb: "list", Resource: resource})
		}
		name, text, err := rolesFor(rights.Roles(all), who)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(name, missingRole+"-") || !strings.Contains(text, "\n  name: "+name+"\n") {
			t.Fatalf("the Role %s is\n%s", name, text)
		}
		return name
	}
	first := of("jane", "pods", "secrets")
	if again := of("jane", "pods", "secrets"); again != first {
		t.Errorf("the same Role has the names %s and %s", first, again)
	}
	if more := of("jane", "configmaps"); more == first {
		t.Errorf("the Role for other rights has the same name, %s", more)
	}
	if others := of("joe", "pods", "secrets"); others == first {
		t.Errorf("the Role for somebody else has the same name, %s", others)
	}
}
