// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// askAsRuns makes the requests that the runs made, as many at once as the manager carries out runs, and returns how long that took: the
// least that the runs can take on this machine now. It lists nothing, because runs share their lists.
func askAsRuns(t *testing.T, c client.Client, runs []v1alpha1.CleanerRun) time.Duration {
	t.Helper()
	start := time.Now()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(20) // the default of --max-parallel-runs
	for i := range runs {
		group.Go(func() error { return askAsRun(ctx, c, &runs[i]) })
	}
	must(t, group.Wait())
	return time.Since(start)
}

func askAsRun(ctx context.Context, c client.Client, run *v1alpha1.CleanerRun) error {
	cleaner := &v1alpha1.Cleaner{}
	record := &v1alpha1.CleanerRun{
		ObjectMeta: metav1.ObjectMeta{Name: "again-" + run.Name, Labels: run.Labels, Annotations: run.Annotations, OwnerReferences: run.OwnerReferences},
		Spec:       run.Spec,
	}
	if err := errors.Join(c.Get(ctx, client.ObjectKey{Name: run.Spec.Cleaner}, cleaner), c.Create(ctx, record)); err != nil {
		return err
	}
	record.Status = run.Status
	err := errors.Join(c.Get(ctx, client.ObjectKey{Name: "many"}, &corev1.Namespace{}), c.Status().Update(ctx, record),
		c.Get(ctx, client.ObjectKeyFromObject(record), record))
	read := cleaner.DeepCopy()
	cleaner.Status.NextScheduleTime = &metav1.Time{Time: read.Status.NextScheduleTime.Add(period)}
	status := client.MergeFromWithOptions(read, client.MergeFromWithOptimisticLock{})
	return errors.Join(err, c.Status().Patch(ctx, cleaner, status, client.FieldValidation("Strict")), c.Create(ctx, eventOf(cleaner, record)))
}

// eventOf is the Event of a run.
func eventOf(cleaner *v1alpha1.Cleaner, run *v1alpha1.CleanerRun) *eventsv1.Event {
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: cleaner.Name + "-"},
		EventTime:  metav1.NowMicro(), ReportingController: "floor", ReportingInstance: "floor",
		Type: corev1.EventTypeNormal, Reason: run.Status.Reason, Action: string(run.Spec.Action), Note: run.Status.Message,
		Regarding: corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Cleaner", Name: cleaner.Name, UID: cleaner.UID},
		Related:   &corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: "CleanerRun", Name: run.Name, UID: run.UID},
	}
}
