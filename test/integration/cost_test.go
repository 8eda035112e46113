// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// recipe creates the Cleaner of a recipe, armed, for the test's namespace only.
func (b *bench) recipe(name string, action v1alpha1.Action) *v1alpha1.Cleaner {
	b.t.Helper()
	text, err := os.ReadFile("../../config/recipes/" + name + "/cleaner.yaml")
	must(b.t, err)
	var read v1alpha1.Cleaner
	must(b.t, yaml.UnmarshalStrict(text, &read))
	return b.cleaner(action, func(c *v1alpha1.Cleaner) {
		c.Spec = read.Spec
		c.Spec.Action = &action
		for i := range selectors(c) {
			selectors(c)[i].Namespace, selectors(c)[i].NamespaceSelector = b.namespace, ""
		}
	})
}

var (
	deploymentKind  = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	statefulSetKind = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}
	cronJobKind     = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "CronJob"}
	autoscalerKind  = schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}
)

// sleeper creates an object that asks to be paused, in the test's namespace.
func (b *bench) sleeper(gvk schema.GroupVersionKind, name string, spec map[string]any) {
	b.t.Helper()
	b.thing(gvk, name, map[string]any{"metadata": map[string]any{
		"namespace": b.namespace, "annotations": map[string]any{"pause-resume": "true"},
	}, "spec": spec})
}

// replicated is the spec of a Deployment or StatefulSet.
func replicated(replicas int64) map[string]any {
	app := map[string]any{"app": "web"}
	return map[string]any{
		"replicas": replicas, "selector": map[string]any{"matchLabels": app}, "template": map[string]any{
			"metadata": map[string]any{"labels": app}, "spec": map[string]any{"containers": []any{map[string]any{"name": "app", "image": "app"}}},
		},
	}
}

// autoscaled is the spec of an autoscaler.
func autoscaled(target string, minimum int64) map[string]any {
	return map[string]any{
		"minReplicas": minimum, "maxReplicas": int64(9),
		"scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": target},
	}
}

// edit changes an object as somebody does by hand.
func (b *bench) edit(gvk schema.GroupVersionKind, name, patch string) {
	b.t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	u.SetNamespace(b.namespace)
	u.SetName(name)
	must(b.t, b.user.Patch(b.t.Context(), u, client.RawPatch("application/merge-patch+json", []byte(patch))))
}

// wantSleepers compares the field of each object, and its annotations besides pause-resume.
func (b *bench) wantSleepers(gvk schema.GroupVersionKind, field string, want map[string]string) {
	b.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	must(b.t, b.user.List(b.t.Context(), list, client.InNamespace(b.namespace)))
	got := map[string]string{}
	for _, item := range list.Items {
		value, _, err := unstructured.NestedFieldNoCopy(item.Object, "spec", field)
		must(b.t, err)
		got[item.GetName()] = fmt.Sprint(value)
		annotations := item.GetAnnotations()
		delete(annotations, "pause-resume")
		for key, text := range annotations {
			got[item.GetName()] += " " + key + "=" + text
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		b.t.Fatalf("%s (-want +got):\n%s", gvk.Kind, diff)
	}
}

// wantNothingToDo fails the test if a run of the Cleaner matches anything.
func (b *bench) wantNothingToDo(c *v1alpha1.Cleaner) {
	b.t.Helper()
	run := b.run(c)
	wantRun(b.t, run, v1alpha1.ReasonCompleted)
	if run.Status.Matched != 0 {
		b.t.Fatalf("%d objects matched: %s", run.Status.Matched, run.Status.Message)
	}
}

// TestScalingAtNightRestoresTheExactReplicas: down, a hand in the night, down again, and up. A second run changes nothing, and the target of an
// autoscaler is left alone.
func TestScalingAtNightRestoresTheExactReplicas(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	down, up := b.recipe("scale-down-workloads", v1alpha1.ActionTransform), b.recipe("scale-up-workloads", v1alpha1.ActionTransform)
	b.sleeper(deploymentKind, "web", replicated(3))
	b.sleeper(deploymentKind, "by-hand", replicated(5))
	b.sleeper(deploymentKind, "stopped", replicated(0))
	b.sleeper(deploymentKind, "autoscaled", replicated(4))
	b.sleeper(autoscalerKind, "hpa", autoscaled("autoscaled", 2))
	b.sleeper(statefulSetKind, "db", replicated(2))
	scratch := replicated(2)
	scratch["persistentVolumeClaimRetentionPolicy"] = map[string]any{"whenScaled": "Delete", "whenDeleted": "Retain"}
	b.sleeper(statefulSetKind, "scratch", scratch)

	wantRun(t, b.run(down), v1alpha1.ReasonCompleted, "3 changed")
	asleep := map[string]string{"web": "0 previous-replicas=3", "by-hand": "0 previous-replicas=5", "stopped": "0", "autoscaled": "4"}
	b.wantSleepers(deploymentKind, "replicas", asleep)
	b.wantSleepers(statefulSetKind, "replicas", map[string]string{"db": "0 previous-replicas=2", "scratch": "2"})

	b.edit(deploymentKind, "by-hand", `{"spec":{"replicas":1}}`)
	wantRun(t, b.run(down), v1alpha1.ReasonCompleted, "1 changed")
	b.wantNothingToDo(down)
	b.wantSleepers(deploymentKind, "replicas", asleep)

	wantRun(t, b.run(up), v1alpha1.ReasonCompleted, "3 changed")
	b.wantNothingToDo(up)
	b.wantSleepers(deploymentKind, "replicas", map[string]string{"web": "3", "by-hand": "5", "stopped": "0", "autoscaled": "4"})
	b.wantSleepers(statefulSetKind, "replicas", map[string]string{"db": "2", "scratch": "2"})
}

// TestScalingUpLeavesWhatSomebodyScaled: only the annotation goes. A number that cannot be read is reported, and does not keep the others down.
func TestScalingUpLeavesWhatSomebodyScaled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	down, up := b.recipe("scale-down-workloads", v1alpha1.ActionTransform), b.recipe("scale-up-workloads", v1alpha1.ActionTransform)
	for _, name := range []string{"web", "by-hand", "unreadable"} {
		b.sleeper(deploymentKind, name, replicated(3))
	}
	wantRun(t, b.run(down), v1alpha1.ReasonCompleted, "3 changed")
	b.edit(deploymentKind, "by-hand", `{"spec":{"replicas":2}}`)
	b.edit(deploymentKind, "unreadable", `{"metadata":{"annotations":{"previous-replicas":"many"}}}`)
	run := b.run(up)
	wantOutcome(t, run, "unreadable", v1alpha1.OutcomeNotEvaluated, "was-scaled-down")
	wantOutcome(t, run, "web", v1alpha1.OutcomeTransformed)
	b.wantSleepers(deploymentKind, "replicas", map[string]string{"web": "3", "by-hand": "2", "unreadable": "0 previous-replicas=many"})
}

// TestCronJobsAtNight: what was suspended before stays so.
func TestCronJobsAtNight(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	suspend, resume := b.recipe("suspend-cronjobs", v1alpha1.ActionTransform), b.recipe("resume-cronjobs", v1alpha1.ActionTransform)
	job := func(suspended bool) map[string]any {
		template := replicated(1)["template"]
		template.(map[string]any)["spec"].(map[string]any)["restartPolicy"] = "Never"
		return map[string]any{
			"schedule": "0 3 * * *", "suspend": suspended, "jobTemplate": map[string]any{"spec": map[string]any{"template": template}},
		}
	}
	b.sleeper(cronJobKind, "report", job(false))
	b.sleeper(cronJobKind, "before", job(true))
	wantRun(t, b.run(suspend), v1alpha1.ReasonCompleted, "1 changed")
	b.wantNothingToDo(suspend)
	b.wantSleepers(cronJobKind, "suspend", map[string]string{"report": "true previous-suspend=false", "before": "true"})
	wantRun(t, b.run(resume), v1alpha1.ReasonCompleted, "1 changed")
	b.wantNothingToDo(resume)
	b.wantSleepers(cronJobKind, "suspend", map[string]string{"report": "false", "before": "true"})
}

// TestAutoscalersAtNight restores the exact minimum, also after a second run in the evening.
func TestAutoscalersAtNight(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	down, up := b.recipe("scale-down-autoscalers", v1alpha1.ActionTransform), b.recipe("scale-up-autoscalers", v1alpha1.ActionTransform)
	b.sleeper(autoscalerKind, "web", autoscaled("web", 3))
	b.sleeper(autoscalerKind, "by-hand", autoscaled("by-hand", 5))
	b.sleeper(autoscalerKind, "one", autoscaled("one", 1))
	wantRun(t, b.run(down), v1alpha1.ReasonCompleted, "2 changed")
	b.edit(autoscalerKind, "by-hand", `{"spec":{"minReplicas":2}}`)
	wantRun(t, b.run(down), v1alpha1.ReasonCompleted, "1 changed")
	asleep := map[string]string{"web": "1 previous-min-replicas=3", "by-hand": "1 previous-min-replicas=5", "one": "1"}
	b.wantSleepers(autoscalerKind, "minReplicas", asleep)
	wantRun(t, b.run(up), v1alpha1.ReasonCompleted, "2 changed")
	b.wantNothingToDo(up)
	b.wantSleepers(autoscalerKind, "minReplicas", map[string]string{"web": "3", "by-hand": "5", "one": "1"})
}
