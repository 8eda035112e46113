// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// The Report has the Cleaner's name, is rewritten by every run with a CleanerReport notification (also when nothing matched),
// and goes away with the Cleaner.
func TestReportIsRewrittenByEachRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", stale)
	b.configMap("used")
	c := b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale), notifying(v1alpha1.NotificationCleanerReport))
	b.run(c)
	report := b.reported(c)
	owner := metav1.OwnerReference{APIVersion: "apps.projectsveltos.io/v1alpha1", Kind: "Cleaner", Name: c.Name, UID: c.UID, Controller: ptr.To(true)}
	if diff := cmp.Diff([]metav1.OwnerReference{owner}, report.OwnerReferences); diff != "" {
		t.Fatalf("ownerReferences (-want +got):\n%s", diff)
	}
	want := v1alpha1.ReportSpec{Action: v1alpha1.ActionDelete, ResourceInfo: []v1alpha1.ResourceInfo{{
		Resource: corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: b.namespace, Name: "old"}, Message: "old is stale",
	}}}
	if diff := cmp.Diff(want, report.Spec); diff != "" {
		t.Fatalf("the Report (-want +got):\n%s", diff)
	}
	b.run(c)
	nothing := v1alpha1.ReportSpec{Action: v1alpha1.ActionDelete, ResourceInfo: []v1alpha1.ResourceInfo{}}
	if diff := cmp.Diff(nothing, b.reported(c).Spec); diff != "" {
		t.Fatalf("the Report of a run in which nothing matched (-want +got):\n%s", diff)
	}
	edit(b, b.get(c.Name), func(c *v1alpha1.Cleaner) { c.Spec.Action = ptr.To(v1alpha1.ActionScan) })
	b.configMap("older", stale)
	b.run(c)
	if spec := b.reported(c).Spec; spec.Action != v1alpha1.ActionScan || len(spec.ResourceInfo) != 1 {
		t.Fatalf("the Report of a Scan is %+v", spec)
	}
}

// k8s-cleaner wrote its Reports with an update, as the field manager "manager". What it listed goes with our first run that does
// not list it: also when that lists nothing, and when a run in between listed just the same, so that both own the list.
func TestReportOfK8sCleanerIsTakenOver(t *testing.T) {
	t.Parallel()
	for name, first := range map[string][]string{"nothing matches": nil, "the same matches, then nothing": {"old"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMap("used")
			c := b.cleaner(v1alpha1.ActionScan, evaluate(matchStale), notifying(v1alpha1.NotificationCleanerReport))
			adopted := &v1alpha1.Report{Spec: v1alpha1.ReportSpec{Action: v1alpha1.ActionScan, ResourceInfo: []v1alpha1.ResourceInfo{{
				Resource: corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: b.namespace, Name: "old"}, Message: "old is stale",
			}}}}
			adopted.Name = c.Name
			must(t, b.user.Create(t.Context(), adopted, client.FieldOwner("manager")))
			for _, name := range first {
				cm := b.configMap(name, stale)
				b.run(c)
				if diff := cmp.Diff(adopted.Spec, b.reported(c).Spec); diff != "" {
					t.Fatalf("the Report of the run that found the same (-want +got):\n%s", diff)
				}
				must(t, b.user.Delete(t.Context(), cm))
			}
			b.run(c)
			want := v1alpha1.ReportSpec{Action: v1alpha1.ActionScan, ResourceInfo: []v1alpha1.ResourceInfo{}}
			if diff := cmp.Diff(want, b.reported(c).Spec); diff != "" {
				t.Fatalf("the Report of a run in which nothing matched (-want +got):\n%s", diff)
			}
		})
	}
}

// Only objects handled successfully are listed; NotFound on delete is success. What a finalizer still holds does not read as gone.
func TestReportListsWhatWasHandled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{"changed", "deleted", "gone"} {
		b.configMap(name, stale)
	}
	b.configMap("held", stale, b.finalized)
	b.configMap("protected", stale, func(cm *corev1.ConfigMap) { cm.Annotations = protect })
	b.beforeFirst("DELETE", "", func() {
		edit(b, b.named("changed"), func(cm *corev1.ConfigMap) { cm.Data = nil })
		if err := b.user.Delete(t.Context(), b.named("gone")); err != nil {
			t.Error(err)
		}
	})
	c := b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale), notifying(v1alpha1.NotificationCleanerReport))
	run := b.run(c)
	want := map[string]v1alpha1.OutcomeResult{
		"changed": v1alpha1.OutcomeChanged, "deleted": v1alpha1.OutcomeDeleted, "gone": v1alpha1.OutcomeGone,
		"held": v1alpha1.OutcomeTerminating, "protected": v1alpha1.OutcomeProtected,
	}
	if diff := cmp.Diff(want, outcomes(run)); diff != "" {
		t.Fatalf("outcomes (-want +got):\n%s", diff)
	}
	messages := map[string]string{}
	for _, info := range b.reported(c).Spec.ResourceInfo {
		messages[info.Resource.Name] = info.Message
	}
	listed := map[string]string{"deleted": "deleted is stale", "gone": "gone already: gone is stale", "held": "being deleted: held is stale"}
	if diff := cmp.Diff(listed, messages); diff != "" {
		t.Fatalf("the Report lists (-want +got):\n%s", diff)
	}
}

// A Transform lists what it changed, and not what it left as it was.
func TestReportOfATransform(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", stale)
	b.configMap("done", func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"stale": "yes", "touched": "yes"} })
	c := b.cleaner(v1alpha1.ActionTransform, evaluate(matchStale), transform(touch), notifying(v1alpha1.NotificationCleanerReport))
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "2 of 2 objects matched; 1 changed, 1 left alone")
	report := b.reported(c)
	if diff := cmp.Diff([]string{"old"}, reportedNames(report)); diff != "" || report.Spec.Action != v1alpha1.ActionTransform {
		t.Fatalf("the Report of a %s lists (-want +got):\n%s", report.Spec.Action, diff)
	}
}

// Without the notification there is no Report.
func TestNoReportWithoutNotification(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionScan)
	b.run(c)
	var reports v1alpha1.ReportList
	must(t, b.user.List(t.Context(), &reports))
	for _, report := range reports.Items {
		if report.Name == c.Name {
			t.Fatal("there is a Report")
		}
	}
}

// Upstream: Report and registry grow past the etcd limit; the write fails and the run is blocked. Required: summary in the
// Report, hard cap. Test: 20,000 matches.
func TestReportAndRecordOf20000Objects(t *testing.T) {
	t.Parallel()
	const n = 20_000
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionDelete)
	book := journal.New(b.live, operatorNamespace, b.clock)
	kind := object.Kind{Resource: "configmaps", Namespaced: true}
	kind.Version, kind.Kind = "v1", "ConfigMap"
	outcomes := make([]stage.Outcome, n)
	for i := range outcomes {
		o := object.Object{Kind: kind, Namespace: "some-namespace", Name: fmt.Sprintf("a-config-map-%05d", i), UID: types.UID(fmt.Sprintf("%036d", i))}
		outcomes[i].Object, outcomes[i].Result = o, v1alpha1.OutcomeDeleted
		outcomes[i].Message = "no Pod has mounted it since the last release but three"
	}
	record, err := book.Begin(t.Context(), c, v1alpha1.CleanerRunSpec{
		Cleaner: c.Name, CleanerUID: c.UID, CleanerGeneration: 1, NominalTime: metav1.NewTime(b.clock.Now()),
		Trigger: v1alpha1.TriggerSchedule, Action: v1alpha1.ActionDelete,
	})
	must(t, err)
	_, err = book.Intend(t.Context(), c, record, n, outcomes, nil)
	must(t, err)
	journal.Describe(record, n, outcomes)
	book.End(record, v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "")
	must(t, book.Save(t.Context(), record, ""))
	must(t, book.WriteReport(t.Context(), c, record, outcomes, 0))
	must(t, book.WriteReport(t.Context(), c, record, outcomes, 0)) // again, over the old one

	stored := b.stored(record)
	if listed := len(stored.Status.Objects); stored.Status.Matched != n || listed < 500 || int64(listed)+stored.Status.ObjectsOmitted != n {
		t.Fatalf("the record lists %d objects of %d, and says that %d are not listed", listed, stored.Status.Matched, stored.Status.ObjectsOmitted)
	}
	spec := b.reported(c).Spec
	want := fmt.Sprintf("%d more objects are not listed: a Report holds at most 512 KiB.", n-len(spec.ResourceInfo))
	if len(spec.ResourceInfo) < 1000 || spec.Message != want {
		t.Fatalf("the Report lists %d objects, and says %q, want %q", len(spec.ResourceInfo), spec.Message, want)
	}
	for _, path := range []string{"/reports/" + c.Name, "/cleanerruns/" + record.Name} {
		if size := len(rawGet(t, "/apis/apps.projectsveltos.io/v1alpha1"+path)); size > 1<<20 {
			t.Errorf("%s has %d bytes", path, size)
		}
	}
}
