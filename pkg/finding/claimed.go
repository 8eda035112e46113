// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"slices"
	"unique"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// shortestPart is how long the name of a custom resource must be to be looked for in other names. A single letter
// is in many.
const shortestPart = 2

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
			return maker.String() + " may use it again: a label of the object has that name"
		}
	}
	for i := range len(c.name) {
		for j := i + shortestPart; j <= len(c.name); j++ {
			if !isPart(c.name, i, j) {
				continue
			}
			maker, is := f.graph.Custom(c.namespace, c.name[i:j])
			if !is {
				maker, is = f.graph.ClusterCustom(c.name[i:j])
			}
			if is {
				return maker.String() + " may use it again: that name is a part of the object's name"
			}
		}
	}
	if unread := slices.DeleteFunc(f.unreadOf(f.Table.CustomKinds()...), f.isElsewhere); len(unread) > 0 {
		return "a " + unread[0].Kind.String() + " may use it again, and these could not be read"
	}
	return ""
}

// madeOfName says which custom resource a ConfigMap or a Secret may be for by its name, as orders-password is for the
// Database orders: a controller may put the name together, and then it stands nowhere. Empty when there is none.
func (f *Finder) madeOfName(c *candidate) string {
	if !c.row.isReadable() {
		return ""
	}
	for i := shortestPart; i <= len(c.name); i++ {
		if i < len(c.name) && c.name[i] != '-' && c.name[i] != '.' {
			continue
		}
		if maker, is := f.graph.Undescribed(c.namespace, c.name[:i]); is {
			return maker.String() + " may read it: the object's name begins with that name"
		}
	}
	return ""
}

// isPart reports whether a part of a name begins and ends at a dash, or where the name does.
func isPart(name string, begin, end int) bool {
	return (begin == 0 || name[begin-1] == '-') && (end == len(name) || name[end] == '-')
}
