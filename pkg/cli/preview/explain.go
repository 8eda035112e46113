// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/explain"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// explain says of each object of --only that was not found to match why it does not.
func (j *job) explain(ctx context.Context, runner *run.Runner, cleaner *v1alpha1.Cleaner, found *run.Preview) error {
	for _, wanted := range j.only {
		isFound := false
		for _, item := range found.Items {
			isFound = isFound || wanted.Is(item.Object)
		}
		if isFound {
			continue
		}
		if err := j.explainOne(ctx, runner, cleaner, wanted, found.Incomplete == nil); err != nil {
			var f *terminal.Failure
			if j.several && errors.As(err, &f) { // of another Cleaner, maybe
				j.Note("%s: %s", cleaner.Name, err)
				continue
			}
			return err
		}
	}
	return nil
}

// explainOne asks each selector about an object. complete is false when aggregatedSelection was not asked, because not
// all that it needs was read.
func (j *job) explainOne(
	ctx context.Context,
	runner *run.Runner,
	cleaner *v1alpha1.Cleaner,
	wanted cluster.Ref,
	complete bool,
) error {
	session := j.scripts.Open(sandbox.Options{Now: j.now.Now(), Seed: j.now.Now().Unix()})
	defer session.Close()
	t := &explain.Judge{Cleaner: cleaner, Session: session, Now: j.now.Now(), Namespaces: map[string]labels.Set{}}
	var err error
	if t.Finds, err = runner.Lookup(ctx, cleaner); err != nil {
		return err
	}
	asks := selector.Judge{Metrics: runner.Check.Queries.For(cleaner.Spec.ServiceAccountRef)}
	if err = t.Open(func(v1alpha1.ResourceSelector) (selector.Judge, error) { return asks, nil }); err != nil {
		return err
	}
	o, err := j.find(ctx, runner, cleaner, t.Selectors, wanted)
	if err != nil {
		return err
	}
	t.ReadNamespace(ctx, runner.Read.Operator, o.Namespace)
	metadata, err := apiserver.Metadata(o)
	if err != nil {
		return err
	}
	aggregated := cleaner.Spec.ResourcePolicySet.AggregatedSelection != ""
	verdict := t.Verdict(ctx, &explain.Subject{Object: o, Metadata: metadata})
	j.noteVerdict(terminal.OneLine(o.String()), verdict, aggregated, complete)
	return nil
}

// noteVerdict says what the selectors, and the script after them, say of an object that was not found to match.
func (j *job) noteVerdict(name string, verdict explain.Verdict, aggregated, complete bool) {
	switch {
	case verdict.Err != nil:
		j.Note("%s could not be judged: %s", name, terminal.OneLine(verdict.Err.Error()))
	case verdict.Matches && aggregated && !complete:
		j.Note("%s matches a selector; aggregatedSelection was not asked, because not everything could be read", name)
	case verdict.Matches && aggregated:
		j.Note("%s does not match: aggregatedSelection did not choose it", name)
	case verdict.Matches:
		j.Note("%s matches now. It did not match when it was listed, because it changed in between", name)
	default:
		j.Note("%s does not match:\n  %s", name, strings.Join(verdict.Refusals, "\n  "))
	}
}

// find reads an object of one of the kinds that the Cleaner looks at.
func (j *job) find(
	ctx context.Context,
	runner *run.Runner,
	cleaner *v1alpha1.Cleaner,
	selectors []*selector.Selector,
	wanted cluster.Ref,
) (object.Object, error) {
	var kinds []string
	var failed error
	for i, spec := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		kinds = append(kinds, spec.Kind)
		if !terminal.IsCalled(schema.GroupKind{Group: spec.Group, Kind: spec.Kind}, wanted.Kind) {
			continue
		}
		kind, err := selectors[i].Resolve(ctx, runner.Read.Operator)
		if err != nil {
			failed = err
			continue
		}
		if kind.Namespaced != (wanted.Namespace != "") {
			shape := map[bool]string{true: "write KIND/NAMESPACE/NAME", false: "write KIND/NAME"}[kind.Namespaced]
			failed = terminal.Fail(
				codes.ObjectNotFound,
				fmt.Errorf(
					"--only %s: a %s has %s namespace",
					wanted,
					kind.Kind,
					map[bool]string{true: "a", false: "no"}[kind.Namespaced],
				),
				shape,
			)
			continue
		}
		raw, err := cluster.Send(ctx, j.api.Raw.Get().AbsPath(kind.Path(wanted.Namespace, wanted.Name)))
		switch {
		case err == nil:
			return object.New(kind, raw)
		case apierrors.IsNotFound(err):
			failed = terminal.Fail(codes.ObjectNotFound, fmt.Errorf("--only %s: there is no such object", wanted), "")
		default:
			failed = cluster.RequestError("reading "+wanted.String(), err)
		}
	}
	if failed == nil {
		failed = terminal.Fail(
			codes.ObjectNotFound,
			fmt.Errorf("--only %s: no selector of cleaner %q looks at that kind", wanted, cleaner.Name),
			"it looks at: "+strings.Join(kinds, ", "),
		)
	}
	return object.Object{}, failed
}
