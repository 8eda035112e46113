// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package search looks for findings: in a cluster or in manifests, in all namespaces or in one. What cannot be read is
// kept, because then something is unknown. scan shows all that was found, why what is known of one object.
package search

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// Flags are the flags of the commands that look for findings.
type Flags struct {
	*terminal.Session
	cluster.Connection

	From, references  []string
	Complete          bool
	operatorNamespace string
	progress, at      string
}

// BindAll adds the flags.
func (o *Flags) BindAll(flags *pflag.FlagSet) {
	flags.StringArrayVar(
		&o.From,
		"from",
		nil,
		"look at the objects of this file or directory of manifests, or - for the standard input, instead of a cluster's (may be given several times)",
	)
	flags.BoolVar(
		&o.Complete,
		"complete",
		false,
		"with --from: assume that the manifests hold all objects of the cluster, and that the cluster has no objects of other kinds",
	)
	flags.StringArrayVar(
		&o.references,
		"references",
		nil,
		"a file that says which fields of custom resources name other objects, in addition to ConfigMap "+
			survey.DeclaredIn+" of the operator's namespace (may be given several times)",
	)
	flags.StringVar(&o.at, "now", "",
		"judge as if it were this time, for example 2026-12-24T18:00:00Z: the time at which --from was written")
	cluster.InOperatorNamespace(flags, &o.operatorNamespace)
	flags.Var(terminal.ProgressChoice(&o.progress), "progress",
		"how to show the progress of long work: auto, plain, json or none")
	o.Bind(flags)
}

// HasReferences reports whether files say which fields name other objects. The operator does not have them.
func (o *Flags) HasReferences() bool { return len(o.references) > 0 }

// Reading is one reading of a cluster, or of manifests.
type Reading struct {
	Options  *Flags
	API      *cluster.Client
	Dump     *dump.Cluster // nil for a cluster
	Reader   *selector.Reader
	Catalog  selector.Catalog
	declared []graph.Source
	// undeclared is why what users declared in the cluster may not be read.
	undeclared error
	// Namespace is the only one that is looked at. Empty for all.
	Namespace string

	Finder *finding.Finder
	// Objects is how many were read, and Unread what was not.
	Objects int64
	Unread  []UnreadList
	// readable are the kinds whose lists were begun: false of those that could not be read.
	readable map[schema.GroupKind]bool
}

// UnreadList is a list that could not be read.
type UnreadList struct {
	finding.List
	err error
	// Elsewhere is true when its objects of the namespace could be.
	Elsewhere bool
}

// Open connects, asks what is served, and reads which references are declared.
func (o *Flags) Open(ctx context.Context) (*Reading, error) {
	s, err := o.Glance(ctx)
	if err != nil {
		return nil, err
	}
	if s.Dump != nil {
		for _, note := range s.Dump.Notes {
			o.Note("%s", note)
		}
	}
	return s, s.declare(ctx)
}

// declare reads the references that users declared, also in manifests.
func (s *Reading) declare(ctx context.Context) error {
	sources, err := manifest.Read(s.Options.Session, s.Options.references)
	if err != nil {
		return err
	}
	var errs []error
	for _, file := range sources {
		declared, err := graph.Parse(file.Text, survey.Mistaken(&s.Catalog))
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				errs = append(errs, fmt.Errorf("%s: %s", file.Name, terminal.OneLine(line)))
			}
		}
		s.declared = append(s.declared, declared...)
	}
	if err := errors.Join(errs...); err != nil {
		return terminal.Fail(codes.ReferencesWrong, err, "")
	}
	if err := s.declareInstalled(ctx); err != nil {
		return err
	}
	kinds := survey.Unserved(&s.Catalog, s.declared)
	if len(kinds) > 0 && s.Dump == nil { // manifests need not have objects of all kinds
		s.Options.Note("%s", survey.UnservedWords(kinds))
	}
	return nil
}

// declareInstalled reads what is declared in the operator's namespace.
func (s *Reading) declareInstalled(ctx context.Context) error {
	namespace := s.Options.Operator()
	declared, err := survey.Declared(ctx, s.Reader, &s.Catalog, namespace)
	switch {
	case apierrors.IsForbidden(err):
		s.undeclared = err
		if !survey.MayDeclare(&s.Catalog) { // otherwise it is said of each object
			s.Options.Note("%s", survey.UnreadNote(namespace))
		}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown && unreachable(err) == nil:
		return terminal.Fail(codes.ReferencesWrong, err, "")
	case err != nil:
		return cluster.RequestError("looking for findings", err)
	}
	s.declared = append(s.declared, declared...)
	return nil
}

// In sets the namespace. One that does not exist is an error, because in it nothing would be found.
func (s *Reading) In(ctx context.Context, namespace string) error {
	if s.Namespace = namespace; namespace == "" || s.Dump != nil && s.Dump.HasNamespace(namespace) {
		return nil
	}
	_, err := s.Reader.Object(ctx, Namespaces, "", namespace)
	switch {
	case err == nil && s.Dump != nil && s.Dump.OnlyNamespace() != "":
		return terminal.Fail(codes.NamespaceNotFound,
			fmt.Errorf("the manifests hold objects of namespace %s only, and nothing of %q", s.Dump.OnlyNamespace(), namespace),
			addManifests+"; if it holds nothing, add --complete")
	case err == nil || apierrors.IsForbidden(err): // who may not read it may still list what is in it
		return nil
	case !apierrors.IsNotFound(err):
		return cluster.RequestError("reading namespace "+terminal.Quoted(namespace), err)
	}
	return s.noNamespace(ctx, namespace)
}

// noNamespace says that there is no such namespace, and which one may be meant.
func (s *Reading) noNamespace(ctx context.Context, namespace string) error {
	what, hint := "there is no namespace "+terminal.Quoted(namespace), "list them with: kubectl get namespaces"
	if s.Dump != nil {
		what, hint = what+" in the manifests", addManifests
	}
	if near := suggest.Nearest(namespace, s.Names(ctx, Namespaces, "")); near != "" {
		hint = "did you mean " + terminal.Quoted(near) + "?"
	}
	return terminal.Fail(codes.NamespaceNotFound, errors.New(what), hint)
}

const addManifests = "add the manifests of that namespace"

// Look reads all that is needed. What cannot be read is kept for later; the error is that of who stopped the search.
func (s *Reading) Look(ctx context.Context, options survey.Options) error {
	progress := s.Options.StartProgress(s.Options.progress)
	defer progress.Stop()
	progress.Together()
	progress.Begin("reading schemas", true)
	options.Now, options.Catalog, options.Namespace = s.Options.Now(), &s.Catalog, s.Namespace
	options.Declared, options.DeclaredUnread = s.declared, s.undeclared
	if s.Dump != nil {
		options.OnlyOf = s.Dump.OnlyNamespace()
	}
	finder, err := survey.New(ctx, s.Reader, options)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return cluster.RequestError("looking for findings", err)
	}
	s.Finder, s.readable = finder, map[schema.GroupKind]bool{}
	err = survey.Read(ctx, s.Reader, finder, s.Namespace, nil, survey.Observer{
		List: func(kind object.Kind, number, all int) {
			progress.Begin(fmt.Sprintf("reading %s (%d of %d)", kind.Kind, number, all), true)
			if _, begun := s.readable[kind.GroupKind()]; !begun { // a kind may have several lists
				s.readable[kind.GroupKind()] = true
			}
		},
		Object: func() { s.Objects++; progress.Count(1, 0) },
		Unread: func(list finding.List, err error, elsewhere bool) error {
			if !elsewhere {
				s.readable[list.Kind.GroupKind()] = false
			}
			if ctx.Err() == nil {
				s.Unread = append(s.Unread, UnreadList{list, err, elsewhere})
			}
			return unreachable(err)
		},
	})
	s.Unread = withoutRepeats(s.Unread)
	if err != nil && ctx.Err() == nil {
		return cluster.RequestError("looking for findings", err)
	}
	return err
}

// withoutRepeats leaves out a list whose objects pass in another list that could not be read either.
func withoutRepeats(unread []UnreadList) []UnreadList {
	return slices.DeleteFunc(slices.Clone(unread), func(u UnreadList) bool {
		return u.Again && slices.ContainsFunc(unread, func(other UnreadList) bool {
			return !other.Again && other.Kind == u.Kind
		})
	})
}

// Kinds is of how many kinds objects were read.
func (s *Reading) Kinds() (n int) {
	for _, read := range s.readable {
		if read {
			n++
		}
	}
	return n
}

// unreachable is the error, if the cluster does not answer at all: then there is no use in asking for the next list.
func unreachable(err error) error {
	var network *net.OpError
	if errors.As(err, &network) || apierrors.IsUnauthorized(err) {
		return err
	}
	return nil
}
