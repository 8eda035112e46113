// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// open connects, and reads the Cleaners.
func (j *job) open(ctx context.Context, names []string) (cleaners []*v1alpha1.Cleaner, err error) {
	if len(j.files) > 0 { // before there is a cluster: a mistake in a file needs none
		if cleaners, err = readCleaners(ctx, j.Session, j.scripts, j.files); err != nil {
			return nil, err
		}
	}
	if len(j.from) > 0 {
		if j.dump, err = dump.Load(j.Session, j.from); err != nil {
			return nil, err
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
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		cleaner, err := j.self.Cleaner(ctx, name)
		if err != nil {
			return nil, err
		}
		cleaners = append(cleaners, cleaner)
	}
	if len(names) > 0 {
		if err := j.self.Intact(ctx, ""); err != nil {
			j.Note("a run would do nothing at present, and the Cleaner may have lost fields that narrow it: %s", err)
		}
	}
	return cleaners, nil
}

// readCleaners reads Cleaners from files as lint does. What is wrong with them is told.
func readCleaners(ctx context.Context, s *terminal.Session, pool *sandbox.Pool, files []string) ([]*v1alpha1.Cleaner, error) {
	sources, err := manifest.Read(s, files)
	if err != nil {
		return nil, err
	}
	checker, err := check.New(s, pool)
	if err != nil {
		return nil, err
	}
	var cleaners []*v1alpha1.Cleaner
	var problems []manifest.Problem
	for _, source := range sources {
		docs, broken := source.Documents()
		problems = append(problems, broken...)
		for _, d := range docs {
			is, almost := check.IsCleaner(d)
			if almost != nil {
				problems = append(problems, *almost)
			}
			if !is {
				continue
			}
			checked, err := checker.Check(ctx, d)
			if err != nil {
				return nil, err
			}
			problems = append(problems, checked.Problems...)
			cleaners = append(cleaners, checked.Cleaner)
		}
	}
	for _, p := range problems {
		if p.Code.Severity() == codes.SeverityError {
			check.Print(s.ErrOut, s.Paint(s.ErrOut), p)
		}
	}
	if n := manifest.CountErrors(problems); n > 0 {
		return nil, terminal.Fail("", fmt.Errorf("%s in the Cleaners; nothing was judged", terminal.Counted(n, "error")), "see also: "+terminal.Program+" lint -f "+strings.Join(files, " "))
	}
	if len(cleaners) == 0 {
		return nil, terminal.Fail(codes.FileNoCleaner, errors.New("there is no Cleaner in "+strings.Join(files, " ")), "")
	}
	return cleaners, nil
}

// runner is what judges. Manifests have no metrics.
func (j *job) runner() *run.Runner {
	reader, protection := selector.NewReader(j.api.Raw, j.now), guard.Protection{Operator: j.operators(), Namespaces: j.protected()}
	operator, clk := reader, standing{Instant: j.now}
	if j.self != j.api {
		operator = selector.NewReader(j.self.Raw, j.now)
	}
	runner := &run.Runner{
		Check: run.Check{Identities: &run.Identities{Reader: reader, Clock: clk}, Scripts: j.scripts, Clock: clk},
		Read:  run.Read{Operator: operator, Protection: protection, Clock: clk},
		Judge: run.Judge{Protection: protection, MaxActions: j.maxActions},
	}
	if j.dump == nil {
		runner.Read.Declared = func(ctx context.Context) ([]graph.Source, error) { return j.declared(ctx, operator) }
		runner.Check.Queries = inputs.NewMetrics(nil, j.allowedHosts, j.api.Config.Host)
	}
	return runner
}

// declared are the references that users declared in the operator's namespace, as far as the user may read them.
func (o *options) declared(ctx context.Context, reader *selector.Reader) ([]graph.Source, error) {
	sources, err := survey.Declared(ctx, reader, o.operators())
	if apierrors.IsForbidden(err) {
		o.Note("whether ConfigMap %s/%s declares more references is not known: you may not read it", o.operators(), survey.DeclaredIn)
		return nil, nil
	}
	return sources, err
}

// operators is the operator's namespace.
func (o *options) operators() string {
	return cmp.Or(o.operatorNamespace, o.Getenv("NAMESPACE"), cluster.DefaultOperatorNamespace)
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
