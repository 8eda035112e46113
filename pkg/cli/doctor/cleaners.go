// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/schedule"
)

const (
	// unseenAfter is after how long the operator should have seen a new Cleaner.
	unseenAfter = time.Minute
	// overdueAfter is by how much a run may be late: the operator starts a run of its schedule within seconds, unless many
	// are due at once.
	overdueAfter = 5 * time.Minute
	// maxRun is how long a run may take that sets no activeDeadlineSeconds.
	maxRun = time.Hour
	// tooOften is the shortest time between two runs that is still taken for what the user meant.
	tooOften = time.Minute
)

// cleanersUnread is the line of a check that looks at Cleaners, if they could not be read.
func (p *patient) cleanersUnread() []Line {
	switch {
	case p.cleanersErr == nil:
		return nil
	case p.known() == nil:
		return []Line{{Status: Unknown, Message: "the cluster does not know Cleaners", WayOut: seeDefinitions}}
	}
	return []Line{unread("", "the Cleaners could not be read", p.cleanersErr)}
}

// ready looks whether the operator is ready to run each Cleaner.
func (p *patient) ready(context.Context) (lines []Line, well string) {
	if lines := p.cleanersUnread(); lines != nil {
		return lines, ""
	}
	unseen, held := 0, 0
	for i := range p.cleaners {
		c := &p.cleaners[i]
		if isHeld(c, p.there) {
			held++
		} else if meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady) == nil {
			unseen++
		}
		if line, wrong := notReady(c, p.there); wrong {
			lines = append(lines, line)
		}
		if c.Spec.Action == nil && c.Spec.ResourcePolicySet.Action == nil {
			lines = append(lines, Line{
				Status:  Warn,
				Object:  ref("Cleaner", c.Name),
				Message: "no action is set: it only reports (Scan); in k8s-cleaner it would delete",
				WayOut:  "set spec.action to Scan, Delete or Transform",
			})
		}
	}
	if len(p.cleaners) == 0 {
		return lines, "there are no Cleaners"
	}
	well = terminal.Counted(len(p.cleaners)-unseen-held, "Cleaner") + " without a problem"
	if held > 0 {
		well += "; stopped because another controller writes their status (see the check k8s-cleaner): " + terminal.Counted(held, "Cleaner")
	}
	if unseen > 0 {
		well += fmt.Sprintf("; the operator has not looked at %s yet", terminal.Counted(unseen, "new one"))
	}
	return lines, well
}

// isHeld reports whether a Cleaner does not run because another controller writes its status, or has overwritten what
// the operator said in it. The check k8s-cleaner names that controller.
func isHeld(c *v1alpha1.Cleaner, now time.Time) bool {
	ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	return (ready == nil || ready.Reason == v1alpha1.ReasonForeignController) && c.ForeignController(now) != ""
}

const askAgain = "run doctor again in a moment; if it stays so, see the checks operator and leader"

func notReady(c *v1alpha1.Cleaner, now time.Time) (Line, bool) {
	line := Line{Object: ref("Cleaner", c.Name)}
	ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case isHeld(c, now):
		return line, false
	case ready == nil && now.Sub(c.CreationTimestamp.Time) < unseenAfter:
		return line, false
	case ready == nil:
		line.Status, line.Message, line.WayOut = Fail, "the operator has never looked at it",
			"see the checks operator and leader"
	case c.Status.ObservedGeneration < c.Generation && ready.ObservedGeneration < c.Generation:
		line.Status, line.WayOut = Warn, askAgain
		line.Message = fmt.Sprintf(
			"the operator has not looked at its last edit (generation %d; it saw %d)",
			c.Generation,
			c.Status.ObservedGeneration,
		)
	case ready.Status == metav1.ConditionFalse && ready.Reason == v1alpha1.ReasonSuspended,
		ready.Status == metav1.ConditionTrue:
		return line, false
	default:
		line.Status, line.WayOut = Fail, wayOutOf(ready.Reason, c.Name)
		line.Message = fmt.Sprintf("it does not run: %s: %s", ready.Reason, ready.Message)
	}
	return line, true
}

// wayOutOf is what to do about a Cleaner that is not ready.
func wayOutOf(reason, name string) string {
	switch reason {
	case v1alpha1.ReasonServiceAccountForbidden:
		return "see the check rights"
	case v1alpha1.ReasonForeignController:
		return askAgain
	case v1alpha1.ReasonCRDOutdated:
		return "do not edit the Cleaner: apply the CustomResourceDefinitions first (" + seeDefinitions +
			"), then apply the Cleaner's own manifest again"
	}
	return "correct the Cleaner: kubectl edit cleaner " + name
}

// schedules looks for those that never fire, or too often.
func (p *patient) schedules(context.Context) (lines []Line, well string) {
	if lines := p.cleanersUnread(); lines != nil {
		return lines, ""
	}
	suspended, refused := 0, 0
	for i := range p.cleaners {
		ready := meta.FindStatusCondition(p.cleaners[i].Status.Conditions, v1alpha1.ConditionReady)
		switch {
		case ready != nil && ready.Reason == v1alpha1.ReasonInvalidSchedule:
			refused++ // the check cleaners says why
			continue
		case p.cleaners[i].IsSuspended():
			suspended++
		}
		lines = append(lines, doubtful(&p.cleaners[i], p.there)...)
	}
	well = terminal.Counted(len(p.cleaners)-suspended-refused, "schedule") + " can be read and fire"
	if refused > 0 {
		well += "; refused, see the check cleaners: " + terminal.Counted(refused, "Cleaner")
	}
	if suspended > 0 {
		well += "; suspended, and so not run: " + terminal.Counted(suspended, "Cleaner")
	}
	return lines, well
}

func doubtful(c *v1alpha1.Cleaner, now time.Time) (lines []Line) {
	edit := "correct spec.schedule: kubectl edit cleaner " + c.Name
	say := func(status Status, message string) {
		lines = append(lines, Line{Status: status, Object: ref("Cleaner", c.Name), Message: message, WayOut: edit})
	}
	parsed, err := schedule.Parse(c.Spec.Schedule, ptr.Deref(c.Spec.TimeZone, ""))
	if err != nil {
		say(Fail, err.Error())
		return lines
	}
	next := parsed.Next(now)
	if next.IsZero() {
		say(Fail, fmt.Sprintf("its schedule %q never fires", c.Spec.Schedule))
		return lines
	}
	for _, warning := range parsed.Warnings() {
		say(Warn, warning)
	}
	if gap := parsed.Next(next).Sub(next); len(lines) == 0 && gap > 0 && gap < tooOften {
		say(Warn, fmt.Sprintf("its schedule fires every %s", gap))
	}
	return lines
}

// runsOf looks for runs that are stuck, overdue or failed.
func (p *patient) runsOf(context.Context) (lines []Line, well string) {
	if lines := p.cleanersUnread(); lines != nil {
		return lines, ""
	}
	well = "no run is stuck or overdue, and the last run of each Cleaner succeeded"
	for i := range p.cleaners {
		c := &p.cleaners[i]
		if line, wrong := late(c, p.there); wrong {
			lines = append(lines, line)
		}
		done := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionRunSucceeded)
		switch {
		case done == nil || done.Status != metav1.ConditionFalse:
		case isReportedElsewhere(c, done):
			well = "no run is stuck or overdue, and all failures are reported by the checks cleaners and k8s-cleaner"
		default:
			lines = append(lines, Line{
				Status:  Warn,
				Object:  ref("Cleaner", c.Name),
				Message: fmt.Sprintf("its last run did not succeed: %s: %s", done.Reason, done.Message),
				WayOut:  terminal.Program + " runs " + c.Name,
			})
		}
	}
	return lines, well
}

// isReportedElsewhere reports whether the last run of a Cleaner failed for a reason that another check reports while it
// lasts: why the Cleaner is not ready, or another controller. When that is over, so is what the run says of it.
func isReportedElsewhere(c *v1alpha1.Cleaner, done *metav1.Condition) bool {
	ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	return done.Reason == v1alpha1.ReasonForeignController ||
		ready != nil && ready.Status == metav1.ConditionFalse && ready.Reason == done.Reason
}

// late says that a run of the Cleaner goes on for too long, or should have begun.
func late(c *v1alpha1.Cleaner, now time.Time) (Line, bool) {
	line := Line{
		Status: Fail,
		Object: ref("Cleaner", c.Name),
		WayOut: "see the checks operator and leader, and the operator's logs",
	}
	if active := c.Status.ActiveRun; active != nil {
		limit := maxRun
		if seconds := c.Spec.ActiveDeadlineSeconds; seconds != nil {
			limit = time.Duration(*seconds) * time.Second
		}
		age := now.Sub(active.NominalTime.Time)
		line.Message = fmt.Sprintf(
			"its run %s is stuck: it was due %s ago, and a run ends after %s",
			active.Name,
			age.Round(time.Second),
			limit,
		)
		return line, age > limit+overdueAfter
	}
	if next := c.Status.NextScheduleTime; next != nil && !c.IsSuspended() && !isHeld(c, now) {
		by := now.Sub(next.Time)
		line.Message = fmt.Sprintf(
			"its run is overdue: it was due at %s, %s ago",
			next.UTC().Format(time.RFC3339),
			by.Round(time.Second),
		)
		return line, by > overdueAfter
	}
	return line, false
}
