// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"cmp"
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

// settle plays the kubelet until all workloads are as they should be, by what their controllers say.
func (c *cluster) settle(ctx context.Context) error {
	restless := ""
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		restless = ""
		isQuiet, err := c.runPods(ctx)
		if err != nil || !isQuiet {
			return false, err
		}
		for _, resource := range []schema.GroupVersionResource{
			apps("deployments"), apps("statefulsets"), apps("replicasets"), apps("daemonsets"), core("replicationcontrollers"),
			{Group: "batch", Version: "v1", Resource: "jobs"},
		} {
			list, err := c.client.Resource(resource).List(ctx, metav1.ListOptions{})
			if err != nil {
				return false, err
			}
			for i := range list.Items {
				if !isSettled(&list.Items[i]) {
					restless = fmt.Sprintf("%s %s/%s: %v", list.Items[i].GetKind(), list.Items[i].GetNamespace(), list.Items[i].GetName(), list.Items[i].Object["status"])
					return false, nil
				}
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for %s: %w", restless, err)
	}
	return nil
}

// isSettled reports whether a workload has what it asks for.
func isSettled(o *unstructured.Unstructured) bool {
	number := func(otherwise int64, path ...string) int64 {
		n, found, _ := unstructured.NestedInt64(o.Object, path...)
		if !found {
			return otherwise
		}
		return n
	}
	becomes, _, _ := unstructured.NestedString(o.Object, "spec", "template", "metadata", "annotations", "becomes")
	if o.GetKind() == "Job" {
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		return len(conditions) > 0 || becomes != "Succeeded" && becomes != "Failed" && number(0, "status", "ready") > 0 || o.Object["spec"].(map[string]any)["managedBy"] != nil
	}
	if number(0, "status", "observedGeneration") < o.GetGeneration() {
		return false
	}
	if o.GetKind() == "DaemonSet" {
		return becomes != "" || number(0, "status", "numberReady") == number(0, "status", "desiredNumberScheduled")
	}
	wanted := number(1, "spec", "replicas")
	return number(0, "status", "replicas") == wanted && (becomes != "" || number(0, "status", "readyReplicas") == wanted)
}

// runPods sets the status of Pods that have none. It reports whether there was nothing to do.
func (c *cluster) runPods(ctx context.Context) (bool, error) {
	pods, err := c.client.Resource(core("pods")).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	isQuiet := true
	for i := range pods.Items {
		pod := &pods.Items[i]
		becomes := cmp.Or(pod.GetAnnotations()["becomes"], "Running")
		phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
		_, hasConditions, _ := unstructured.NestedSlice(pod.Object, "status", "conditions")
		_, hasContainers, _ := unstructured.NestedSlice(pod.Object, "status", "containerStatuses")
		if phase != "Pending" || hasConditions || hasContainers || becomes == "Pending" {
			continue
		}
		isQuiet = false
		c.addresses++
		patch := statusPatch(statusOf(becomes, fmt.Sprintf("10.1.%d.%d", c.addresses/250, c.addresses%250+1)))
		_, err := c.client.Resource(core("pods")).Namespace(pod.GetNamespace()).Patch(ctx, pod.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		if err != nil {
			return false, fmt.Errorf("running Pod %s/%s: %w", pod.GetNamespace(), pod.GetName(), err)
		}
	}
	return isQuiet, nil
}

func statusOf(becomes, address string) map[string]any {
	condition := func(typ, status string) map[string]any { return map[string]any{"type": typ, "status": status} }
	switch becomes {
	case "Succeeded", "Failed":
		return map[string]any{"phase": becomes}
	case "Running":
		return map[string]any{
			"phase": "Running", "podIP": address, "podIPs": []any{map[string]any{"ip": address}},
			"conditions": []any{condition("PodScheduled", "True"), condition("Ready", "True")},
		}
	}
	waiting := map[string]any{"waiting": map[string]any{"reason": becomes, "message": "played"}}
	return map[string]any{
		"phase": "Running", "podIP": address, "podIPs": []any{map[string]any{"ip": address}},
		"conditions":        []any{condition("PodScheduled", "True"), condition("Ready", "False")},
		"containerStatuses": []any{map[string]any{"name": "a", "image": "i", "imageID": "i", "restartCount": 50, "ready": false, "state": waiting}},
	}
}
