// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"fmt"
	"slices"
	"strconv"
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// pendingFor is how long a Pod may wait for a Node, and unavailableFor how long a workload may be unavailable.
	pendingFor     = 10 * time.Minute
	unavailableFor = 10 * time.Minute
	// recently is how long ago something may have happened that is over: a container that ran out of memory.
	recently = 24 * time.Hour
)

func podRows() []*row {
	return []*row{
		{
			kind: pods, typ: v1alpha1.FindingFailed, actionable: true, body: true, ofOwned: true, look: lookFailedPod,
			means: "it failed or was evicted, and no Job needs it to count failures; the finding is Weak if a custom resource owns it, because that may count failures, too",
		},
		{
			kind: pods, typ: v1alpha1.FindingFinished, actionable: true, body: true, look: lookFinishedPod,
			means: "it has completed, and nothing owns it",
		},
		{
			kind:       pods,
			typ:        v1alpha1.FindingUnhealthy,
			actionable: true,
			body:       true,
			ofOwned:    true,
			ofStock:    true,
			crosses:    true,
			reads:      []schema.GroupKind{nodes},
			look:       lookUnhealthyPod,
			means: "a container ran out of memory within the last day; or the Pod has been pending for 10 minutes, none of its init containers runs, its priority is higher than -10, and it waits neither for its group nor in the queue of another scheduler; or its Node does not exist; or no " +
				"Deployment owns it, and a container crashes, cannot pull its image, or lacks its configuration",
		},
	}
}

// lookFailedPod looks at a Pod that a workload has replaced already. Those of a Job are its history.
func lookFailedPod(f *Finder, o *object.Parts) *candidate {
	status := o.At("status")
	if status.Field("phase").Text() != "Failed" {
		return nil
	}
	if owner, _ := graph.Controller(o); owner.GroupKind == jobs || owner.GroupKind == nodes {
		return nil
	}
	reason := status.Field("reason").Text()
	if reason == "" {
		reason = "Error"
	}
	if message := status.Field("message").Text(); message != "" {
		reason += ": " + message
	}
	c := certain("it failed: "+reason, endOf(o))
	owner, owned := graph.Controller(o)
	if !owned {
		c.found.doubtRecent(o, f.Now)
	}
	if owned && !slices.Contains(replacing, owner.GroupKind) {
		c.found.Confidence = v1alpha1.ConfidenceWeak
		c.found.Reason += "; " + owner.String() + ", which owns it, may count it as a Job does"
	}
	return c
}

// replacing are the kinds that have replaced a Pod that failed, and do not count it.
var replacing = []schema.GroupKind{replicaSets, statefulSets, daemonSets, controllers}

func lookFinishedPod(f *Finder, o *object.Parts) *candidate {
	if o.At("status", "phase").Text() != "Succeeded" {
		return nil
	}
	c := certain("it has completed, and nothing owns it", endOf(o))
	c.found.doubtRecent(o, f.Now)
	return c
}

// certain is a candidate that needs nothing else to be known.
func certain(reason string, since time.Time) *candidate {
	return &candidate{found: &Finding{Reason: reason, Since: since, Confidence: v1alpha1.ConfidenceCertain}}
}

// isHook reports whether Helm or Argo CD made the object for one moment, and deletes it by its own rules.
func isHook(o *object.Parts) bool {
	return annotation(o, "helm.sh/hook") != "" || annotation(o, "argocd.argoproj.io/hook") != ""
}

// containersOf are the statuses of all containers in the status of a Pod.
func containersOf(status object.JSON) (all []object.JSON) {
	for _, list := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		all = slices.AppendSeq(all, status.Field(list).Elements())
	}
	return all
}

// endOf is when the last container of a Pod ended.
func endOf(o *object.Parts) (end time.Time) {
	for _, container := range containersOf(o.At("status")) {
		if at := timeAt(container.At("state", "terminated", "finishedAt")); at.After(end) {
			end = at
		}
	}
	return end
}

// faults are the reasons for which a container waits, and that do not go away by waiting.
var faults = []string{
	"CrashLoopBackOff",
	"ImagePullBackOff",
	"ErrImagePull",
	"InvalidImageName",
	"ErrImageNeverPull",
	"CreateContainerConfigError",
	"CreateContainerError",
	"RunContainerError",
}

func lookUnhealthyPod(f *Finder, o *object.Parts) *candidate {
	status := o.At("status")
	phase, reason := status.Field("phase").Text(), status.Field("reason").Text()
	if phase == "Succeeded" || phase == "Failed" {
		return nil
	}
	for _, container := range containersOf(status) {
		if c := lookContainer(f, container); c != nil {
			waits := container.At("state", "waiting", "reason").Text()
			if _, owned := deploymentOf(o); owned && slices.Contains(faults, waits) { // the Deployment is unhealthy
				return nil
			}
			if slices.Contains(faults, waits) {
				c.found.Requests = requestsOf(o)
			}
			return c
		}
	}
	switch {
	case phase == "Unknown" || reason == "NodeLost":
		return certain("its Node does not report its state", time.Time{})
	case phase == "Pending":
		return lookPending(f, o)
	}
	return lookNode(f, o)
}

func lookContainer(f *Finder, container object.JSON) *candidate {
	name := container.Field("name").Text()
	if waits := container.At("state", "waiting", "reason").Text(); slices.Contains(faults, waits) {
		last := timeAt(container.At("lastState", "terminated", "finishedAt"))
		return certain(fmt.Sprintf("container %s waits: %s", name, whyWaits(container)), last)
	}
	for _, state := range []string{"state", "lastState"} {
		ended := container.At(state, "terminated")
		if at := timeAt(
			ended.Field("finishedAt"),
		); ended.Field("reason").Text() == "OOMKilled" &&
			(at.IsZero() || f.Now.Sub(at) < recently) {
			return certain(fmt.Sprintf("container %s ran out of memory (OOMKilled)", name), at)
		}
	}
	return nil
}

// whyWaits is why a container waits. Of its configuration the kubelet says what is missing: an object, or a key in it.
func whyWaits(container object.JSON) string {
	waiting := container.At("state", "waiting")
	why := waiting.Field("reason").Text()
	if message := waiting.Field("message").Text(); why == "CreateContainerConfigError" && message != "" {
		why += ": " + message
	}
	return why
}

// waitingPriority is the highest priority of Pods that only hold a place for others. Cluster Autoscaler adds no Node
// for Pods below it.
const waitingPriority = -10

// waits reports whether a Pod waits on purpose: it is gated, waits in a queue or for its group, or holds a place for
// others.
func waits(o *object.Parts) bool {
	for range o.At("spec", "schedulingGates").Elements() {
		return true
	}
	if o.At("spec", "schedulingGroup").Type() == object.Map || o.At("spec", "workloadRef").Type() == object.Map {
		return true // of Kubernetes 1.36 and 1.35: it waits for the other Pods of its group
	}
	if scheduler := o.At("spec", "schedulerName").Text(); scheduler != "" && scheduler != "default-scheduler" {
		return true // one for batches has queues, in which a Pod may wait for hours
	}
	if annotation(o, "scheduling.k8s.io/group-name") != "" || label(o, "pod-group.scheduling.sigs.k8s.io") != "" ||
		label(o, "scheduling.x-k8s.io/pod-group") != "" {
		return true
	}
	priority, err := strconv.Atoi(o.At("spec", "priority").String())
	return err == nil && priority <= waitingPriority
}

// isInitializing reports whether an init container of a Pod still works. One that always restarts runs beside the
// others.
func isInitializing(o *object.Parts) bool {
	var beside []string
	for container := range o.At("spec", "initContainers").Elements() {
		if container.Field("restartPolicy").Text() == "Always" {
			beside = append(beside, container.Field("name").Text())
		}
	}
	for container := range o.At("status", "initContainerStatuses").Elements() {
		runs := container.At("state", "running").Type() == object.Map
		if runs && !slices.Contains(beside, container.Field("name").Text()) {
			return true
		}
	}
	return false
}

// lookPending looks at a Pod that does not start.
func lookPending(f *Finder, o *object.Parts) *candidate {
	if waits(o) || isInitializing(o) {
		return nil
	}
	since, reason := o.Created, "it has been pending for more than 10 minutes"
	scheduled := conditionOf(o, "PodScheduled")
	switch scheduled.Field("status").Text() {
	case "False":
		if scheduled.Field("reason").Text() == "SchedulingGated" { // it has no gates any more, and was just let in
			return nil
		}
		reason = "the scheduler finds no Node for it: " + scheduled.Field("message").Text()
		since = timeAt(scheduled.Field("lastTransitionTime"))
	case "True":
		since = timeAt(scheduled.Field("lastTransitionTime"))
	}
	if since.IsZero() || f.Now.Sub(since) < pendingFor {
		return nil
	}
	return certain(reason, since)
}

func nodeNamed(name string) graph.Name { return graph.Name{GroupKind: nodes, Name: name} }

// lookNode looks for the Pod's Node. Nodes pass first, so that few Pods are kept. Where they may not be read, nothing
// is known of them.
func lookNode(f *Finder, o *object.Parts) *candidate {
	name := o.At("spec", "nodeName").Text()
	if name == "" || f.graph.IsPresent(nodeNamed(name)) || f.unread[nodes] != nil {
		return nil
	}
	name = unique.Make(name).Value() // many Pods are kept when a Node is gone: its name once
	return &candidate{decide: func(f *Finder, found Finding) *Finding {
		node := nodeNamed(name)
		if !f.isAbsent(node) {
			return nil
		}
		found.Confidence = v1alpha1.ConfidenceCertain
		found.Reason = "its " + node.String() + " does not exist"
		return &found
	}}
}
