// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// search is where the users of a row's objects were looked for, when all lists were read. It is the same for all of them.
type search struct {
	// kinds is how many of the kinds that can name them the cluster serves.
	kinds int
	// unread are those that could not be read.
	unread []Unread
	// inVain says that no user was found in any.
	inVain string
}

// searchFor is the search of a row, whose objects the sources can name.
func (f *Finder) searchFor(r *row, sources func() []schema.GroupKind) *search {
	if s := f.searches[r]; s != nil {
		return s
	}
	kinds := sources()
	s := &search{unread: f.unreadUsers(kinds, r.kind)}
	f.searches[r] = s
	var last schema.GroupKind
	for _, kind := range kinds {
		if _, served := f.served[kind]; served {
			s.kinds, last = s.kinds+1, kind
		}
	}
	s.inVain = fmt.Sprintf("none of %d kinds names it", s.kinds)
	if s.kinds == 1 {
		s.inVain = fmt.Sprintf("no %s names it", last.Kind)
	}
	return s
}
