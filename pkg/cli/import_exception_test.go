// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// TestImportOfExceptions: what a PolicyException names is not deleted by a DeletingPolicy.
func TestImportOfExceptions(t *testing.T) {
	t.Parallel()
	const (
		policy = "apiVersion: policies.kyverno.io/v1\nkind: DeletingPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
			"  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [configmaps]}]}\n" +
			"  variables: [{name: kept, expression: \"'a'\"}]\n  conditions: [{name: all, expression: 'true'}]\n---\n"
		exception = "apiVersion: policies.kyverno.io/%s\nkind: PolicyException\nmetadata: {name: keep, namespace: team}\nspec:\n" +
			"  policyRefs: [{name: other, kind: DeletingPolicy}, {name: a, kind: %s}]\n  matchConditions: %s\n"
		both = "ConfigMap/ns/a ConfigMap/ns/b"
		is   = "warning: a: the PolicyException team/keep "
		now  = is + "is carried over as it is now, as a matchCondition: "
	)
	for name, test := range map[string]struct{ version, kind, conditions, selected, says string }{
		"v1":         {"v1", "DeletingPolicy", "[{name: b, expression: \"object.metadata.name == 'b'\"}]", "ConfigMap/ns/a", now},
		"v1alpha1":   {"v1alpha1", "DeletingPolicy", "[{name: b, expression: \"object.metadata.name == 'b'\"}]", "ConfigMap/ns/a", now},
		"a variable": {"v1beta1", "DeletingPolicy", "[{name: b, expression: object.metadata.name == variables.kept}]", "ConfigMap/ns/b", now},
		"two": {
			"v1", "DeletingPolicy", "[{name: b, expression: object.metadata.name != 'a' || true}, {name: c, expression: object.metadata.name == 'a'}]",
			"ConfigMap/ns/b", now,
		},
		"no conditions": {"v1", "DeletingPolicy", "[]", "", is + "has no conditions, so it keeps all objects from this policy"},
		"what CEL here lacks": {
			"v1", "DeletingPolicy", "[{name: b, expression: \"resource.Get('v1', 'configmaps', 'a', 'b').data.x == 'y'\"}]", "", is + "is not carried over: ",
		},
		"of a wrong type":               {"v1", "DeletingPolicy", "{name: b}", "", is + "is not carried over: it cannot be read"},
		"whose policies cannot be read": {"v1", "[x]", "[]", "", is + "is not carried over: it cannot be read"},
		"of another policy":             {"v1", "ValidatingPolicy", "[]", both, ""},
	} {
		selected, got := imported(t, policy+fmt.Sprintf(exception, test.version, test.kind, test.conditions), configMapA)
		code := codes.ExitDone
		if test.says != "" {
			code = codes.ExitPartial
		}
		if selected != test.selected || got.code != code || !strings.Contains(got.errOut, test.says) {
			t.Errorf("%s: selects %q, want %q, exit %d, says %q:\n%s%s", name, selected, test.selected, got.code, test.says, got.out, got.errOut)
		}
	}
}
