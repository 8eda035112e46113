// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const (
	// dueIn is how long before they are due the Cleaners get their schedule.
	dueIn = 45 * time.Second
	// duePatience is how long after that all have to be over.
	duePatience = 15 * time.Minute
)

// punctuality is how long after they were due the Cleaners began, half of them and the last one, and when the last one
// was over. Records have whole seconds.
type punctuality struct{ half, begun, over time.Duration }

// dueTogether makes all that are to be due together due at one moment, the hostile ones too, and waits for all but
// those.
func (c *crowd) dueTogether(ctx context.Context) (punctuality, error) {
	due := time.Now().Add(dueIn).Truncate(time.Second).UTC()
	schedule := fmt.Sprintf("%d %d %d %d %d *", due.Second(), due.Minute(), due.Hour(), due.Day(), int(due.Month()))
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"schedule":%q}}`, schedule))
	group, patching := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	change := func(name string) {
		group.Go(func() error {
			cleaner := &v1alpha1.Cleaner{}
			cleaner.Name = name
			return c.client.Patch(patching, cleaner, patch)
		})
	}
	for i := range hostile {
		change(fmt.Sprintf("hostile-%02d", i))
	}
	for i := range c.due {
		change(fmt.Sprintf("due-%04d", i))
	}
	if err := group.Wait(); err != nil {
		return punctuality{}, err
	}
	if time.Now().After(due) {
		return punctuality{}, fmt.Errorf("making %d Cleaners due took too long", c.due)
	}
	for {
		if err := pause(ctx, 5*time.Second); err != nil {
			return punctuality{}, err
		}
		found, over, err := c.runsOf(ctx, due)
		if err != nil || over == c.due {
			return found, err
		}
		if time.Since(due) > duePatience {
			return found, fmt.Errorf("%d of %d Cleaners were over %s after they were due", over, c.due, duePatience)
		}
	}
}

// runsOf looks at the runs of one moment, and counts those that are over.
func (c *crowd) runsOf(ctx context.Context, due time.Time) (punctuality, int, error) {
	var runs v1alpha1.CleanerRunList
	if err := c.client.List(ctx, &runs); err != nil {
		return punctuality{}, 0, err
	}
	var begun, over []time.Duration
	for _, run := range runs.Items {
		if !strings.HasPrefix(run.Spec.Cleaner, "due-") || !run.Spec.NominalTime.Time.Equal(due) ||
			run.Status.CompletionTime == nil {
			continue
		}
		if run.Status.Reason != v1alpha1.ReasonCompleted {
			return punctuality{}, 0, fmt.Errorf("%s: %s", run.Name, run.Status.Message)
		}
		begun = append(begun, run.Status.StartTime.Sub(due))
		over = append(over, run.Status.CompletionTime.Sub(due))
	}
	if len(over) == 0 {
		return punctuality{}, 0, nil
	}
	slices.Sort(begun)
	return punctuality{begun[len(begun)/2], begun[len(begun)-1], slices.Max(over)}, len(over), nil
}

// pause waits, unless the context ends before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
