// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rights knows which rights Cleaners need, where and why: as Roles for an account, and as questions to the API
// server.
package rights

import (
	"slices"
)

// Right is a verb on a resource.
type Right struct {
	Verb, Group string
	// Resource may have a subresource: "pods/log".
	Resource string
	// Namespace is empty for the whole cluster, and Name for objects of any name.
	Namespace, Name string
	// Why says who needs it, and for what. Empty when that needs no words.
	Why string
	// Optional is true of a right without which a run does its work in most cases.
	Optional bool
}

// String is the right as an error of the API server says it: "list configmaps in namespace a".
func (r Right) String() string {
	text := r.Verb + " " + r.Resource
	if r.Group != "" {
		text += "." + r.Group
	}
	if r.Name != "" {
		text += " " + r.Name
	}
	if r.Namespace != "" {
		return text + " in namespace " + r.Namespace
	}
	return text + " in all namespaces"
}

// covers reports whether who has r needs no other right for what other asks.
func (r Right) covers(other Right) bool {
	return r.Verb == other.Verb && r.Group == other.Group && r.Resource == other.Resource &&
		(r.Namespace == "" || r.Namespace == other.Namespace) && (r.Name == "" || r.Name == other.Name)
}

// Least leaves out what others cover. Why it was asked for is kept, with the right that covers it.
func Least(all []Right) []Right {
	var kept []Right
	for _, right := range all {
		if right = widest(all, right); !slices.Contains(kept, right) {
			kept = append(kept, right)
		}
	}
	return kept
}

// widest is the right that covers a right and is covered by no other, with the reason of the first.
func widest(all []Right, right Right) Right {
	for _, other := range all {
		if other.covers(right) && !right.covers(other) {
			other.Why, other.Optional = right.Why, right.Optional
			return widest(all, other)
		}
	}
	return right
}
