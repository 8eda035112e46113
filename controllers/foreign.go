// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// foreignPause is for how long the operator leaves a Cleaner alone when another controller has written its status.
// managedFields count whole seconds: what the operator writes in the same one does not look newer.
const foreignPause = 2 * time.Second

// foreignWrites makes the operator look at a Cleaner whose status another controller has written, and not only when the
// Cleaner is due.
func (r *CleanerReconciler) foreignWrites() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
		before, ok := e.ObjectOld.(*v1alpha1.Cleaner)
		after, ok2 := e.ObjectNew.(*v1alpha1.Cleaner)
		now := r.Clock.Now()
		if ok && ok2 && before.ForeignController(now) == "" && after.ForeignController(now) != "" {
			q.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(after)}, foreignPause)
		}
	}}
}

// holdBack keeps a Cleaner from running while another controller may act on the same objects. What was due stays due.
//
// When k8s-cleaner reconciles a Cleaner whose next run has another time than it expects, it corrects the time. So the
// first look moves the time by a second: a k8s-cleaner that still runs answers now, not only when the next run is due.
// The schedule corrects the time as well, but only before that run is due, so a run that is due soon is left alone.
func (r *CleanerReconciler) holdBack(cleaner *v1alpha1.Cleaner, round *round) {
	before := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionReady)
	isNew := before == nil || before.Message != round.foreign
	refuse(cleaner, v1alpha1.ReasonForeignController, round.foreign)
	if next := cleaner.Status.NextScheduleTime; isNew && next != nil && next.Sub(r.Clock.Now()) > 2*v1alpha1.ForeignQuiet {
		next.Time = next.Add(time.Second)
	}
	round.sleep = wait.Jitter(v1alpha1.ForeignQuiet, 0.2)
}
