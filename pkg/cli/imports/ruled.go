// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ruledKind is the kind of a resource of a rule. It is false when there is none, and says so when there may be one.
func (p *policy) ruledKind(rule *resourceRule, group, plural, field string) (schema.GroupVersionKind, bool) {
	kind, ok := p.kinds.resource(group, plural)
	if !ok && !p.isElsewhere(group, plural, rule.APIGroups) {
		p.lost(p.d, field,
			fmt.Sprintf("%q of group %q is not carried over: import does not know this kind", plural, group),
			"write a selector for it by hand")
	}
	return kind, ok && rule.isFor(kind.GroupKind())
}

// isElsewhere reports whether a resource is known not to be in a group, but to be in another one of a rule: a rule
// names each resource in each group.
func (p *policy) isElsewhere(group, plural string, groups []string) bool {
	return p.kinds.hasGroup(group) && slices.ContainsFunc(groups, func(other string) bool {
		_, ok := p.kinds.resource(other, plural)
		return ok
	})
}
