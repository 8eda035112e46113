// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/faultproxy"
	"github.com/kubecleaner/kubecleaner/test/faults"
)

const touch = `function transform() obj.metadata.labels = {touched = "yes"} return {resource = obj} end`

// SIGTERM while a run acts: the objects in hand are finished, the lease is released, and the next manager finishes the run.
func TestSIGTERMFinishesTheObjectInHandAndLeavesTheRest(t *testing.T) {
	const victims = 100
	c := newClient(t)
	newNamespace(t, c, "stopping", victims)
	proxy := faultproxy.Start(t, env.Config)
	proxy.Handle(func(call *faultproxy.Call) faultproxy.Fault {
		if call.Verb == "patch" && call.Resource == "configmaps" {
			return faultproxy.Delay(300 * time.Millisecond) // so that there is a middle to stop in
		}
		return nil
	})
	m := launch(t, proxy.Kubeconfig(t))
	cleaner := &v1alpha1.Cleaner{
		ObjectMeta: metav1.ObjectMeta{Name: "stopping"},
		Spec: v1alpha1.CleanerSpec{
			Schedule: "0 0 1 1 *", Action: ptr.To(v1alpha1.ActionTransform), Transform: touch,
			ResourcePolicySet: v1alpha1.ResourcePolicySet{ResourceSelectors: []v1alpha1.ResourceSelector{{Version: "v1", Kind: "ConfigMap", Namespace: "stopping"}}},
		},
	}
	must(t, c.Create(t.Context(), cleaner))
	eventually(t, "the Cleaner was seen", func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(cleaner), cleaner)
		return cleaner.Status.ObservedGeneration > 0, err
	})
	objects := map[types.UID]*faults.Object{}
	for uid, object := range configMaps(t, c, "stopping") {
		objects[uid] = &faults.Object{Last: object}
	}
	before := cleaner.DeepCopy()
	cleaner.Annotations = map[string]string{v1alpha1.RunRequestedAtAnnotation: "now"}
	must(t, c.Patch(t.Context(), cleaner, client.MergeFrom(before)))
	eventually(t, "the run has changed something", func(ctx context.Context) (bool, error) {
		n, err := touched(ctx, c)
		return n > 0, err
	})
	m.stop(t)
	run := onlyRun(t, c, cleaner)
	n, err := touched(t.Context(), c)
	must(t, err)
	if n == victims {
		t.Fatal("the run came to its end before it was stopped: the test means nothing")
	}
	if run.Status.Phase != v1alpha1.RunExecuting {
		t.Fatalf("%d of %d objects were changed; the record says %s, %+v: %s", n, victims, run.Status.Phase, run.Status.RunCounts, run.Status.Message)
	}
	var lease leaseHolder
	must(t, lease.read(t.Context(), c))
	if lease.holder != "" {
		t.Fatalf("the lease is still held by %q", lease.holder)
	}
	startManager(t)
	eventually(t, "the next manager has finished the run", func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(cleaner), cleaner)
		return cleaner.Status.LastRun != nil && cleaner.Status.ActiveRun == nil, err
	})
	if run = onlyRun(t, c, cleaner); run.Status.Phase != v1alpha1.RunCompleted || run.Status.Acted != victims {
		t.Fatalf("the record says %s, %+v: %s", run.Status.Phase, run.Status.RunCounts, run.Status.Message)
	}
	records, err := faults.ReadRecords(t.Context(), c, cleaner.UID)
	must(t, err)
	for _, err := range faults.Check(&faults.World{
		Action: v1alpha1.ActionTransform, Storage: v1alpha1.StorageSecret, Before: objects, After: configMaps(t, c, "stopping"), Records: records,
		Touched: func(o *unstructured.Unstructured) bool { return o.GetLabels()["touched"] != "" },
	}) {
		t.Error(err)
	}
	saved := map[v1alpha1.OutcomeResult]int{}
	for _, outcome := range records[0].Outcomes {
		saved[outcome.Outcome]++
	}
	if len(records[0].Intents) != victims || len(records[0].Copies) != victims || saved[v1alpha1.OutcomeTransformed] != victims {
		t.Fatalf("of %d objects, there are %d in the intent, %d copies, and the outcomes %v", victims, len(records[0].Intents), len(records[0].Copies), saved)
	}
}

// No leader election; a second replica deletes twice: one works, and when it dies the other runs what was missed, once.
func TestAnotherTakesOverAndRunsWhatWasMissedOnce(t *testing.T) {
	c := newClient(t)
	newNamespace(t, c, "takeover", 5)
	first := startManager(t)
	var lease leaseHolder
	eventually(t, "the first manager leads", func(ctx context.Context) (bool, error) {
		err := lease.read(ctx, c)
		return lease.holder != "", client.IgnoreNotFound(err)
	})
	startManager(t)
	must(t, first.cmd.Process.Kill())
	<-first.exited
	// After the Cleaner is created, however busy the machine is, and before the dead manager's lease of 15 s is over. A time in
	// the second of the creation would be tomorrow's.
	due := time.Now().Add(8 * time.Second).UTC()
	cleaner := &v1alpha1.Cleaner{
		ObjectMeta: metav1.ObjectMeta{Name: "takeover"},
		Spec: v1alpha1.CleanerSpec{
			Schedule: fmt.Sprintf("%d %d %d * * *", due.Second(), due.Minute(), due.Hour()), Action: ptr.To(v1alpha1.ActionDelete),
			ResourcePolicySet: v1alpha1.ResourcePolicySet{ResourceSelectors: []v1alpha1.ResourceSelector{{Version: "v1", Kind: "ConfigMap", Namespace: "takeover"}}},
		},
	}
	must(t, c.Create(t.Context(), cleaner))
	eventually(t, "the second manager has run the Cleaner", func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(cleaner), cleaner)
		return cleaner.Status.LastRun != nil && cleaner.Status.ActiveRun == nil, err
	})
	run := onlyRun(t, c, cleaner)
	if run.Status.Acted != 5 || run.Spec.Trigger != v1alpha1.TriggerSchedule || run.Spec.NominalTime.Unix() != due.Unix() {
		t.Fatalf("the run is %+v, %+v", run.Spec, run.Status.RunCounts)
	}
}

// touched counts the ConfigMaps that the slow transform changed.
func touched(ctx context.Context, c client.Client) (int, error) {
	var list corev1.ConfigMapList
	err := c.List(ctx, &list, client.InNamespace("stopping"), client.MatchingLabels{"touched": "yes"})
	return len(list.Items), err
}

// onlyRun returns the Cleaner's CleanerRun, and fails the test unless there is just one.
func onlyRun(t *testing.T, c client.Client, cleaner *v1alpha1.Cleaner) v1alpha1.CleanerRun {
	t.Helper()
	var runs v1alpha1.CleanerRunList
	must(t, c.List(t.Context(), &runs, client.MatchingLabels{v1alpha1.CleanerLabel: string(cleaner.UID)}))
	if len(runs.Items) != 1 {
		t.Fatalf("there are %d CleanerRuns, want 1", len(runs.Items))
	}
	return runs.Items[0]
}
