// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// approvalsEvery is how often it is looked for approvals, as long as a plan waits.
const approvalsEvery = 2 * time.Second

// ApprovalWatcher has the Cleaners looked at whose plan somebody approved or rejected. It asks the API server only as
// long as a plan waits: most clusters have none, and some not even the kind.
type ApprovalWatcher struct {
	// WithPlan lists the Cleaners whose plan waits, and may list others.
	WithPlan Cleaners
	// Live reads CleanerApprovals from the API server.
	Live    client.Reader
	Journal *journal.Journal
	Clock   clock.WithTicker
	// Wake makes a Cleaner be looked at.
	Wake func(name string)

	// seen are the approvals for which Cleaners were woken.
	seen map[types.UID]bool
}

// NeedLeaderElection says that only the leader looks: the others begin no runs.
func (w *ApprovalWatcher) NeedLeaderElection() bool { return true }

// Start looks until the context ends. At first it says in the log whether approvals are guarded.
func (w *ApprovalWatcher) Start(ctx context.Context) error {
	switch err := w.Journal.CheckApprovals(ctx); {
	case err == nil:
		klog.FromContext(ctx).Info("The API server guards approvals of plans: it refused a forged one")
	case ctx.Err() == nil:
		klog.FromContext(ctx).Info("Approvals of plans are not accepted for now", "cause", err.Error())
	}
	ticker := w.Clock.NewTicker(approvalsEvery)
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

// Look looks once.
func (w *ApprovalWatcher) Look(ctx context.Context) {
	cleaners, err := w.WithPlan(ctx)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Could not list the Cleaners")
		return
	}
	waiting := map[string]string{}
	for i := range cleaners {
		if plan := cleaners[i].Status.Plan; plan != nil {
			waiting[plan.Run] = cleaners[i].Name
		}
	}
	if len(waiting) == 0 {
		w.seen = nil
		return
	}
	approvals := metav1.PartialObjectMetadataList{}
	approvals.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("CleanerApprovalList"))
	if err := w.Live.List(ctx, &approvals); err != nil {
		klog.FromContext(ctx).Error(err, "Could not list the CleanerApprovals")
		return
	}
	seen := map[types.UID]bool{}
	for i := range approvals.Items {
		approval := &approvals.Items[i]
		cleaner, waits := waiting[approval.Name]
		if !waits { // or the cache does not know of the plan yet
			continue
		}
		if seen[approval.UID] = true; !w.seen[approval.UID] {
			w.Wake(cleaner)
		}
	}
	w.seen = seen
}
