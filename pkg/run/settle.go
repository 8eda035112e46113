// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// lookTimeout bounds the looking at what a run that was stopped has left.
const lookTimeout = 20 * time.Second

// resume opens the ledger of a run that was taken over. It tries for a while: what is not read is never told.
func (r *Runner) resume(ctx context.Context, record *v1alpha1.CleanerRun) (ledger *journal.Ledger, intents []journal.Intent, known map[int]journal.SavedOutcome, err error) {
	_ = wait.PollUntilContextTimeout(ctx, recordRetry, recordTimeout, true, func(ctx context.Context) (bool, error) {
		ledger, intents, known, err = r.Journal.Resume(ctx, record)
		return err == nil || errors.Is(err, journal.ErrNoPart), nil
	})
	return ledger, intents, known, err
}

// mayPass reports whether an error says something of the API server, or of the way to it, and nothing of what was asked for.
func mayPass(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		code := status.Status().Code
		return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
	}
	var way *url.Error
	return errors.As(err, &way) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// settleAll finds an outcome for each victim. When the run is stopped nothing more is touched, but the rest is looked at: the
// operator before may have touched it. An error says that all of that is left to another operator.
func (m *remainder) settleAll(ctx context.Context, ledger *journal.Ledger, intents []journal.Intent, known map[int]journal.SavedOutcome) ([]object.Outcome, error) {
	outcomes := make([]object.Outcome, len(intents))
	if m.closing == "" {
		m.closeIfTooMany(len(intents) - len(known))
	}
	if m.closing == "" {
		m.namespaces, m.closingErr = m.runner.namespacesOf(ctx, intents)
	}
	pass := func(ctx context.Context) error {
		acting, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		workqueue.ParallelizeUntil(acting, parallel, len(intents), func(i int) {
			if saved, ok := known[i]; ok && outcomes[i].Result == "" {
				outcomes[i] = savedOutcome(&intents[i], saved)
				m.progress.did()
			}
			if outcomes[i].Result != "" {
				return
			}
			outcome, err := m.settleOne(acting, &intents[i])
			if err == nil {
				outcomes[i] = outcome
				m.progress.did()
				err = guarded(acting, func() error { return ledger.Record(acting, i, outcome) })
			}
			if errors.Is(err, journal.ErrTaken) || errors.Is(err, journal.ErrGone) {
				stop(err)
			}
		})
		return context.Cause(acting)
	}
	cause := pass(ctx)
	switch {
	case cause == nil:
		return outcomes, nil
	case errors.Is(cause, journal.ErrTaken):
		return nil, cause
	case errors.Is(cause, m.runner.Stopping):
		m.runner.flush(ctx, ledger)
		return nil, cause
	}
	m.close(cause)
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	if err := pass(looking); errors.Is(err, journal.ErrTaken) {
		return nil, err
	}
	for i := range outcomes {
		if outcomes[i].Result == "" {
			outcomes[i] = m.outcome(&intents[i], v1alpha1.OutcomeAbandoned, "the run was stopped, and it could not be found out what became of it")
			_ = guarded(ctx, func() error { return ledger.Record(context.WithoutCancel(ctx), i, outcomes[i]) })
		}
	}
	return outcomes, nil
}

// closeIfTooMany makes all be looked at only when more objects are left than the operator lets any run act on: it may have been started
// anew with a lower limit just to stop this run.
func (m *remainder) closeIfTooMany(left int) {
	if err := guard.MaxActions(m.runner.MaxActions, left); err != nil {
		m.closing = err.Error()
	}
}

// settleOne finds an outcome for a victim. With an error there is none: the run is another operator's, or it was stopped before
// anything was sent for this one, which is still to be looked at.
func (m *remainder) settleOne(ctx context.Context, intent *journal.Intent) (outcome object.Outcome, err error) {
	if err := guarded(ctx, func() error { outcome = m.settle(ctx, intent); return nil }); err != nil {
		return m.outcome(intent, v1alpha1.OutcomeFailed, err.Error()), nil
	}
	stopped := context.Cause(ctx)
	if errors.Is(outcome.Err, journal.ErrTaken) || stopped != nil && errors.Is(outcome.Err, stopped) {
		return object.Outcome{}, outcome.Err
	}
	return outcome, nil
}

func savedOutcome(intent *journal.Intent, saved journal.SavedOutcome) object.Outcome {
	outcome := (&remainder{}).outcome(intent, saved.Outcome, saved.Reason)
	if saved.Message != "" {
		outcome.Message = saved.Message
	}
	return outcome
}

// unread is the outcome of a victim that could not be looked at. When the run was stopped meanwhile there is none yet.
func (m *remainder) unread(ctx context.Context, intent *journal.Intent, err error) object.Outcome {
	if stopped := context.Cause(ctx); stopped != nil && mayPass(err) {
		return object.Outcome{Err: stopped}
	}
	outcome := action.Failed(m.outcome(intent, "", "").Verdict, err)
	if outcome.Result == v1alpha1.OutcomeFailed {
		outcome.Result, outcome.Detail = v1alpha1.OutcomeAbandoned, "the run was cut off, and it could not be found out what became of it: "+outcome.Detail
	}
	return outcome
}
