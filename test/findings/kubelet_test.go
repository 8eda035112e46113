// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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
		_, isElsewhere, _ := unstructured.NestedString(o.Object, "spec", "managedBy")
		return isElsewhere || len(conditions) > 0 || becomes != "Succeeded" && becomes != "Failed" && number(0, "status", "ready") > 0
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
		if phase != "Pending" || hasConditions || hasContainers || becomes == "Pending" || pod.GetDeletionTimestamp() != nil {
			continue
		}
		isQuiet = false
		if err := c.bind(ctx, pod); err != nil {
			return false, err
		}
		c.addresses++
		patch := statusPatch(statusOf(becomes, fmt.Sprintf("10.1.%d.%d", c.addresses/250, c.addresses%250+1)))
		pods := c.client.Resource(core("pods")).Namespace(pod.GetNamespace())
		_, err := pods.Patch(ctx, pod.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		if err != nil {
			return false, fmt.Errorf("running Pod %s/%s: %w", pod.GetNamespace(), pod.GetName(), err)
		}
	}
	return isQuiet, nil
}

// bind plays the scheduler: only a Pod on a Node is an endpoint.
func (c *cluster) bind(ctx context.Context, pod *unstructured.Unstructured) error {
	if node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName"); node != "" {
		return nil
	}
	node := playedNode
	terms, _, _ := unstructured.NestedSlice(pod.Object, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	for _, term := range terms { // as DaemonSets say on which Node a Pod is to run
		term, _ := term.(map[string]any)
		var selector corev1.NodeSelectorTerm
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(term, &selector); err != nil {
			return err
		}
		for _, field := range selector.MatchFields {
			node = field.Values[0]
		}
	}
	binding := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Binding", "metadata": map[string]any{"name": pod.GetName()},
		"target": map[string]any{"apiVersion": "v1", "kind": "Node", "name": node},
	}}
	_, err := c.client.Resource(core("pods")).Namespace(pod.GetNamespace()).Create(ctx, binding, metav1.CreateOptions{}, "binding")
	if err != nil {
		return fmt.Errorf("binding Pod %s/%s: %w", pod.GetNamespace(), pod.GetName(), err)
	}
	return nil
}

// playedNode is the Node on which Pods run that name none.
const playedNode = "played"

// playNode creates that Node, and says until the test ends that it is alive: otherwise its Pods would be found not to be ready.
func (c *cluster) playNode(t *testing.T) error {
	node := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": playedNode},
		"spec": map[string]any{"taints": []any{map[string]any{"key": "scenario", "effect": "NoSchedule"}}},
	}}
	if _, err := c.client.Resource(core("nodes")).Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		return err
	}
	status := statusPatch(map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Played", "message": "played"}}})
	if _, err := c.client.Resource(core("nodes")).Patch(t.Context(), playedNode, types.MergePatchType, status, metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	leases := c.client.Resource(schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}).Namespace("kube-node-lease")
	lease := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"name": playedNode},
		"spec": map[string]any{"holderIdentity": playedNode, "leaseDurationSeconds": int64(40)},
	}}
	if _, err := leases.Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		return err
	}
	go wait.UntilWithContext(t.Context(), func(ctx context.Context) {
		patch := fmt.Sprintf(`{"spec": {"renewTime": %q}}`, time.Now().UTC().Format(metav1.RFC3339Micro))
		_, _ = leases.Patch(ctx, playedNode, types.MergePatchType, []byte(patch), metav1.PatchOptions{}) // the next one is soon
	}, 10*time.Second)
	return nil
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
	if becomes == "Restarting" {
		status := statusOf("Running", address)
		running := map[string]any{"running": map[string]any{}}
		status["containerStatuses"] = []any{map[string]any{"name": "a", "image": "i", "imageID": "i", "restartCount": 500, "ready": true, "state": running}}
		return status
	}
	waiting := map[string]any{"waiting": map[string]any{"reason": becomes, "message": "played"}}
	return map[string]any{
		"phase": "Running", "podIP": address, "podIPs": []any{map[string]any{"ip": address}},
		"conditions":        []any{condition("PodScheduled", "True"), condition("Ready", "False")},
		"containerStatuses": []any{map[string]any{"name": "a", "image": "i", "imageID": "i", "restartCount": 50, "ready": false, "state": waiting}},
	}
}
