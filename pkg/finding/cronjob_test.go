// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import "testing"

// A Job of a CronJob that still runs may succeed, however long ago the last one did.
func TestFailingCronJobWhoseJobRuns(t *testing.T) {
	t.Parallel()
	failing := "status: {lastScheduleTime: '2026-02-28T00:00:00Z', lastSuccessfulTime: '2026-01-01T00:00:00Z'"
	for status, want := range map[string]string{
		failing + "}":                        "Certain, since 2026-01-01: it has not succeeded in its last 3 periods",
		failing + ", active: [{name: a-1}]}": "Weak, since 2026-01-01: it has not succeeded in its last 3 periods, but a Job of it still runs",
	} {
		found := find(t, scenario{cluster: of("batch/v1 CronJob shop/a", "", "spec: {schedule: '0 3 * * *'}", status)})
		if len(found) != 1 {
			t.Fatalf("found %d findings: %s", len(found), lines(found))
		}
		if got := details(found[0]); got != want {
			t.Errorf("found %q\nwant  %q", got, want)
		}
	}
}
