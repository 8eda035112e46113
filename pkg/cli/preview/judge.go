// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// preview previews one Cleaner. What goes wrong with it is reported and decides how the command exits; an error ends
// the command.
func (j *job) preview(ctx context.Context, cleaner *v1alpha1.Cleaner) error {
	if j.dump != nil {
		j.dump.Partial = !j.complete && // a kind of which it holds nothing may use anything
			(cleaner.HasFindings() || cleaner.Spec.ResourcePolicySet.AggregatedSelection != "")
		notes, missing := j.dump.Expect(cleaner)
		for _, note := range notes {
			j.Note("%s: %s", cleaner.Name, note)
		}
		j.missing = append(j.missing, missing...)
	}
	runner := j.runner()
	if j.dump == nil { // manifests come without schemas
		if err := checkTypes(ctx, runner, cleaner); err != nil {
			return err
		}
	}
	live := j.watch(runner, cleaner)
	found, err := runner.Preview(ctx, cleaner, live.observer(ctx))
	if err == nil {
		live.forbidden, live.denied = j.deny(ctx, found)
		live.refused = j.askServer(ctx, live, found)
	}
	live.progress.Stop()
	if ctx.Err() != nil {
		live.flush("")
		live.progress.Beside(j.rows.Flush) // no other Cleaner follows
		j.Note(
			"stopped after judging %s, of which %s; nothing was changed",
			terminal.Grouped(live.considered, "object"),
			terminal.MatchWords(live.matched),
		)
		return terminal.OrStopped(ctx, context.Cause(ctx))
	}
	if err != nil {
		return invalid(cleaner, terminal.OneLine(err.Error()))
	}
	if unreachable := unreachable(found); unreachable != nil {
		return unreachable
	}
	j.reportRest(live, found)
	return j.report(ctx, live, found)
}

// unreachable says that the cluster did not answer at all: then no other Cleaner can be judged either, and one line
// says so.
func unreachable(found *run.Preview) error {
	var network *net.OpError
	if found.Considered > 0 || !errors.As(found.Incomplete, &network) {
		return nil
	}
	return terminal.Fail(
		codes.ClusterUnreachable,
		fmt.Errorf("cannot reach the API server: %w", network),
		"kubectl config view --minify shows which cluster is asked",
	)
}

// checkTypes says what the operator would say of expressions that do not fit the kinds of the cluster. Like the rest of
// a preview, it asks as the user and not as the Cleaner's account. Where that cannot be found out, there is nothing to
// say.
func checkTypes(ctx context.Context, runner *run.Runner, cleaner *v1alpha1.Cleaner) error {
	for _, spec := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		if len(spec.MatchConditions) == 0 {
			continue
		}
		asUser := cleaner.DeepCopy()
		asUser.Spec.ServiceAccountRef = nil
		if reason, message, _ := runner.Check.Validate(ctx, asUser); reason == v1alpha1.ReasonInvalidExpression {
			return invalid(cleaner, message)
		}
		break
	}
	return nil
}

func invalid(cleaner *v1alpha1.Cleaner, message string) error {
	return terminal.Fail(codes.CleanerInvalid, fmt.Errorf("cleaner %q cannot run: %s", cleaner.Name, message), "")
}

// report says what was found, apart from the rows, and keeps it for -o json and the like.
func (j *job) report(ctx context.Context, l *live, found *run.Preview) error {
	cleaner := l.cleaner
	if found.EmptyScopes != "" && j.dump == nil { // manifests seldom hold Namespaces
		j.Note("%s: %s", cleaner.Name, found.EmptyScopes)
	}
	result := newResult(cleaner, found, j.shows)
	result.Forbidden, result.denied = l.forbidden, l.denied
	j.results = append(j.results, result)
	j.findings += result.findings
	j.unknown += result.unread
	if err := j.explain(ctx, l.runner, cleaner, found); err != nil {
		return err
	}
	var unknown *selector.UnknownKindError
	if !errors.As(found.Incomplete, &unknown) {
		prefix := ""
		if j.several {
			prefix = cleaner.Name + ": "
		}
		fmt.Fprintln(j.ErrOut, prefix+summary(found, result, l.unsure))
	}
	j.reportUntil(cleaner)
	j.reportIdentity(cleaner)
	j.reportAlong(cleaner, found, result)
	j.printUncopied(cleaner, found)
	j.reportWrong(ctx, l, found, result)
	return nil
}

// reportWrong says what keeps a run from doing all that it should, and has the command exit so.
func (j *job) reportWrong(ctx context.Context, l *live, found *run.Preview, result result) {
	cleaner := l.cleaner
	switch {
	case j.dump != nil && found.Incomplete != nil && dump.IsLacking(found.Incomplete):
		j.lacks = true // reportMissing says it
	case found.Incomplete != nil:
		j.fails(j.Conclude(ctx, j.incompleteError(cleaner, found)))
	case result.unjudged > 0:
		j.fails(j.Conclude(ctx, j.unjudgedError(cleaner, found, result)))
	case l.forbidden != "":
		j.fails(j.Conclude(ctx, j.forbiddenError(cleaner, l.forbidden)))
	case result.Failed > 0:
		j.fails(j.Conclude(ctx, &terminal.Failure{
			Exit: codes.ExitPartial,
			Code: codes.ChangeFailed,
			Err: fmt.Errorf(
				"cleaner %q: %s could not be changed",
				cleaner.Name,
				terminal.Counted(int(result.Failed), "object"),
			),
			Hint: "fix the transform" + j.placeOf(
				cleaner,
				first(found, v1alpha1.OutcomeFailed),
			) + "; the output says why for each object",
		}))
	case l.refused > 0:
		j.fails(j.Conclude(ctx, &terminal.Failure{
			Exit: codes.ExitPartial,
			Code: codes.ChangeFailed,
			Err: fmt.Errorf("cleaner %q: the API server would refuse to touch %s", cleaner.Name,
				terminal.Counted(int(l.refused), "object")),
			Hint: "the output says why for each object; a run would fail in the same way",
		}))
	}
}

// reportAlong says what a delete would take along.
func (j *job) reportAlong(cleaner *v1alpha1.Cleaner, found *run.Preview, result result) {
	if found.Action != v1alpha1.ActionDelete || result.WouldAct == 0 {
		return
	}
	var kinds []object.Kind
	for _, item := range found.Items {
		if item.Result == v1alpha1.OutcomePlanned {
			kinds = append(kinds, item.Kind)
		}
	}
	if with := guard.DeletedWith(kinds, cleaner.Spec.DeleteOptions); with != "" {
		j.Note("%s", with)
	}
}

// printUncopied says which of the objects that would be touched get no copy.
func (j *job) printUncopied(cleaner *v1alpha1.Cleaner, found *run.Preview) {
	planned, total, lacking := int64(0), int64(0), map[string]*cluster.Tally{}
	for i := range found.Items {
		item := &found.Items[i]
		if item.Result != v1alpha1.OutcomePlanned || found.Incomplete != nil || found.Limit != nil {
			continue
		}
		planned++
		if why := journal.WhyNoCopy(cleaner, item.Object); why != "" {
			total++
			if lacking[why] == nil {
				lacking[why] = &cluster.Tally{}
			}
			lacking[why].Add(item.Kind.Kind, item.Namespace, item.Name)
		}
	}
	parts := make([]string, 0, len(lacking))
	for _, why := range slices.Sorted(maps.Keys(lacking)) {
		parts = append(parts, lacking[why].Words()+", because "+why)
	}
	if total > 0 {
		j.Note(
			"no copy is kept of %s of the %s, so no restore brings them back: %s",
			terminal.Thousands(total),
			terminal.Grouped(planned, "object"),
			strings.Join(parts, "; "),
		)
	}
}

// fails notes that the command exits with a code; an error counts more than a partial view.
func (j *job) fails(code int) {
	if j.exit != codes.ExitError {
		j.exit = code
	}
}

// shows reports whether an object is to be shown.
func (j *job) shows(item run.PreviewItem) bool {
	if len(j.namespaces) > 0 && !slices.Contains(j.namespaces, item.Namespace) {
		return false
	}
	if len(j.only) == 0 {
		return true
	}
	for _, wanted := range j.only {
		if wanted.Is(item.Object) {
			return true
		}
	}
	return false
}
