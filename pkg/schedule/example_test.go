// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schedule_test

import (
	"fmt"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/schedule"
)

// A run was due at 02:30. It is 07:00 now, so it starts late, unless the deadline is shorter.
func ExampleDecide() {
	nightly, err := schedule.Parse("30 2 * * *", "Europe/Rome")
	if err != nil {
		fmt.Println(err)
		return
	}
	planned := time.Date(2026, time.March, 2, 1, 30, 0, 0, time.UTC)
	now := time.Date(2026, time.March, 2, 6, 0, 0, 0, time.UTC)

	decision := schedule.Decide(nightly, planned, now, nil)
	fmt.Println(nightly)
	fmt.Println("start the run of", decision.Due.UTC().Format(time.RFC3339))

	hour := time.Hour
	decision = schedule.Decide(nightly, planned, now, &hour)
	fmt.Println("with a deadline of an hour:", decision.Missed, "missed, next at", decision.Next.UTC().Format(time.RFC3339))
	// Output:
	// every day at 02:30 Europe/Rome
	// start the run of 2026-03-02T01:30:00Z
	// with a deadline of an hour: 1 missed, next at 2026-03-03T01:30:00Z
}
