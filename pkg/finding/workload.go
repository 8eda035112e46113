// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func workloadRows() []*row {
	idle := func(kind schema.GroupKind) *row {
		return &row{
			kind: kind, typ: v1alpha1.FindingIdle, actionable: true, body: true, look: lookIdle,
			reads: slices.Concat(rbacKinds, []schema.GroupKind{cronJobs}),
			means: "it has no replicas, and nothing scales it up when it is needed",
		}
	}
	return []*row{
		idle(deployments),
		idle(statefulSets),
		{
			kind:       deployments,
			typ:        v1alpha1.FindingUnhealthy,
			actionable: true,
			body:       true,
			ofStock:    true,
			look:       lookUnavailable,
			reads:      []schema.GroupKind{pods},
			means: fmt.Sprintf(
				"it has been unavailable for 10 minutes, its rollout does not progress, or a container of its Pods crashes, has no image, or "+
					"has restarted %d times",
				manyRestarts,
			),
		},
		{
			kind: daemonSets, typ: v1alpha1.FindingIdle, body: true, likely: true, look: lookIdleDaemonSet,
			means: "it is scheduled to no Node; that may change when Nodes are added",
		},
		{
			kind: replicaSets, typ: v1alpha1.FindingUnused, actionable: true, body: true, look: lookReplicaSet,
			reads: slices.Concat(scalers, rbacKinds, []schema.GroupKind{cronJobs}),
			means: "it has no Pods and no owner, and nothing scales it; if no Deployment made it, the finding is Weak",
		},
	}
}

// isZero reports whether a number is 0.
func isZero(value object.JSON) bool { return value.String() == "0" }

// lookIdle looks at what has no replicas, and knows since when only where it is recorded who wrote that.
func lookIdle(_ *Finder, o *object.Parts) *candidate {
	if !isZero(o.At("spec", "replicas")) || graph.IsPaused(o) {
		return nil
	}
	since := changedAt(o, "replicas")
	if progress := timeAt(
		conditionOf(o, "Progressing").Field("lastUpdateTime"),
	); !since.IsZero() &&
		progress.After(since) {
		since = progress
	}
	c := &candidate{found: &Finding{Since: since}, decide: decideIdle}
	takesClaims := o.At("spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted").Text() == "Delete"
	if claims := o.At("spec", "volumeClaimTemplates"); takesClaims && claims.Type() == object.List {
		c.decide = weakIdle(", but its PersistentVolumeClaims are deleted with it") // who knows who wants their data
	}
	return c
}

// decideIdle finds a workload that nothing scales up when it is needed.
func decideIdle(f *Finder, found Finding) *Finding {
	name := nameOf(&found)
	if f.scaled[name] || f.asleep[name.Namespace] {
		return nil
	}
	found.Reason = "it has no replicas, and nothing scales it up"
	if found.Unknown = f.unreadOf(scalers...); len(found.Unknown) > 0 {
		found.Reason = "it has no replicas, but it is unknown whether something scales it up"
		return &found
	}
	found.Confidence = v1alpha1.ConfidenceCertain
	if f.commanded[found.Name] {
		found.Confidence = v1alpha1.ConfidenceWeak
		found.Reason = "it has no replicas, but a CronJob whose commands scale something names it"
	} else if user := f.customUser(name); user != "" {
		found.Confidence = v1alpha1.ConfidenceWeak
		found.Reason = "it has no replicas, but " + user + " names it, and its controller may scale it up"
	} else if maker, is := f.graph.Custom(name.Namespace, name.Name); is {
		found.Confidence = v1alpha1.ConfidenceWeak
		found.Reason = "it has no replicas, but " + maker.String() + " has its name, and its controller may scale it up"
	}
	f.doubtIdle(&found)
	return &found
}

// weakIdle is decideIdle for an object that shows why the finding is not certain.
func weakIdle(but string) func(*Finder, Finding) *Finding {
	return func(f *Finder, found Finding) *Finding {
		idle := decideIdle(f, found)
		if idle != nil && idle.Confidence == v1alpha1.ConfidenceCertain {
			idle.Confidence = v1alpha1.ConfidenceWeak
			idle.Reason += but
		}
		return idle
	}
}

// customUser is a custom resource that names a workload, in what somebody wants of it. What KEDA and others want is
// known better. Empty when there is none.
func (f *Finder) customUser(name graph.Name) string {
	kinds := f.Table.CustomKinds()
	for _, user := range f.graph.Use(name).Users {
		if slices.Contains(kinds, user.GroupKind) && !slices.Contains(scalers, user.GroupKind) &&
			!strings.HasPrefix(user.Path, "status.") {
			return user.String()
		}
	}
	return ""
}

// lookUnavailable looks at a Deployment that should run Pods. One without replicas is idle, and not unhealthy.
func lookUnavailable(f *Finder, o *object.Parts) *candidate {
	if isZero(o.At("spec", "replicas")) {
		return nil
	}
	c := &candidate{found: &Finding{}, decide: decideUnavailable}
	progress := conditionOf(o, "Progressing")
	switch reason := progress.Field("reason").Text(); progress.Field("status").Text() {
	case "False":
		c.found.Reason = "its rollout does not progress: " + reason
		c.found.Since = timeAt(progress.Field("lastTransitionTime"))
		return c
	case "True": // its progressDeadlineSeconds have not passed
		if reason != "NewReplicaSetAvailable" {
			return c
		}
	}
	available := conditionOf(o, "Available")
	since := timeAt(available.Field("lastTransitionTime"))
	if available.Field("status").Text() == "False" && !since.IsZero() && f.Now.Sub(since) >= unavailableFor {
		c.found.Reason, c.found.Since = "too few of its Pods are available", since
	}
	return c
}

// decideUnavailable finds a Deployment that says that it does not run, or of which a Pod does not.
func decideUnavailable(f *Finder, found Finding) *Finding {
	name := nameOf(&found)
	found.Reason = cmp.Or(found.Reason, f.faulty[name])
	if found.Reason == "" {
		return nil
	}
	found.Confidence, found.Requests = v1alpha1.ConfidenceCertain, f.heldBy(name)
	return &found
}

func lookIdleDaemonSet(_ *Finder, o *object.Parts) *candidate {
	status := o.At("status")
	if !isZero(status.Field("desiredNumberScheduled")) ||
		status.Field("observedGeneration").String() != o.At("metadata", "generation").String() {
		return nil
	}
	return &candidate{found: &Finding{Reason: "no Node matches it (0 desired)", Confidence: v1alpha1.ConfidenceLikely}}
}

// lookReplicaSet looks at one that no Deployment keeps. Those that one keeps are for a rollback, and it deletes what is
// beyond its limit.
func lookReplicaSet(_ *Finder, o *object.Parts) *candidate {
	if !isZero(o.At("spec", "replicas")) || !isZero(o.At("status", "replicas")) || graph.IsPaused(o) {
		return nil
	}
	c := &candidate{decide: decideIdle}
	if annotation(o, "deployment.kubernetes.io/revision") == "" {
		// A person or Spinnaker made it.
		c.decide = weakIdle("; but no Deployment made it, and who did may scale it up again")
	}
	return c
}
