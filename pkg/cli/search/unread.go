// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// Unread is a kind, or a group of kinds, whose objects could not be read.
type Unread struct {
	Kind  string `json:"kind"`
	Group string `json:"group,omitempty"`
	// Resource and Namespace say what may not be listed. The namespace is empty for the whole cluster.
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Name is that of the only object that is needed: the ConfigMap in which references are declared. Empty for a list.
	Name string `json:"name,omitempty"`
	// Elsewhere is true when only the objects of other namespaces could not be read.
	Elsewhere bool   `json:"elsewhere,omitempty"`
	Forbidden bool   `json:"forbidden"`
	Error     string `json:"error,omitempty"`
}

// NewUnread is a source that could not be read, for programs.
func NewUnread(u finding.Unread) Unread {
	found := Unread{
		Kind: u.Kind.Kind, Group: u.Kind.Group, Elsewhere: u.Elsewhere,
		Forbidden: apierrors.IsForbidden(u.Err), Error: terminal.OneLine(u.Err.Error()),
	}
	if declared := (*survey.DeclaredError)(nil); errors.As(u.Err, &declared) {
		found.Kind, found.Group, found.Resource = "ConfigMap", "", "configmaps"
		found.Namespace, found.Name = declared.Namespace, survey.DeclaredIn
	}
	return found
}

// Describe is a list that could not be read, for programs.
func (s *Reading) Describe(u UnreadList) Unread {
	found := Unread{
		Kind: u.Kind.Kind, Group: u.Kind.Group, Resource: u.Kind.Resource, Elsewhere: u.Elsewhere,
		Forbidden: apierrors.IsForbidden(u.err), Error: terminal.OneLine(u.err.Error()),
	}
	if u.Kind.Namespaced && !u.Everywhere {
		found.Namespace = s.Namespace
	}
	return found
}

// Undeclared are the references that are declared, if they may not be read.
func (s *Reading) Undeclared() []Unread {
	if s.undeclared == nil || !survey.MayDeclare(&s.Catalog) {
		return nil
	}
	return []Unread{NewUnread(finding.Unread{Err: s.undeclared})}
}

// Words name a kind, all kinds of a group, or the references that are declared in one object.
func (u Unread) Words() string {
	switch {
	case u.Name != "":
		return (&survey.DeclaredError{Namespace: u.Namespace}).What()
	case u.Kind == "*":
		return "all of " + u.Group
	case u.Elsewhere:
		return u.Kind + " of other namespaces"
	}
	return u.Kind
}

// UnreadWords names the kinds.
func UnreadWords(unread []Unread) string {
	var words []string
	for _, u := range unread {
		words = append(words, u.Words())
	}
	slices.Sort(words)
	return terminal.Shortened(slices.Compact(words), terminal.MaxNames)
}

// UnreadError says what could not be read: how many kinds or lists, and the references that are declared.
func UnreadError(unread []Unread, kind string) error {
	lists := slices.DeleteFunc(slices.Clone(unread), func(u Unread) bool { return u.Name != "" })
	n := len(lists)
	if n == len(unread) {
		return fmt.Errorf("%s could not be read: %s", terminal.Counted(n, kind), UnreadWords(lists))
	}
	declared := unread[slices.IndexFunc(unread, func(u Unread) bool { return u.Name != "" })].Words()
	if n == 0 {
		return fmt.Errorf("%s could not be read", declared)
	}
	return fmt.Errorf("%s and %s could not be read: %s", terminal.Counted(n, kind), declared, UnreadWords(lists))
}

// OneNamespaceHint says how to come by the objects of other namespaces.
const OneNamespaceHint = "the manifests are of one namespace only; dump all namespaces (-A)"

// ManifestsHint says how to come by what manifests do not hold: otherwise, unless they are of one namespace only.
func ManifestsHint(unread []Unread, otherwise string) string {
	if slices.ContainsFunc(unread, func(u Unread) bool { return u.Elsewhere }) {
		return OneNamespaceHint
	}
	return otherwise
}
