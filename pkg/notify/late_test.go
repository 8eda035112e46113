// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// A Report right after its run is written without a look at the other runs.
func TestReportInTime(t *testing.T) {
	var run v1alpha1.CleanerRun
	wrote := 0
	d := &Delivery{Report: func(context.Context, *v1alpha1.Cleaner, *v1alpha1.CleanerRun, []stage.Outcome, int64) error {
		wrote++
		return nil
	}} // Runs is nil: to ask for them is an error
	n := v1alpha1.Notification{Name: "n", Type: v1alpha1.NotificationCleanerReport}
	for attempts, want := range []int{1, 1} {
		run.Status.Notifications = []v1alpha1.NotificationStatus{{Name: "n", Attempts: int32(attempts)}}
		err := d.Deliver(t.Context(), Message{Cleaner: &v1alpha1.Cleaner{}, Run: &run, Outcomes: []stage.Outcome{{}}}, n)
		if (err == nil) != (attempts == 0) || wrote != want {
			t.Errorf("after %d attempts: %v, written %d times", attempts, err, wrote)
		}
	}
}

// A Report of a run whose outcomes were too many to keep has those that its record lists, and the number of the others.
func TestReportWithoutOutcomes(t *testing.T) {
	run := sample().Run.DeepCopy()
	run.Status.Notifications = []v1alpha1.NotificationStatus{{Name: "n", Type: v1alpha1.NotificationCleanerReport, State: v1alpha1.NotificationPending}}
	run.Status.Acted, run.Status.ObjectsOmitted = 1000, 970
	d := &Delivery{
		Clock: clocktesting.NewFakeClock(time.Now()),
		Report: func(_ context.Context, _ *v1alpha1.Cleaner, _ *v1alpha1.CleanerRun, outcomes []stage.Outcome, unlisted int64) error {
			if len(outcomes) != len(run.Status.Objects) || unlisted != 970 {
				t.Errorf("it lists %d objects, and says that it does not list %d", len(outcomes), unlisted)
			}
			return nil
		},
		Save:  func(context.Context, *v1alpha1.CleanerRun) error { return nil },
		Tried: func(string, v1alpha1.NotificationType, v1alpha1.NotificationState) {},
	}
	d.Notify(t.Context(), &v1alpha1.Cleaner{}, run, nil)
	if got := run.Status.Notifications[0].State; got != v1alpha1.NotificationDelivered {
		t.Errorf("its state is %s", got)
	}
}

// A Report that is written late does not take the place of a later run's.
func TestLateReport(t *testing.T) {
	const report, pending, delivered, failed = v1alpha1.NotificationCleanerReport, v1alpha1.NotificationPending, v1alpha1.NotificationDelivered, v1alpha1.NotificationFailed
	const later = "it was not written: a later run has written the Report, or is about to"
	at := func(n int) metav1.Time { return metav1.NewTime(time.Unix(int64(n), 0)) }
	run := func(n int, kind v1alpha1.NotificationType, state v1alpha1.NotificationState) v1alpha1.CleanerRun {
		var r v1alpha1.CleanerRun
		r.Name, r.Spec.NominalTime = fmt.Sprint("run-", n), at(n)
		r.Status.Notifications = []v1alpha1.NotificationStatus{{Name: "n", Type: kind, State: state}}
		return r
	}
	own := run(5, report, pending)
	for name, c := range map[string]struct {
		runs     []v1alpha1.CleanerRun
		last     int // the nominal time of the last run in status
		notifyOn []v1alpha1.NotifyOn
		fault    error
		want     string
	}{
		"it is the last run":            {runs: []v1alpha1.CleanerRun{own}, last: 5},
		"status has no last run yet":    {runs: []v1alpha1.CleanerRun{own}},
		"an earlier one has written it": {runs: []v1alpha1.CleanerRun{own, run(4, report, delivered)}, last: 5},
		"a later one has":               {runs: []v1alpha1.CleanerRun{run(6, report, delivered), own}, last: 6, want: later},
		"one that status lacks has":     {runs: []v1alpha1.CleanerRun{own, run(6, report, delivered)}, last: 5, want: later},
		"one before the last has":       {runs: []v1alpha1.CleanerRun{run(7, "Slack", delivered), run(6, report, delivered), own}, last: 7, want: later},
		"a later one is about to":       {runs: []v1alpha1.CleanerRun{own, run(6, report, pending)}, last: 5, want: later},
		"a later one could not":         {runs: []v1alpha1.CleanerRun{own, run(6, report, failed)}, last: 6},
		"a later one had none to write": {runs: []v1alpha1.CleanerRun{own, run(6, "Slack", delivered)}, last: 6},
		"the last record is gone":       {runs: []v1alpha1.CleanerRun{own}, last: 6, want: later},
		"what it sent is not known":     {runs: []v1alpha1.CleanerRun{own}, last: 6, notifyOn: []v1alpha1.NotifyOn{v1alpha1.NotifyOnFailures}},
		"the runs cannot be listed":     {fault: errors.New("no answer"), last: 6, want: "no answer"},
	} {
		wrote := 0
		d := &Delivery{
			Report: func(context.Context, *v1alpha1.Cleaner, *v1alpha1.CleanerRun, []stage.Outcome, int64) error {
				wrote++
				return nil
			},
			Runs: func(context.Context, *v1alpha1.Cleaner) ([]v1alpha1.CleanerRun, error) { return c.runs, c.fault },
		}
		cleaner := &v1alpha1.Cleaner{}
		if c.last > 0 {
			cleaner.Status.LastRun = &v1alpha1.LastRun{Name: fmt.Sprint("run-", c.last), NominalTime: at(c.last)}
		}
		err := d.Deliver(t.Context(), Message{Cleaner: cleaner, Run: &own}, v1alpha1.Notification{Name: "n", Type: report, NotifyOn: c.notifyOn})
		var failure *Error
		switch got := errors.As(err, &failure) && failure.Permanent; {
		case fmt.Sprint(err) != c.want && (err != nil || c.want != ""), got != (c.want == later), (wrote > 0) != (c.want == ""):
			t.Errorf("%s: %v, permanent %t, written %d times", name, err, got, wrote)
		}
	}
}
