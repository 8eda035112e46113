// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// Kind is the kind that somebody means who writes its name, its plural, or a short name, with a group after a dot if
// need be. If kinds of several groups have that name, it is the first, as with kubectl, and a note names the others.
func (s *Reading) Kind(word string) (object.Kind, error) {
	meant := s.meant(word)
	if len(meant) == 0 {
		return object.Kind{}, s.noKind(word)
	}
	var others []string
	for _, kind := range meant[1:] {
		others = append(others, kind.GroupKind().String())
	}
	if len(others) > 0 {
		s.Options.Note("%s means %s; to ask about another kind of that name, write %s",
			terminal.Quoted(word), meant[0].GroupKind(), strings.Join(others, " or "))
	}
	return meant[0], nil
}

// meant are the kinds that a word may mean, of each group one.
func (s *Reading) meant(word string) (kinds []object.Kind) {
	name, group, grouped := strings.Cut(strings.ToLower(word), ".")
	for i, kind := range s.Catalog.Kinds {
		means := func(w string) bool { return strings.EqualFold(w, name) }
		if name == "" || grouped && group != kind.Group || !slices.ContainsFunc(s.words(i), means) {
			continue
		}
		same := func(known object.Kind) bool { return known.GroupKind() == kind.GroupKind() }
		if !slices.ContainsFunc(kinds, same) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// words are all that the i-th kind of the catalog is called.
func (s *Reading) words(i int) []string {
	kind := s.Catalog.Kinds[i]
	return append([]string{kind.Kind, kind.Resource}, s.Catalog.Words[i]...)
}

// noKind says that a word means no kind, and which one may be meant.
func (s *Reading) noKind(word string) error {
	var known []string
	for i := range s.Catalog.Kinds {
		known = append(known, s.words(i)...)
	}
	hint := "list them with: kubectl api-resources"
	if near := suggest.Nearest(word, known); near != "" {
		hint = "did you mean " + terminal.Quoted(near) + "?"
	}
	where := "the cluster has"
	if s.Dump != nil {
		where = "the manifests have"
	}
	return terminal.Fail(codes.KindUnknown, fmt.Errorf("%s no kind %q that could be listed", where, word), hint)
}
