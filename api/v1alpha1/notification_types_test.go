// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "testing"

func TestWhenANotificationIsDue(t *testing.T) {
	t.Parallel()
	runs := map[string]CleanerRunStatus{
		"nothing": {Phase: RunCompleted},
		"matched": {Phase: RunCompleted, RunCounts: RunCounts{Matched: 2, Skipped: 2}},
		"acted":   {Phase: RunCompleted, RunCounts: RunCounts{Matched: 2, Acted: 2}},
		"failed":  {Phase: RunFailed},
		"stopped": {Phase: RunInterrupted, RunCounts: RunCounts{Matched: 2}},
	}
	for name, test := range map[string]struct {
		kind NotificationType
		on   []NotifyOn
		want map[string]bool
	}{
		"by default":           {NotificationEvent, nil, map[string]bool{"matched": true, "acted": true, "stopped": true}},
		"a Report, by default": {NotificationCleanerReport, nil, map[string]bool{"nothing": true, "matched": true, "acted": true, "failed": true, "stopped": true}},
		"always":               {NotificationEvent, []NotifyOn{NotifyOnAlways}, map[string]bool{"nothing": true, "matched": true, "acted": true, "failed": true, "stopped": true}},
		"changes":              {NotificationCleanerReport, []NotifyOn{NotifyOnChanges}, map[string]bool{"acted": true}},
		"failures":             {NotificationEvent, []NotifyOn{NotifyOnFailures}, map[string]bool{"failed": true, "stopped": true}},
		"changes and failures": {NotificationEvent, []NotifyOn{NotifyOnChanges, NotifyOnFailures}, map[string]bool{"acted": true, "failed": true, "stopped": true}},
	} {
		n := Notification{Type: test.kind, NotifyOn: test.on}
		for kind, status := range runs {
			if got := n.IsDue(&CleanerRun{Status: status}); got != test.want[kind] {
				t.Errorf("%s, of a run that %s: %t", name, kind, got)
			}
		}
	}
}
