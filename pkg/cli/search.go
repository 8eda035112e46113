// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// searchOptions are the flags of the commands that look for findings.
type searchOptions struct {
	*terminal.Session
	cluster.Connection

	from, references  []string
	complete          bool
	operatorNamespace string
	progress          string
}

func (o *searchOptions) bindAll(flags *pflag.FlagSet) {
	flags.StringArrayVar(&o.from, "from", nil, "look at the objects of this file or directory of manifests instead of a cluster's (may be given several times)")
	flags.BoolVar(&o.complete, "complete", false, "with --from: the manifests hold all objects of the cluster, so it has none of the kinds that they do not hold")
	flags.StringArrayVar(&o.references, "references", nil, "a file that says which fields of custom resources name other objects, in addition to ConfigMap "+
		survey.DeclaredIn+" of the operator's namespace (may be given several times)")
	flags.StringVar(&o.operatorNamespace, "operator-namespace", "",
		"the operator's namespace (default: the environment variable NAMESPACE, or "+cluster.DefaultOperatorNamespace+")")
	flags.Var(terminal.NewChoice(&o.progress, terminal.ProgressAuto, terminal.ProgressPlain, terminal.ProgressJSON, terminal.ProgressNone), "progress",
		"how to show the progress of long work: auto, plain, json or none")
	o.Bind(flags)
}

// search is one reading of a cluster, or of manifests.
type search struct {
	options  *searchOptions
	api      *cluster.Client
	dump     *dump.Cluster // nil for a cluster
	reader   *selector.Reader
	catalog  selector.Catalog
	declared []graph.Source
	// namespace is the only one that is looked at. Empty for all.
	namespace string

	finder *finding.Finder
	// objects is how many were read, and unread what was not.
	objects int64
	unread  []unreadList
}

// unreadList is a list that could not be read.
type unreadList struct {
	finding.List
	err error
	// elsewhere is true when its objects of the namespace could be.
	elsewhere bool
}

// open connects, asks what is served, and reads which references are declared.
func (o *searchOptions) open(ctx context.Context) (*search, error) {
	s := &search{options: o}
	var err error
	if len(o.from) > 0 {
		if s.dump, err = dump.Load(o.Session, o.from); err != nil {
			return nil, err
		}
		for _, note := range s.dump.Notes {
			o.Note("%s", note)
		}
		s.dump.Partial = !o.complete
		s.api, err = cluster.New(o.Session, s.dump.Config())
	} else {
		s.api, err = cluster.Connect(o.Session, &o.Connection)
	}
	if err != nil {
		return nil, err
	}
	s.reader = selector.NewReader(s.api.Raw, cluster.Instant(o.Now()))
	if s.catalog, err = s.reader.Catalog(ctx); err != nil {
		return nil, cluster.RequestError("looking for findings", err)
	}
	return s, s.declare(ctx)
}

// declare reads the references that users declared. Manifests have no operator's namespace.
func (s *search) declare(ctx context.Context) error {
	sources, err := manifest.Read(s.options.Session, s.options.references)
	if err != nil {
		return err
	}
	for _, file := range sources {
		declared, err := graph.Parse(file.Text)
		if err != nil {
			return terminal.Fail(codes.ReferencesWrong, fmt.Errorf("%s: %s", file.Name, terminal.OneLine(err.Error())), "")
		}
		s.declared = append(s.declared, declared...)
	}
	if s.dump != nil {
		return nil
	}
	namespace := cmp.Or(s.options.operatorNamespace, s.options.Getenv("NAMESPACE"), cluster.DefaultOperatorNamespace)
	declared, err := survey.Declared(ctx, s.reader, namespace)
	switch {
	case apierrors.IsForbidden(err):
		s.options.Note("whether ConfigMap %s/%s declares more references is not known: you may not read it", namespace, survey.DeclaredIn)
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

// kind is the kind that somebody means who writes its name, its plural, or a short name, with a group after a dot if need be.
func (s *search) kind(word string) (object.Kind, error) {
	name, group, grouped := strings.Cut(strings.ToLower(word), ".")
	var known []string
	for i, kind := range s.catalog.Kinds {
		words := append([]string{kind.Kind, kind.Resource}, s.catalog.Words[i]...)
		for _, w := range words {
			if strings.ToLower(w) == name && name != "" && (!grouped || group == kind.Group) {
				return kind, nil
			}
		}
		known = append(known, words...)
	}
	hint := "list them with: kubectl api-resources"
	if near := suggest.Nearest(word, known); near != "" {
		hint = "did you mean " + terminal.Quoted(near) + "?"
	}
	where := "the cluster"
	if s.dump != nil {
		where = "the manifests"
	}
	err := fmt.Errorf("%s %s no kind %q that could be listed", where, map[bool]string{true: "have", false: "has"}[s.dump != nil], word)
	return object.Kind{}, terminal.Fail(codes.KindUnknown, err, hint)
}

// in sets the namespace. One that does not exist is an error, because in it nothing would be found.
func (s *search) in(ctx context.Context, namespace string) error {
	if s.namespace = namespace; namespace == "" || s.dump != nil && s.dump.HasNamespace(namespace) {
		return nil
	}
	kind := object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Namespace"), Resource: "namespaces"}
	_, err := s.reader.Object(ctx, kind, "", namespace)
	switch {
	case err == nil || apierrors.IsForbidden(err): // who may not read it may still list what is in it
		return nil
	case !apierrors.IsNotFound(err):
		return cluster.RequestError("reading namespace "+terminal.Quoted(namespace), err)
	}
	hint, names := "list them with: kubectl get namespaces", []string{}
	if s.reader.Each(ctx, selector.Ask{Kind: kind, MetadataOnly: true}, func(o object.Object) error {
		names = append(names, strings.Clone(o.Name))
		return nil
	}) == nil {
		if near := suggest.Nearest(namespace, names); near != "" {
			hint = "did you mean " + terminal.Quoted(near) + "?"
		}
	}
	return terminal.Fail(codes.NamespaceNotFound, errors.New("there is no namespace "+terminal.Quoted(namespace)), hint)
}

// look reads all that is needed. What cannot be read is kept for later; the error is that of who stopped the search.
func (s *search) look(ctx context.Context, options survey.Options) error {
	progress := s.options.StartProgress(s.options.progress)
	defer progress.Stop()
	progress.Together()
	progress.Begin("reading schemas", true)
	options.Now, options.Declared, options.Catalog, options.Namespace = s.options.Now(), s.declared, &s.catalog, s.namespace
	finder, err := survey.New(ctx, s.reader, options)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return cluster.RequestError("looking for findings", err)
	}
	s.finder = finder
	err = survey.Read(ctx, s.reader, finder, s.namespace, nil, survey.Observer{
		List: func(kind object.Kind, number, all int) {
			progress.Begin(fmt.Sprintf("reading %s (%d of %d)", kind.Kind, number, all), true)
		},
		Object: func() { s.objects++; progress.Count(1, 0) },
		Unread: func(list finding.List, err error, elsewhere bool) error {
			if ctx.Err() == nil {
				s.unread = append(s.unread, unreadList{list, err, elsewhere})
			}
			return unreachable(err)
		},
	})
	if err != nil && ctx.Err() == nil {
		return cluster.RequestError("looking for findings", err)
	}
	return err
}

// unreachable is the error, if the cluster does not answer at all: then there is no use in asking for the next list.
func unreachable(err error) error {
	var network *net.OpError
	if errors.As(err, &network) || apierrors.IsUnauthorized(err) {
		return err
	}
	return nil
}
