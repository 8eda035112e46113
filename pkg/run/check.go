// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/summary"
)

// Check finds out whether a Cleaner can run, and makes what a run reads and judges with.
type Check struct {
	Identities *Identities
	// Scripts are the child processes that run scripts.
	Scripts *sandbox.Pool
	// Memory bounds what all runs together select. Nil when each run has a default for itself.
	Memory *selector.Budget
	// Schemas are what is kept of the kinds' schemas. Nil when each run reads them anew.
	Schemas *cel.Schemas
	// Queries asks the metricQueries of Cleaners. Nil where there is nobody to ask.
	Queries *inputs.Metrics
	// CopyProblems says what keeps copies from being kept where a Cleaner wants them. Nil in a preview, which copies
	// nothing.
	CopyProblems func(cleaner *v1alpha1.Cleaner) []error
	Clock        clock.PassiveClock
}

// refusal is how a run ends that may not read anything.
type refusal struct {
	phase           v1alpha1.RunPhase
	reason, message string
	// unread says that it is because something of the cluster could not be read.
	unread bool
}

// mayRun says why a run that has a record may not begin. Nil if it may.
func (s Check) mayRun(b *begun) *refusal {
	switch lacks := s.Identities.lacks(b.record.Spec.ServiceAccountRef); {
	case b.cancelled:
		return &refusal{
			phase: v1alpha1.RunInterrupted, reason: v1alpha1.ReasonCancelled,
			message: "Nothing was touched: " + journal.ErrCancelled.Error() + ".",
		}
	case b.changed:
		return &refusal{
			phase: v1alpha1.RunInterrupted, reason: v1alpha1.ReasonFailed,
			message: "The run touched nothing yet and had to begin anew, and " +
				b.whatChanged().Error() + "; the next run goes by that.",
		}
	case lacks != "":
		return &refusal{
			phase: v1alpha1.RunFailed, reason: v1alpha1.ReasonServiceAccountRequired,
			message: "Nothing was read or touched: " + lacks,
		}
	case wasQueuedAsAnother(b):
		return &refusal{phase: v1alpha1.RunInterrupted, reason: v1alpha1.ReasonFailed, message: "Nothing was read or touched: serviceAccountRef was changed after the run was queued; the next run goes by that."}
	case b.foreign != nil:
		return &refusal{
			phase: v1alpha1.RunInterrupted, reason: v1alpha1.ReasonForeignController,
			message: v1alpha1.Truncate("Nothing was read or touched: "+b.foreign.Error(), maxMessage),
		}
	case b.suspended:
		return &refusal{
			phase: v1alpha1.RunInterrupted, reason: v1alpha1.ReasonFailed,
			message: "The Cleaner was suspended before the run began.",
		}
	}
	return nil
}

// prepare opens what a run reads and judges with, or says why it may not read anything.
func (s Check) prepare(ctx context.Context, t *task) *refusal {
	var err error
	if t.who, err = s.Identities.ofRun(t.record.Spec.ServiceAccountRef); err != nil {
		return &refusal{
			phase: v1alpha1.RunFailed, reason: v1alpha1.ReasonFailed,
			message: "Nothing was read or touched: " + summary.OneLine(err),
		}
	}
	t.expressions, err = s.open(ctx, t.cleaner, sandbox.Options{Memory: t.request.Memory})
	if err == nil {
		err = s.checkConditions(ctx, t)
	}
	stopped := context.Cause(ctx)
	if late := stopped != nil && stopReason(stopped) == v1alpha1.ReasonDeadlineExceeded; err == nil && !late {
		t.expressions.lighten = t.request.Lighten
		t.expressions.metadataOnly = t.expressions.metadataEnough(ctx, s.Scripts, t.action)
		if t.expressions.aggregate != nil && !t.keepsBodies() {
			t.expressions.leaveOutData = true
			t.expressions.aggregate.LeaveOutData()
		}
		return nil
	}
	if t.expressions != nil {
		t.expressions.close()
	}
	if stopped != nil {
		return &refusal{
			phase: v1alpha1.RunInterrupted, reason: stopReason(stopped),
			message: "Nothing was read or touched: " + stopWords(stopped, "before the run began", selectLess),
		}
	}
	return refused(t.record, err)
}

// checkConditions checks the conditions of a run that touches something.
func (s Check) checkConditions(ctx context.Context, t *task) error {
	if t.action == v1alpha1.ActionScan {
		return nil
	}
	return expr.CheckConditions(ctx, t.who.reader.Published(s.Schemas), t.cleaner)
}

// open checks the Cleaner once more, because it may have been edited since it was found valid, and opens its
// expressions.
func (s Check) open(ctx context.Context, cleaner *v1alpha1.Cleaner, options sandbox.Options) (*expressions, error) {
	problems, err := s.problems(ctx, cleaner)
	if err = errors.Join(slices.Concat(problems, s.copyProblems(cleaner), []error{err})...); err != nil {
		return nil, err
	}
	log := klog.FromContext(ctx)
	printed := func(line string) { log.V(1).Info("Script printed", "line", line) }
	if expr.SelectsSecrets(cleaner) {
		printed = nil // it may hold their values
	}
	options.Now, options.Print = s.Clock.Now(), printed
	options.Seed = options.Now.Unix()
	return open(cleaner, s.Scripts, s.Memory.Share(), s.Queries, s.Clock, options)
}

// refused is how a run ends that could not be opened.
func refused(record *v1alpha1.CleanerRun, err error) *refusal {
	if !expr.IsUnread(err) {
		return &refusal{
			phase: v1alpha1.RunFailed, reason: v1alpha1.ReasonFailed,
			message: v1alpha1.Truncate("The Cleaner cannot run, nothing was touched: "+summary.OneLine(err), maxMessage),
		}
	}
	reason := reasonFor(err, v1alpha1.ReasonViewIncomplete)
	message := summary.Hinted(record, reason, "Nothing was read or touched, because conditions could not be checked: "+summary.OneLine(err))
	return &refusal{
		phase: v1alpha1.RunFailed, reason: reason, message: v1alpha1.Truncate(message, maxMessage),
		unread: true,
	}
}

// Validate says what in the Cleaner's spec keeps it from running: a reason of the condition Ready and all the problems,
// or nothing. An error means that the cluster could not be asked.
func (s Check) Validate(ctx context.Context, cleaner *v1alpha1.Cleaner) (reason, message string, err error) {
	problems, err := s.problems(ctx, cleaner)
	homeless := s.copyProblems(cleaner)
	// so that nothing more is asked in its name
	if lacks := s.Identities.lacks(cleaner.Spec.ServiceAccountRef); lacks != "" {
		return v1alpha1.ReasonServiceAccountRequired,
			summary.OneLine(errors.Join(slices.Concat([]error{errors.New(lacks)}, problems, homeless)...)), nil
	}
	if reason, message, err := s.accountRefused(ctx, cleaner.Spec.ServiceAccountRef, problems, homeless); reason != "" ||
		err != nil {
		return reason, message, err
	}
	who, fault := s.Identities.of(cleaner.Spec.ServiceAccountRef)
	if fault != nil {
		return "", "", fault
	}
	faults := []error{err}
	var unknown []error
	published := who.reader.Published(s.Schemas)
	for i, spec := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		field := fmt.Sprintf("resourceSelectors[%d]", i)
		sel, err := selector.New(i, spec, selector.Judge{}, s.Clock.Now())
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", field, err))
			continue
		}
		if err := s.metricsAllowed(&spec, cleaner.Spec.ServiceAccountRef); err != nil {
			problems = append(problems, fmt.Errorf("%s.%w", field, err))
		}
		var kind *selector.UnknownKindError
		if _, err := sel.Resolve(ctx, who.reader); errors.As(err, &kind) {
			unknown = append(unknown, fmt.Errorf("%s: %w", field, err))
			continue
		} else if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", field, err))
			continue
		}
		wrong, err := expr.CheckTypes(ctx, published, spec)
		if wrong != nil {
			problems = append(problems, expr.InField(field+".", wrong)...)
		}
		faults = append(faults, err)
	}
	if len(problems)+len(homeless)+len(unknown) > 0 {
		return reasonAmong(problems, homeless, v1alpha1.ReasonUnknownKind),
			summary.OneLine(errors.Join(slices.Concat(problems, homeless, unknown)...)), nil
	}
	fault = errors.Join(faults...)
	if account := cleaner.Spec.ServiceAccountRef; account != nil && summary.Forbidden(fault) {
		fault = fmt.Errorf("%w. %s", fault, summary.Hint(fault.Error(), account))
	}
	return "", "", fault
}

// accountRefused says that the operator may not act as the account, beside the problems that are known already. Empty
// when it may.
func (s Check) accountRefused(ctx context.Context, account *v1alpha1.ServiceAccountRef, problems,
	homeless []error,
) (reason, message string, err error) {
	if account == nil {
		return "", "", nil
	}
	refusal, err := s.Identities.MayActAs(ctx, *account)
	if err != nil || refusal == "" {
		return "", "", err
	}
	all := slices.Concat(problems, homeless, []error{errors.New(refusal)})
	return reasonAmong(problems, homeless, v1alpha1.ReasonServiceAccountForbidden), summary.OneLine(errors.Join(all...)),
		nil
}

// reasonAmong is the reason of the condition Ready for several problems: of those that only an edit mends, if there are
// any.
func reasonAmong(problems, homeless []error, otherwise string) string {
	switch {
	case len(problems) > 0:
		return v1alpha1.ReasonInvalidExpression
	case len(homeless) > 0:
		return v1alpha1.ReasonInvalidStorage
	}
	return otherwise
}

// metricsAllowed says why the source of a selector may not be asked. What is wrong with it in any case was said
// already.
func (s Check) metricsAllowed(spec *v1alpha1.ResourceSelector, account *v1alpha1.ServiceAccountRef) error {
	if s.Queries == nil || len(inputs.Check(spec)) > 0 {
		return nil
	}
	return s.Queries.For(account).Allow(spec)
}

// problems are what in a Cleaner's spec keeps it from running, as far as that shows without the cluster.
func (s Check) problems(ctx context.Context, cleaner *v1alpha1.Cleaner) ([]error, error) {
	problems, err := expr.Problems(ctx, cleaner, s.Scripts)
	return append(problems, finding.Check(cleaner)...), err
}

// copyProblems are those of where the copies are to be kept. A preview copies nothing.
func (s Check) copyProblems(cleaner *v1alpha1.Cleaner) []error {
	if s.CopyProblems == nil {
		return nil
	}
	return s.CopyProblems(cleaner)
}
