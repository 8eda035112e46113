// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"slices"

	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/deadline"
	"github.com/kubecleaner/kubecleaner/pkg/engine"
	"github.com/kubecleaner/kubecleaner/pkg/expr"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/summary"
	"github.com/kubecleaner/kubecleaner/pkg/validate"
)

// Check finds out whether a Cleaner can run, and makes what a run reads and judges with.
type Check struct {
	validate.Validator
	// Memory bounds what all runs together select. Nil when each run has a default for itself.
	Memory *selector.Budget
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
	switch lacks := s.Identities.Lacks(b.record.Spec.ServiceAccountRef); {
	case b.cancelled:
		return &refusal{
			phase: v1alpha1.RunInterrupted, reason: v1alpha1.ReasonCancelled,
			message: "Nothing was touched: " + journal.ErrCancelled.Error() + ".",
		}
	case b.changed:
		return &refusal{
			phase: v1alpha1.RunInterrupted, reason: v1alpha1.ReasonFailed,
			message: "Nothing was touched. The run had to start again, but meanwhile " +
				b.whatChanged().Error() + ". The next run uses the new state.",
		}
	case lacks != "":
		return &refusal{
			phase: v1alpha1.RunFailed, reason: v1alpha1.ReasonServiceAccountRequired,
			message: "Nothing was read or touched: " + lacks,
		}
	case wasQueuedAsAnother(b):
		return &refusal{phase: v1alpha1.RunInterrupted, reason: v1alpha1.ReasonFailed, message: "Nothing was read or touched: serviceAccountRef was changed after the run was queued. The next run uses the new account."}
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
	if t.who, err = s.Identities.OfRun(t.record.Spec.ServiceAccountRef); err != nil {
		return &refusal{
			phase: v1alpha1.RunFailed, reason: v1alpha1.ReasonFailed,
			message: "Nothing was read or touched: " + summary.OneLine(err),
		}
	}
	t.engine, err = s.open(ctx, t.cleaner, sandbox.Options{Memory: t.request.Memory})
	if err == nil {
		err = s.checkConditions(ctx, t)
	}
	stopped := context.Cause(ctx)
	if late := stopped != nil && stopReason(stopped) == v1alpha1.ReasonDeadlineExceeded; err == nil && !late {
		t.engine.ReadLess(ctx, t.action, t.keepsBodies())
		return nil
	}
	if t.engine != nil {
		t.engine.Close()
	}
	if stopped != nil {
		return &refusal{
			phase: v1alpha1.RunInterrupted, reason: stopReason(stopped),
			message: "Nothing was read or touched: " + stopWords(stopped, "before the run began", deadline.SelectLess),
		}
	}
	return refused(t.record, err)
}

// checkConditions checks the conditions of a run that touches something.
func (s Check) checkConditions(ctx context.Context, t *task) error {
	if t.action == v1alpha1.ActionScan {
		return nil
	}
	return expr.CheckConditions(ctx, t.who.Reader.Published(s.Schemas), t.cleaner)
}

// open checks the Cleaner once more, because it may have been edited since it was found valid, and opens its
// expressions.
func (s Check) open(ctx context.Context, cleaner *v1alpha1.Cleaner, options sandbox.Options) (*engine.Engine, error) {
	problems, err := s.Problems(ctx, cleaner)
	if err = errors.Join(slices.Concat(problems, s.HomelessCopies(cleaner), []error{err})...); err != nil {
		return nil, err
	}
	log := klog.FromContext(ctx)
	printed := func(line string) { log.V(1).Info("Script printed", "line", line) }
	if expr.SelectsSecrets(cleaner) {
		printed = nil // it may hold their values
	}
	options.Now, options.Print = s.Clock.Now(), printed
	options.Seed = options.Now.Unix()
	return engine.Open(cleaner, s.Scripts, s.Memory.Share(), s.Queries, s.Clock, options)
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
