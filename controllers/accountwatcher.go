// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// refusedAccounts are the ServiceAccounts as which the operator may not act.
type refusedAccounts map[v1alpha1.ServiceAccountRef]bool

// AccountWatcher asks all the time as which of the ServiceAccounts that Cleaners name the operator may act, and has
// those Cleaners looked at whose status says otherwise: no object of ours changes when a right is given or taken away.
type AccountWatcher struct {
	// WithAccount lists the Cleaners that name a ServiceAccount, and may list others.
	WithAccount Cleaners
	// MayActAs says why the operator may not act as the account. An error means that nobody knows.
	MayActAs func(ctx context.Context, account v1alpha1.ServiceAccountRef) (refusal string, err error)
	Clock    clock.WithTicker
	// Wake makes a Cleaner be looked at.
	Wake func(name string)

	refused atomic.Pointer[refusedAccounts]
}

// NeedLeaderElection says that only the leader asks: the others write no status.
func (w *AccountWatcher) NeedLeaderElection() bool { return true }

// Start asks until the context ends, and not at once: whoever looks at a Cleaner for the first time asks as well.
func (w *AccountWatcher) Start(ctx context.Context) error {
	ticker := w.Clock.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
			w.Look(ctx)
		}
	}
}

// Refused reports whether the operator may not act as the account, as far as is known.
func (w *AccountWatcher) Refused(account v1alpha1.ServiceAccountRef) bool {
	known := w.refused.Load()
	return known != nil && (*known)[account]
}

// Look asks once. What is known of an account holds until there is another answer.
func (w *AccountWatcher) Look(ctx context.Context) {
	cleaners, err := w.WithAccount(ctx)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Could not list the Cleaners")
		return
	}
	answers := refusedAccounts{}
	for i := range cleaners {
		account := cleaners[i].Spec.ServiceAccountRef
		if account == nil {
			continue
		}
		if _, asked := answers[*account]; asked {
			continue
		}
		refusal, err := w.MayActAs(ctx, *account)
		if err != nil {
			klog.FromContext(ctx).
				V(1).
				Info("Could not find out whether the operator may act as an account", "account", account.String(), "cause", err.Error())
			answers[*account] = w.Refused(*account)
			continue
		}
		answers[*account] = refusal != ""
	}
	w.refused.Store(&answers)
	for i := range cleaners {
		if c := &cleaners[i]; c.Spec.ServiceAccountRef != nil && saysOtherwise(c, answers[*c.Spec.ServiceAccountRef]) {
			w.Wake(c.Name)
		}
	}
}

// saysOtherwise reports whether the Cleaner's status is not of an account as which the operator may not act, or may.
func saysOtherwise(cleaner *v1alpha1.Cleaner, refused bool) bool {
	ready := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil: // it was not looked at yet
		return false
	case refused:
		return ready.Status == metav1.ConditionTrue
	}
	return ready.Reason == v1alpha1.ReasonServiceAccountForbidden
}
