// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// A run that has nothing to tell does not make good what an earlier one could not tell; one that delivered the same notification does.
func TestLatestOfEach(t *testing.T) {
	t.Parallel()
	const failed, pending, delivered = v1alpha1.NotificationFailed, v1alpha1.NotificationPending, v1alpha1.NotificationDelivered
	cleaner := &v1alpha1.Cleaner{}
	for _, name := range []string{"hook", "mail", "chat"} {
		cleaner.Spec.Notifications = append(cleaner.Spec.Notifications, v1alpha1.Notification{Name: name, Type: v1alpha1.NotificationWebhook})
	}
	entry := func(name string, state v1alpha1.NotificationState) v1alpha1.NotificationStatus {
		return v1alpha1.NotificationStatus{Name: name, Type: v1alpha1.NotificationWebhook, State: state}
	}
	run := func(name string, minute int, entries ...v1alpha1.NotificationStatus) v1alpha1.CleanerRun {
		run := v1alpha1.CleanerRun{}
		run.Name, run.Spec.NominalTime = name, metav1.NewTime(time.Unix(int64(60*minute), 0))
		run.Status.Notifications = entries
		return run
	}
	runs := []v1alpha1.CleanerRun{
		run("first", 1, entry("hook", failed), entry("mail", failed), entry("gone", failed)),
		run("third", 3, entry("chat", delivered)),
		run("second", 2, entry("hook", pending), entry("chat", failed)),
	}
	got := map[string]string{}
	for _, n := range latestOfEach(cleaner, []v1alpha1.NotificationStatus{entry("mail", delivered)}, runs) {
		got[n.Name] = string(n.State) + " " + n.Message
	}
	want := map[string]string{"mail": "Delivered ", "hook": "Pending of run second: ", "chat": "Delivered of run third: "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
