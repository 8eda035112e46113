// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// finishedFor is how long a Job that succeeded is kept, so that people see it.
const finishedFor = time.Hour

func jobRows() []*row {
	return []*row{
		{
			kind:       jobs,
			typ:        v1alpha1.FindingFinished,
			actionable: true,
			body:       true,
			reads:      rbacKinds,
			look:       lookFinishedJob,
			means:      "it completed more than an hour ago; no CronJob owns it, it has no ttlSecondsAfterFinished, and it is not a hook of Helm or Argo CD",
		},
		{
			kind: jobs, typ: v1alpha1.FindingFailed, actionable: true, body: true, look: lookFailedJob,
			means: "it failed; no CronJob owns it, it has no ttlSecondsAfterFinished, and it is not a hook of Helm or Argo CD",
		},
		{
			kind: jobs, typ: v1alpha1.FindingIdle, actionable: true, body: true, look: lookSuspendedJob,
			reads: slices.Concat(rbacKinds, []schema.GroupKind{workloads, cronJobs}),
			means: "it is suspended, and neither Kueue, kube-green nor another controller suspended it",
		},
		{
			kind: cronJobs, typ: v1alpha1.FindingIdle, actionable: true, body: true, look: lookSuspendedCronJob,
			reads: slices.Concat(rbacKinds, []schema.GroupKind{jobs, cronJobs}),
			means: "it is suspended, nothing resumes it, and no Job was made from it by hand",
		},
		{
			kind:       cronJobs,
			typ:        v1alpha1.FindingUnhealthy,
			actionable: true,
			body:       true,
			ofStock:    true,
			look:       lookFailingCronJob,
			means:      fmt.Sprintf("it has not succeeded in its last %d periods, and nobody changed it in that time", failingPeriods),
		},
	}
}

// doubtRecent makes a finding of what has ended within the last hour Weak: who made it may be about to read how.
// Where nobody knows when it ended, it has not ended before it was made.
func (f *Finding) doubtRecent(o *object.Parts, now time.Time) {
	since := f.Since
	if since.IsZero() {
		since = o.Created
	}
	if !since.IsZero() && now.Sub(since) < finishedFor {
		f.Confidence = v1alpha1.ConfidenceWeak
		f.Reason += ", but less than an hour ago"
	}
}

// isOver looks for a condition that says how a Job ended. Some delete themselves.
func isOver(o *object.Parts, condition string) (object.JSON, bool) {
	found := conditionOf(o, condition)
	if found.Field("status").Text() != "True" ||
		o.At("spec", "ttlSecondsAfterFinished").Type() == object.Number {
		return nil, false
	}
	return found, true
}

func lookFinishedJob(f *Finder, o *object.Parts) *candidate {
	condition, over := isOver(o, "Complete")
	if !over {
		return nil
	}
	since := timeAt(o.At("status", "completionTime"))
	if since.IsZero() {
		since = timeAt(condition.Field("lastTransitionTime"))
	}
	if !since.IsZero() && f.Now.Sub(since) < finishedFor {
		return nil
	}
	labels := labelsOf(o)
	for _, label := range labels {
		f.bytes += int64(32 + len(label))
	}
	return &candidate{found: &Finding{Since: since}, decide: func(f *Finder, found Finding) *Finding {
		return decideFinishedJob(f, found, labels)
	}}
}

// labelsOf are the labels of a Job and of its Pods, as a selector has them.
func labelsOf(o *object.Parts) (all []string) {
	for _, labels := range []object.JSON{
		o.At("metadata", "labels"), o.At("spec", "template", "metadata", "labels"),
	} {
		for label, value := range labels.Fields() {
			all = append(all, label.String()+"="+value.Text())
		}
	}
	return all
}

func decideFinishedJob(f *Finder, found Finding, labels []string) *Finding {
	found.Reason, found.Confidence = "it is complete, and nothing deletes it", v1alpha1.ConfidenceCertain
	why := ""
	if unread := slices.DeleteFunc(f.unreadAnywhere(f.Table.PodKinds()...), f.isElsewhere); len(unread) > 0 {
		why = "a " + unread[0].Kind.String() + " may wait for it, and these could not be read"
	}
	why = cmp.Or(f.mayBeAwaited(nameOf(&found)), why)
	if f.waited[[2]string{found.Namespace, found.Name}] || f.waited[[2]string{anyNamespace, found.Name}] {
		why = "a container waits for a Job, and names it"
	}
	if f.waited[[2]string{found.Namespace, anyJob}] || f.waited[[2]string{anyNamespace, anyJob}] {
		why = cmp.Or(why, "a container may wait for it: it chooses Jobs by a variable or a selector")
	}
	if slices.ContainsFunc(labels, func(label string) bool {
		return f.waited[[2]string{found.Namespace, label}] || f.waited[[2]string{anyNamespace, label}]
	}) {
		why = "a container waits for a Job or for Pods with its labels"
	}
	if why != "" {
		found.Confidence = v1alpha1.ConfidenceWeak
		found.Reason += ", but " + why
	}
	return &found
}

func lookFailedJob(f *Finder, o *object.Parts) *candidate {
	condition, over := isOver(o, "Failed")
	if !over {
		return nil
	}
	c := certain("it failed: "+condition.Field("reason").Text(), timeAt(condition.Field("lastTransitionTime")))
	c.found.doubtRecent(o, f.Now)
	return c
}

// lookSuspendedJob looks at a Job that is suspended now: the condition stays, with False, after it was resumed.
func lookSuspendedJob(_ *Finder, o *object.Parts) *candidate {
	condition, spec := conditionOf(o, "Suspended"), o.At("spec")
	if condition.Field("status").Text() != "True" || spec.Field("suspend").String() != "true" ||
		graph.IsPaused(o) || label(o, "kueue.x-k8s.io/queue-name") != "" || spec.Field("managedBy").Text() != "" {
		return nil
	}
	c := suspended(timeAt(condition.Field("lastTransitionTime")))
	decide := c.decide
	c.decide = func(f *Finder, found Finding) *Finding {
		if f.queued[nameOf(&found)] {
			return nil
		}
		idle := unlessUnread(decide(f, found), f.unreadOf(workloads), "Kueue holds it")
		f.doubtIdle(idle)
		return idle
	}
	return c
}

// unlessUnread is what was found, and unknown where kinds that would show something else could not be read.
func unlessUnread(found *Finding, unread []Unread, what string) *Finding {
	if found != nil && len(unread) > 0 {
		found.Unknown, found.Confidence = append(found.Unknown, unread...), ""
		found.Reason = "it is suspended, but it is unknown whether " + what
	}
	return found
}

func lookSuspendedCronJob(_ *Finder, o *object.Parts) *candidate {
	if o.At("spec", "suspend").String() != "true" || graph.IsPaused(o) {
		return nil
	}
	c, byHand := suspended(changedAt(o, "suspend")), succeededByHand(o)
	decide := c.decide
	c.decide = func(f *Finder, found Finding) *Finding {
		if f.byHand[nameOf(&found)] {
			return nil
		}
		idle := unlessUnread(decide(f, found), f.unreadOf(jobs), "people make Jobs from it by hand")
		if byHand && idle != nil && len(idle.Unknown) == 0 {
			idle.Confidence = v1alpha1.ConfidenceWeak
			idle.Reason += ", but it succeeded after that: people may make Jobs from it by hand"
		}
		f.doubtIdle(idle)
		return idle
	}
	return c
}

// suspended finds what is suspended, unless kube-green suspends it for the night.
func suspended(since time.Time) *candidate {
	return &candidate{found: &Finding{Since: since}, decide: func(f *Finder, found Finding) *Finding {
		if f.asleep[found.Namespace] {
			return nil
		}
		found.Reason = "it is suspended"
		if found.Unknown = f.unreadOf(sleepInfos); len(found.Unknown) > 0 {
			found.Reason = "it is suspended, but it is unknown whether it only sleeps"
			return &found
		}
		found.Confidence = v1alpha1.ConfidenceCertain
		return &found
	}}
}

// changedAt is when a field of the spec was last written.
func changedAt(o *object.Parts, field string) time.Time {
	return object.ChangedAt(o.At("metadata"), field)
}
