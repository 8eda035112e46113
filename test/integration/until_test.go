// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestScanUntil: a Cleaner that deletes only reports what it would delete until spec.scanUntil. The run that is due then deletes it.
func TestScanUntil(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", 2)
	var until time.Time
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationCleanerReport), func(c *v1alpha1.Cleaner) {
		until = time.Now().UTC().Truncate(day).Add(2*day + 3*time.Hour)
		c.Spec.ScanUntil = &metav1.Time{Time: until}
	}))
	l.startExecutor()
	why := "it only reports until " + until.Format(time.RFC3339) + ", and acts from then on (spec.scanUntil)"

	l.at(until.Add(-day))
	l.finish()
	record := l.records()[0]
	wantRun(t, &record, v1alpha1.ReasonCompleted, "2 of 2 objects matched; nothing was touched, because "+why+".")
	if !record.Spec.DryRun || record.Spec.Action != v1alpha1.ActionScan || record.Spec.DryRunReason != why || l.now.Status.LastRun.Matches[0].Outcome != v1alpha1.OutcomeDryRun {
		t.Fatalf("the record is %+v", record.Spec)
	}
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled, "I"+why[1:]+": nothing is touched.")
	if l.now.Status.DryRunReason != why || l.now.Status.Action != v1alpha1.ActionScan {
		t.Fatalf("the status says %q, and the action is %s", l.now.Status.DryRunReason, l.now.Status.Action)
	}
	if left := len(b.names(b.namespace)); left != 2 {
		t.Fatalf("%d objects are left, want 2", left)
	}

	l.at(until)
	l.finish()
	record = l.records()[1]
	wantRun(t, &record, v1alpha1.ReasonCompleted, "2 of 2 objects matched; 2 deleted.")
	if l.now.Status.DryRunReason != "" || l.now.Status.Action != v1alpha1.ActionDelete {
		t.Fatalf("the status still says %q, and the action is %s", l.now.Status.DryRunReason, l.now.Status.Action)
	}
}
