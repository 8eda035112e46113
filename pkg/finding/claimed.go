// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"slices"
	"unique"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// shortestPart is how long the name of a custom resource must be to be looked for in names of claims. A word such as
// "db" is in many.
const shortestPart = 3

// valuesOf are the values of an object's labels.
func valuesOf(o *object.Parts) (values []string) {
	for _, value := range o.At("metadata", "labels").Fields() {
		values = append(values, unique.Make(value.Text()).Value())
	}
	return values
}

// claimedAgain says which custom resource may use a claim again: a controller keeps the claims of what it has scaled to
// zero, and gives them its name. Empty when there is none.
func (f *Finder) claimedAgain(c *candidate) string {
	if c.kind.GroupKind() != claims {
		return ""
	}
	for _, value := range c.marks {
		if maker, is := f.graph.Custom(c.namespace, value); is {
			return maker.String() + ", whose name it has in a label, may use it again"
		}
	}
	for i := range len(c.name) {
		for j := i + shortestPart; j <= len(c.name); j++ {
			if !isPart(c.name, i, j) {
				continue
			}
			if maker, is := f.graph.Custom(c.namespace, c.name[i:j]); is {
				return maker.String() + ", whose name is a part of its name, may use it again"
			}
		}
	}
	if unread := slices.DeleteFunc(f.unreadOf(f.Table.CustomKinds()...), f.isElsewhere); len(unread) > 0 {
		return "a " + unread[0].Kind.String() + " may use it again, and these could not be read"
	}
	return ""
}

// isPart reports whether a part of a name begins and ends at a dash, or where the name does.
func isPart(name string, begin, end int) bool {
	return (begin == 0 || name[begin-1] == '-') && (end == len(name) || name[end] == '-')
}
