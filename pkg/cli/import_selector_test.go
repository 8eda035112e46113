// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// TestImportOfWrongSelectors: by a label selector that cannot be parsed, Kyverno selects nothing.
func TestImportOfWrongSelectors(t *testing.T) {
	t.Parallel()
	const (
		a, b, both = "ConfigMap/ns/a", "ConfigMap/ns/b", "ConfigMap/ns/a ConfigMap/ns/b"
		deleting   = "apiVersion: policies.kyverno.io/v1\nkind: DeletingPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
			"  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [configmaps]}], objectSelector: %s}\n" +
			"  conditions: [{name: all, expression: 'true'}]\n"
		cleanup = cleanupOfAll + "  match: {any: [{resources: {kinds: [ConfigMap], selector: %s}}]}\n"
		wrong   = "elector: is no label selector, and Kyverno selects nothing by it: "
	)
	for _, test := range []struct{ policy, selector, selected, says string }{
		{cleanup, "{matchLabels: {'ap?': '*'}, matchExpressions: [{key: app, operator: NotIn, values: ['web*']}]}", "", wrong + `values[0][app]: Invalid value: "web*"`},
		{cleanup, "{matchExpressions: [{key: app, operator: NotIn, values: []}]}", "", wrong},
		{cleanup, "{matchExpressions: [{key: 'a b', operator: DoesNotExist}]}", "", wrong},
		{cleanup, "{matchExpressions: [{key: app, operator: Exists, values: [x]}]}", "", wrong},
		{cleanup, "{matchExpressions: [{key: app, operator: Near, values: [x]}]}", "", wrong},
		{cleanup, "{matchLabels: {'ap?': '*'}, matchExpressions: [{key: app, operator: NotIn, values: [x]}]}", a, ""},
		{cleanup, "{matchExpressions: [{key: app, operator: NotIn, values: [web]}]}", b, ""},
		{cleanup, "{}", both, ""},
		{deleting, "{matchLabels: {app: '*'}}", "", wrong},
		{deleting, "{matchExpressions: [{key: app, operator: NotIn, values: ['web*']}]}", "", wrong},
		{deleting, "{matchLabels: {app: web}}", a, ""},
	} {
		selected, got := imported(t, fmt.Sprintf(test.policy, test.selector), configMapA)
		code := codes.ExitDone
		if test.says != "" {
			code = codes.ExitPartial
		}
		if selected != test.selected || got.code != code || !strings.Contains(got.errOut, test.says) {
			t.Errorf("%s selects %q, want %q, exit %d, says %q:\n%s%s", test.selector, selected, test.selected, got.code, test.says, got.out, got.errOut)
		}
	}
}
