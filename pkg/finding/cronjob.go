// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"fmt"
	"strconv"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// shortestLife is how many seconds a finished Job must stay for Kubernetes to note that it succeeded.
const shortestLife = 60

// failingPeriods is how many periods a CronJob may pass without success.
const failingPeriods = 3

// lookFailingCronJob looks at a CronJob whose Jobs do not succeed. One that was never scheduled may be new. A Job that
// still runs may succeed.
func lookFailingCronJob(f *Finder, o *object.Parts) *candidate {
	spec, status := o.At("spec"), o.At("status")
	scheduled, since := timeAt(status.Field("lastScheduleTime")), hadToSucceedSince(o)
	if spec.Field("suspend").String() == "true" || scheduled.IsZero() || since.IsZero() || !scheduled.After(since) {
		return nil
	}
	schedule, err := scheduleOf(spec)
	if err != nil {
		return nil // nobody knows what its periods are
	}
	at := since
	for range failingPeriods + 1 { // the last one may still be at work
		if at = schedule.Next(at); at.IsZero() || at.After(f.Now) {
			return nil
		}
	}
	c := certain(fmt.Sprintf("it has not succeeded in its last %d periods", failingPeriods), since)
	if but := mayHaveSucceeded(spec, status); but != "" {
		c.found.Confidence = v1alpha1.ConfidenceWeak
		c.found.Reason += ", but " + but
	}
	return c
}

// mayHaveSucceeded says why a CronJob may be well although no success was noted. Empty when nothing says so.
func mayHaveSucceeded(spec, status object.JSON) string {
	for range status.Field("active").Elements() {
		return "a Job of it still runs"
	}
	seconds, err := strconv.Atoi(spec.At("jobTemplate", "spec", "ttlSecondsAfterFinished").String())
	if err == nil && seconds < shortestLife {
		return "its Jobs may be gone before Kubernetes notes their success (ttlSecondsAfterFinished)"
	}
	return ""
}

// hadToSucceedSince is from when the periods of a CronJob count: since its last success, or since it was changed after
// that, which may have mended or resumed it.
func hadToSucceedSince(o *object.Parts) time.Time {
	since := timeAt(o.At("status", "lastSuccessfulTime"))
	if since.IsZero() {
		since = o.Created
	}
	for _, field := range []string{"schedule", "timeZone", "suspend", "jobTemplate"} {
		if at := changedAt(o, field); at.After(since) {
			since = at
		}
	}
	return since
}

// succeededByHand reports whether a suspended CronJob had a success that its schedule does not explain: the Jobs that
// people make from it by hand may be gone, but its status has them. Where nobody knows since when it is suspended, one
// that was scheduled succeeds before it is scheduled again.
func succeededByHand(o *object.Parts) bool {
	success, suspended := timeAt(o.At("status", "lastSuccessfulTime")), changedAt(o, "suspend")
	scheduled := timeAt(o.At("status", "lastScheduleTime"))
	switch {
	case success.IsZero():
		return false
	case scheduled.IsZero():
		return true
	case !suspended.IsZero():
		return success.After(suspended)
	}
	schedule, err := scheduleOf(o.At("spec"))
	return err != nil || success.After(schedule.Next(scheduled))
}

// scheduleOf is the schedule of a CronJob.
func scheduleOf(spec object.JSON) (cron.Schedule, error) {
	text := spec.Field("schedule").Text()
	if zone := spec.Field("timeZone").Text(); zone != "" {
		text = "CRON_TZ=" + zone + " " + text
	}
	return parseCron(text)
}

// parseCron reads a schedule. The parser panics at some texts.
func parseCron(text string) (schedule cron.Schedule, err error) {
	err = fault.Caught(func() (err error) {
		schedule, err = cron.ParseStandard(text)
		return err
	})
	return schedule, err
}
