// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Requests are what Pods request of Nodes.
type Requests struct{ CPUMillis, MemoryBytes int64 }

// Plus adds.
func (r Requests) Plus(other Requests) Requests {
	return Requests{r.CPUMillis + other.CPUMillis, r.MemoryBytes + other.MemoryBytes}
}

func (r Requests) atLeast(other Requests) Requests {
	return Requests{max(r.CPUMillis, other.CPUMillis), max(r.MemoryBytes, other.MemoryBytes)}
}

// requestsIn reads what a list of resources requests.
func requestsIn(list object.JSON) (r Requests) {
	if quantity, err := resource.ParseQuantity(quantityIn(list.Field("cpu"))); err == nil {
		r.CPUMillis = quantity.MilliValue()
	}
	if quantity, err := resource.ParseQuantity(quantityIn(list.Field("memory"))); err == nil {
		r.MemoryBytes = quantity.Value()
	}
	return r
}

// quantityIn is a quantity, which manifests may write as a number.
func quantityIn(value object.JSON) string { return strings.Trim(value.String(), `"`) }

// requestsOf are what a Pod holds of its Node, as the scheduler counts: what its containers request together, or what
// one that runs before them does, if that is more. What the Pod requests as a whole takes the place of both.
func requestsOf(pod *object.Parts) Requests {
	spec := pod.At("spec")
	var running, starting Requests
	for container := range spec.Field("initContainers").Elements() {
		wants := running.Plus(requestsIn(container.At("resources", "requests")))
		if container.Field("restartPolicy").Text() == "Always" { // it goes on running
			running = wants
		}
		starting = starting.atLeast(wants)
	}
	for container := range spec.Field("containers").Elements() {
		running = running.Plus(requestsIn(container.At("resources", "requests")))
	}
	all, whole := running.atLeast(starting), requestsIn(spec.At("resources", "requests"))
	if whole.CPUMillis > 0 {
		all.CPUMillis = whole.CPUMillis
	}
	if whole.MemoryBytes > 0 {
		all.MemoryBytes = whole.MemoryBytes
	}
	return all.Plus(requestsIn(spec.Field("overhead")))
}

// hold takes note of what a Pod of a Deployment requests and does not use. It may pass twice.
func (n *notes) hold(deployment graph.Name, pod *object.Parts) {
	if n.held[deployment] == nil {
		n.held[deployment] = map[string]Requests{}
	}
	n.held[deployment][strings.Clone(pod.Name)] = requestsOf(pod)
}

// heldBy is what those Pods of a Deployment request together.
func (n *notes) heldBy(deployment graph.Name) (all Requests) {
	for _, requests := range n.held[deployment] {
		all = all.Plus(requests)
	}
	return all
}
