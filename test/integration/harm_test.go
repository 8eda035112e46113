// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

// The emergency stop: a Delete run that was only planning when its operator went away is not carried out under --dry-run.
func TestPlannedDeleteIsNotTakenUpUnderDryRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.startExecutor()
	at := newBarrier(t)
	defer at.open()
	b.holdRequests(at, http.MethodGet, b.namespace+"/configmaps")
	l.at(l.first())
	at.await(1)
	next := l.successor(func(s *settings) { s.off = stop.Fixed(v1alpha1.DryRunByFlag) })
	next.startExecutor()
	next.at(l.first().Add(time.Minute))
	next.finish()
	if !b.exists("old") {
		t.Fatal("the run deleted despite --dry-run")
	}
	wantCondition(t, next.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed, "the Cleaner was changed, or acting was stopped or resumed. The next run uses the new state.")
}

// Nor is one carried out whose Cleaner is a Scan by now.
func TestPlannedDeleteIsNotTakenUpAfterAnEdit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.startExecutor()
	at := newBarrier(t)
	defer at.open()
	b.holdRequests(at, http.MethodGet, b.namespace+"/configmaps")
	l.at(l.first())
	at.await(1)
	l.change(func(c *v1alpha1.Cleaner) { c.Spec.Action = ptr.To(v1alpha1.ActionScan) })
	next := l.successor()
	next.startExecutor()
	next.at(l.first().Add(time.Minute))
	next.finish()
	if !b.exists("old") {
		t.Fatal("the run deleted although the Cleaner is a Scan by now")
	}
}

// A Cleaner that was created again under its name does not run by its predecessor's request.
func TestCleanerCreatedAgainDoesNotRunByTheOldRequest(t *testing.T) {
	t.Parallel()
	at := newBarrier(t)
	b := newBench(t, at.atBeginning)
	b.configMap("old")
	before := b.follow(b.cleaner(v1alpha1.ActionScan))
	b.startExecutor()
	before.at(before.first())
	at.await(1)
	again := before.recreate(v1alpha1.ActionDelete) // its own first tick is later
	at.open()
	b.waitFinished(again.now)
	if !b.exists("old") {
		t.Fatal("the new Cleaner deleted by the old one's request")
	}
}

// startingDeadlineSeconds holds for a run that waits for a worker too.
func TestRunThatWaitedTooLongIsMissed(t *testing.T) {
	t.Parallel()
	at := newBarrier(t)
	b := newBench(t, at.atBeginning)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, func(c *v1alpha1.Cleaner) { c.Spec.StartingDeadlineSeconds = ptr.To[int64](60) }))
	b.startExecutor()
	l.at(l.first())
	at.await(1) // stands for the queue
	b.clock.SetTime(l.first().Add(2 * time.Hour))
	at.open()
	l.finish()
	if !b.exists("old") {
		t.Fatal("the run began two hours late")
	}
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed, "startingDeadlineSeconds allows 60 s", "--max-parallel-runs")
}

// More than a Duration holds must not turn into less than nothing.
func TestHugeMinAgeSelectsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("young")
	c := b.cleaner(v1alpha1.ActionDelete)
	spec := *selectors(c)[0].DeepCopy()
	spec.MinAgeSeconds = ptr.To[int64](31536000000000)
	if found := b.selected(t, spec); len(found) != 0 {
		t.Fatalf("selected %v", found)
	}
}

func TestAnnotatedPersistentVolumeIsProtected(t *testing.T) {
	raw := `{"metadata":{"name":"a","uid":"1","resourceVersion":"1","annotations":{"cleaner/protect":"true"}},"status":{"phase":"Released"}}`
	o, err := object.New(object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("PersistentVolume")}, []byte(raw))
	must(t, err)
	if reason, err := (guard.Protection{}).Reason(v1alpha1.ActionDelete, o, nil); reason == "" || err != nil {
		t.Fatalf("the reason is %q %v", reason, err)
	}
}

// What is not counts stays, although it has their name.
func TestForeignConfigMapIsLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionScan)
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: "cleaner-" + c.Name},
		Data:       map[string]string{"values.yaml": "important: true"},
	}
	must(t, b.user.Create(t.Context(), cm))
	b.reconcile(c)
	must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(cm), cm))
	c = b.get(c.Name)
	c.Spec.OccurrenceThreshold = ptr.To[int32](2)
	must(t, b.user.Update(t.Context(), c))
	wantRun(t, b.run(c), v1alpha1.ReasonViewIncomplete, "the ConfigMap is not one that KubeCleaner wrote", "rename the ConfigMap or the Cleaner")
	must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(cm), cm))
	if len(cm.OwnerReferences) != 0 || cm.Data["values.yaml"] == "" {
		t.Fatalf("the ConfigMap is %+v", cm)
	}
}
