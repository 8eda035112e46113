// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestRecordSaysWhenARunHadJudged: between its start and its end, and not of a run that could not judge everything.
func TestRecordSaysWhenARunHadJudged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", stale)
	scans := b.cleaner(v1alpha1.ActionScan)
	wantJudged(t, b.stored(b.run(scans)))
	approved := func(c *v1alpha1.Cleaner) { c.Spec.Approval = &v1alpha1.Approval{Mode: v1alpha1.ApprovalRequired} }
	wantJudged(t, b.stored(b.run(b.cleaner(v1alpha1.ActionDelete, approved))))
	deletes := b.cleaner(v1alpha1.ActionDelete)
	wantJudged(t, b.stored(b.run(deletes)))
	wantJudged(t, b.stored(b.run(deletes))) // nothing is left
	b.configMap("bad", func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"stale": "error"} })
	failed := b.run(b.cleaner(v1alpha1.ActionDelete, evaluate(`function evaluate() error("not known") end`)))
	wantRun(t, failed, v1alpha1.ReasonViewIncomplete)
	if at := b.stored(failed).Status.JudgedTime; at != nil {
		t.Errorf("a run that could not judge everything had judged at %s", at)
	}
}

// wantJudged wants a record that says when everything was judged.
func wantJudged(t *testing.T, run *v1alpha1.CleanerRun) {
	t.Helper()
	at, status := run.Status.JudgedTime, &run.Status
	if at == nil || at.Before(status.StartTime) || status.CompletionTime.Before(at) {
		t.Errorf("run %s (%s) started at %s, had judged at %s, and ended at %s", run.Name, status.Reason, status.StartTime, at,
			status.CompletionTime)
	}
}

// TestTakenOverRunHadJudgedBefore: acting goes on, and the time at which it began stays.
func TestTakenOverRunHadJudgedBefore(t *testing.T) {
	t.Parallel()
	l, next := cutOffRun(t, 20, http.MethodDelete)
	before := l.records()[0].Status.JudgedTime
	record := next.goOn(l.first().Add(time.Minute))
	if before == nil || !before.Equal(record.Status.JudgedTime) {
		t.Errorf("the record said %s, and says %s", before, record.Status.JudgedTime)
	}
}
