// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/identity"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
	"github.com/kubecleaner/kubecleaner/pkg/validate"
)

// open connects, and reads the Cleaners.
func (j *job) open(ctx context.Context, names []string) (cleaners []*v1alpha1.Cleaner, err error) {
	if len(j.files) > 0 { // before there is a cluster: a mistake in a file needs none
		if cleaners, err = j.readCleaners(ctx); err != nil {
			return nil, err
		}
	}
	if err := j.connect(); err != nil {
		return nil, err
	}
	if err := j.checkNamespaces(ctx); err != nil {
		return nil, err
	}
	if len(j.files) == 0 {
		if cleaners, err = j.self.Chosen(ctx, names, j.wanted); err != nil {
			return nil, err
		}
	}
	if j.dump == nil {
		j.checkIntact(ctx)
	}
	return cleaners, nil
}

// checkIntact takes note that the API server drops fields of Cleaners. One that was stored may have lost some already.
func (j *job) checkIntact(ctx context.Context) {
	lacks := j.self.Dropped(ctx)
	if lacks == "" {
		return
	}
	j.drops = true
	narrows := ", and the Cleaner may have lost fields that narrow it"
	if len(j.files) > 0 {
		narrows = ", and a Cleaner that you apply now loses fields"
	}
	j.Note("a run would do nothing at present%s: %s", narrows, lacks)
}

// connect connects to the cluster, or reads the manifests that answer instead of one.
func (j *job) connect() (err error) {
	if len(j.from) > 0 {
		if j.dump, err = dump.Load(j.Session, j.from); err != nil {
			return err
		}
		for _, note := range j.dump.Notes {
			j.Note("%s", note)
		}
		j.api, err = cluster.New(j.Session, j.dump.Config())
	} else {
		j.api, err = cluster.Connect(j.Session, &j.Connection)
	}
	if j.self = j.api; err == nil && j.dump == nil && j.Overrides.AuthInfo.Impersonate != "" {
		j.self, err = cluster.ConnectAsYourself(j.Session, &j.Connection)
	}
	return err
}

// checkNamespaces refuses a namespace of --namespace that does not exist: nothing would be found in it. Whoever may not
// read it may still list what is in it.
func (j *job) checkNamespaces(ctx context.Context) error {
	for _, namespace := range j.namespaces {
		if j.dump != nil && j.dump.HasNamespace(namespace) {
			continue
		}
		var found corev1.Namespace
		err := j.api.Read(ctx, "/api/v1/namespaces/"+url.PathEscape(namespace), &found)
		switch {
		case apierrors.IsNotFound(err):
			return terminal.Fail(
				codes.NamespaceNotFound,
				errors.New("there is no namespace "+terminal.Quoted(namespace)),
				"list them with: kubectl get namespaces",
			)
		case err != nil && !apierrors.IsForbidden(err):
			return cluster.RequestError("reading namespace "+terminal.Quoted(namespace), err)
		}
	}
	return nil
}

// readCleaners reads Cleaners from files as lint does, those that have no error. What is wrong with the others is
// reported.
func (j *job) readCleaners(ctx context.Context) ([]*v1alpha1.Cleaner, error) {
	sources, err := manifest.Read(j.Session, j.files)
	if err != nil {
		return nil, err
	}
	checker, err := check.New(j.Session, j.scripts)
	if err != nil {
		return nil, err
	}
	var cleaners []*v1alpha1.Cleaner
	var problems []manifest.Problem
	j.documents = map[*v1alpha1.Cleaner]*manifest.Document{}
	for _, source := range sources {
		docs, broken := source.Documents()
		problems = append(problems, broken...)
		for _, d := range docs {
			is, almost := check.IsCleaner(d)
			if almost != nil {
				problems = append(problems, *almost)
			}
			if !is {
				j.others++
				continue
			}
			checked, err := checker.Check(ctx, d)
			if err != nil {
				return nil, err
			}
			problems = append(problems, checked.Problems...)
			if manifest.CountErrors(checked.Problems) == 0 {
				cleaners = append(cleaners, checked.Cleaner)
				j.documents[checked.Cleaner] = d
			}
		}
	}
	return cleaners, j.reportProblems(cleaners, problems)
}

// reportProblems reports the errors in files. It is an error itself when nothing is left to judge.
func (j *job) reportProblems(cleaners []*v1alpha1.Cleaner, problems []manifest.Problem) error {
	for _, p := range problems {
		switch p.Code.Severity() {
		case codes.SeverityError:
			check.Print(j.ErrOut, j.Paint(j.ErrOut), p)
		case codes.SeverityWarning:
			j.warnings++
		}
	}
	n := manifest.CountErrors(problems)
	switch {
	case n > 0 && len(cleaners) == 0:
		return terminal.Fail("", fmt.Errorf("%s in the Cleaners; nothing was judged", terminal.Counted(n, "error")), "")
	case n > 0:
		j.fails(codes.ExitError)
		j.Note(
			"%s in the files; only the %s without any %s judged",
			terminal.Counted(n, "error"),
			terminal.Counted(len(cleaners), "Cleaner"),
			terminal.Plural(int64(len(cleaners)), "is", "are"),
		)
	case len(cleaners) == 0:
		return terminal.Fail(codes.FileNoCleaner, errors.New("there is no Cleaner in "+strings.Join(j.files, " ")), "")
	}
	return nil
}

// runner is what judges. Manifests have no metrics.
func (j *job) runner() *run.Runner {
	reader, protection := selector.NewReader(
		j.api.Raw,
		j.now,
	), guard.Protection{
		Operator:   j.operators(),
		Namespaces: j.protected(),
	}
	operator, clk := reader, standing{Instant: j.now}
	if j.self != j.api {
		operator = selector.NewReader(j.self.Raw, j.now)
	}
	runner := &run.Runner{
		Check: run.Check{Validator: validate.Validator{
			Identities: &identity.Identities{Reader: reader, Clock: clk}, Scripts: j.scripts, Clock: clk,
		}},
		Read:  run.Read{Protected: survey.Protected{Protection: protection, Operator: operator}, Clock: clk},
		Judge: run.Judge{Protection: protection, MaxActions: j.maxActions},
	}
	runner.Read.Survey = func(ctx context.Context, options *survey.Options) error {
		return j.declare(ctx, operator, options)
	}
	if j.dump == nil {
		runner.Check.Queries = inputs.NewMetrics(nil, j.allowedHosts, j.api.Config.Host)
	}
	return runner
}

// declare adds the references that users declared in the operator's namespace, as far as the user may read them, and
// which namespace is the only one of the manifests.
func (j *job) declare(ctx context.Context, operator *selector.Reader, options *survey.Options) error {
	if j.dump != nil {
		options.OnlyOf = j.dump.OnlyNamespace()
	}
	err := options.Declare(ctx, operator, j.operators())
	if options.DeclaredUnread != nil {
		j.Note("%s", survey.UnreadNote(j.operators()))
	}
	return err
}

// operators is the operator's namespace.
func (o *options) operators() string {
	return cluster.OperatorNamespace(o.operatorNamespace)
}

// protected are the namespaces that the operator protects.
func (o *options) protected() []string {
	var names []string
	for name := range strings.SplitSeq(o.protectedNamespaces, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
