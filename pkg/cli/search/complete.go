// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// Glance connects and asks what is served, to complete words. It says nothing.
func (o *Flags) Glance(ctx context.Context) (*Reading, error) {
	s := &Reading{Options: o}
	var err error
	if len(o.From) > 0 {
		if s.Dump, err = dump.Load(o.Session, o.From); err != nil {
			return nil, err
		}
		s.Dump.Partial = !o.Complete
		s.API, err = cluster.New(o.Session, s.Dump.Config())
	} else {
		s.API, err = cluster.Connect(o.Session, &o.Connection)
	}
	if err != nil {
		return nil, err
	}
	s.Reader = selector.NewReader(s.API.Raw, cluster.Instant(o.Now()))
	if s.Catalog, err = s.Reader.Catalog(ctx); err != nil {
		return nil, cluster.RequestError("looking for findings", err)
	}
	return s, nil
}

// Names are those of the objects of a kind. Nil where they cannot be read.
func (s *Reading) Names(ctx context.Context, kind object.Kind, namespace string) (names []string) {
	err := s.Reader.Each(
		ctx,
		selector.Ask{Kind: kind, Namespace: namespace, MetadataOnly: true},
		func(o object.Object) error {
			names = append(names, strings.Clone(o.Name))
			return nil
		},
	)
	if err != nil {
		return nil
	}
	return names
}

// Namespaces is the kind of namespaces.
var Namespaces = object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Namespace"), Resource: "namespaces"}

// CompleteNamespaces completes the names of namespaces.
func (o *Flags) CompleteNamespaces(
	cmd *cobra.Command,
	_ []string,
	_ string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	s, err := o.Glance(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return s.Names(cmd.Context(), Namespaces, ""), cobra.ShellCompDirectiveNoFileComp
}

// CompleteKinds completes the last of several kinds that have findings. Without a cluster to ask it knows Kubernetes'
// own.
func (o *Flags) CompleteKinds(
	cmd *cobra.Command,
	_ []string,
	begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	var words []string
	s, err := o.Glance(cmd.Context())
	for _, kind := range finding.Kinds() {
		if err != nil || s.serves(kind.String()) {
			words = append(words, kind.Kind)
		}
	}
	return terminal.CompleteLast(begun, words)
}

// CompleteServed completes the last of several kinds that the cluster serves.
func (o *Flags) CompleteServed(
	cmd *cobra.Command,
	_ []string,
	begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	s, err := o.Glance(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, kind := range s.Catalog.Kinds {
		words = append(words, kind.Kind)
	}
	return terminal.CompleteLast(begun, words)
}

func (s *Reading) serves(kind string) bool {
	for _, served := range s.Catalog.Kinds {
		if served.GroupKind().String() == kind {
			return true
		}
	}
	return false
}

// CompleteNames completes the names of a kind's objects, in the namespace if they have one.
func (o *Flags) CompleteNames(
	ctx context.Context,
	word, namespace string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	job, err := o.Glance(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	meant := job.meant(word)
	if len(meant) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	kind := meant[0]
	if !kind.Namespaced {
		namespace = ""
	} else if namespace == "" && job.Dump == nil {
		namespace = o.Namespace()
	}
	return job.Names(ctx, kind, namespace), cobra.ShellCompDirectiveNoFileComp
}

// CompleteObjects completes KIND/NAMESPACE/NAME, or KIND/NAME for objects without a namespace.
func (o *Flags) CompleteObjects(
	cmd *cobra.Command,
	_ []string,
	begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	const unfinished = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	job, err := o.Glance(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []cobra.Completion
	parts := strings.Split(begun, "/")
	if len(parts) == 1 {
		for _, kind := range job.Catalog.Kinds {
			found = append(found, kind.Kind+"/")
		}
		return found, unfinished
	}
	meant := job.meant(parts[0])
	if len(meant) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	kind := meant[0]
	prefix, directive, namespace, suffix := parts[0]+"/", cobra.ShellCompDirectiveNoFileComp, "", ""
	switch {
	case len(parts) == 2 && kind.Namespaced:
		kind = Namespaces
		directive, suffix = unfinished, "/"
	case len(parts) == 3 && kind.Namespaced:
		prefix, namespace = prefix+parts[1]+"/", parts[1]
	case len(parts) != 2:
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, name := range job.Names(cmd.Context(), kind, namespace) {
		found = append(found, prefix+name+suffix)
	}
	return found, directive
}
