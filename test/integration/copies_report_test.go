// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// bodies are the ConfigMaps that a Report shows copies of, by name.
func bodies(t *testing.T, report *v1alpha1.Report) map[string]corev1.ConfigMap {
	t.Helper()
	found := map[string]corev1.ConfigMap{}
	for _, info := range report.Spec.ResourceInfo {
		if len(info.FullResource) == 0 {
			continue
		}
		var cm corev1.ConfigMap
		must(t, json.Unmarshal(info.FullResource, &cm))
		if cm.APIVersion != "v1" || cm.Kind != "ConfigMap" || cm.Name != info.Resource.Name || cm.ManagedFields != nil {
			t.Fatalf("the copy of %s is of %s %s %s", info.Resource.Name, cm.APIVersion, cm.Kind, cm.Name)
		}
		found[cm.Name] = cm
	}
	return found
}

// The Report shows each object as it was, before anything is touched; a Secret it does not show.
func TestReportShowsCopiesBeforeAnythingIsTouched(t *testing.T) {
	t.Parallel()
	for action, method := range map[v1alpha1.Action]string{v1alpha1.ActionDelete: "DELETE", v1alpha1.ActionTransform: "PATCH"} {
		t.Run(string(action), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.places()
			b.configMap("old", stale)
			b.secret("password")
			c := b.cleaner(action, copying(v1alpha1.StorageReport), b.secretToo, transform(`function transform() obj.metadata.annotations = {x = "y"} return {resource = obj} end`))
			b.beforeFirst(method, "/old", func() {
				report := b.reported(c)
				if got := bodies(t, report); len(got) != 1 || got["old"].Data["stale"] != "yes" {
					t.Errorf("before it was touched, the Report shows %v", got)
				}
				if !strings.Contains(report.Spec.Message, " is going on, and these are the objects that it is going to touch.") {
					t.Errorf("before anything was touched, the Report says %q", report.Spec.Message)
				}
			})
			wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "2 of 2 objects matched")
			report := b.reported(c)
			if got := bodies(t, report); len(got) != 1 || got["old"].Data["stale"] != "yes" || got["old"].Annotations["x"] != "" {
				t.Fatalf("the Report shows %v", got)
			}
			if want := "Copies of Secrets are never shown: they are in Secrets of the operator's namespace."; len(report.Spec.ResourceInfo) != 2 || report.Spec.Message != want {
				t.Fatalf("the Report lists %v, and says %q, want %q", reportedNames(report), report.Spec.Message, want)
			}
			s.wantNoCanary()
		})
	}
}

// A run that touches nothing takes nothing away of what an earlier run put into the Report.
func TestRunThatTouchesNothingLeavesTheCopiesInTheReport(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit   func(b *bench, c *v1alpha1.Cleaner)
		listed []string
	}{
		"nothing matches": {nil, []string{"old"}},
		"limit": {func(b *bench, c *v1alpha1.Cleaner) {
			c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To[int32](0)}
			b.configMap("next", stale)
		}, []string{"next", "old"}},
		"view": {func(_ *bench, c *v1alpha1.Cleaner) {
			selectors(c)[0].Evaluate = `function evaluate() error("no") end`
		}, []string{"old"}},
		"scan": {func(b *bench, c *v1alpha1.Cleaner) {
			c.Spec.Action = ptr.To(v1alpha1.ActionScan)
			b.configMap("next", stale)
		}, []string{"next", "old"}},
		"protected": {func(b *bench, _ *v1alpha1.Cleaner) {
			b.configMap("next", stale, func(cm *corev1.ConfigMap) { cm.Annotations = protect })
		}, []string{"old"}},
		"refused": {func(b *bench, _ *v1alpha1.Cleaner) {
			b.configMap("next", stale)
			b.refusing("DELETE", "/next", "refused")
		}, []string{"old"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMap("old", stale)
			b.configMap("used")
			cleaner := b.cleaner(v1alpha1.ActionDelete, copying(v1alpha1.StorageReport), evaluate(matchStale))
			wantRun(t, b.run(cleaner), v1alpha1.ReasonCompleted, "1 deleted")
			if c.edit != nil {
				edit(b, b.get(cleaner.Name), func(now *v1alpha1.Cleaner) { c.edit(b, now) })
			}
			for range 2 {
				if run := b.run(cleaner); run.Status.Acted > 0 {
					t.Fatalf("the run touched something: %s", run.Status.Message)
				}
				report := b.reported(cleaner)
				if got := bodies(t, report); len(got) != 1 || got["old"].Data["stale"] != "yes" {
					t.Fatalf("the Report shows %v", got)
				}
				if got := reportedNames(report); strings.Join(got, " ") != strings.Join(c.listed, " ") {
					t.Fatalf("the Report lists %v, want %v", got, c.listed)
				}
				if want := "What is listed last (1) is of an earlier run, with the copies that it made."; !strings.HasSuffix(report.Spec.Message, want) {
					t.Fatalf("the Report says %q, want %q at the end", report.Spec.Message, want)
				}
			}
		})
	}
}

// k8s-cleaner put bodies of Secrets into its Reports. Ours never show them: a run that touches nothing carries the other copies on.
func TestSecretInTheReportOfK8sCleaner(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionDelete, copying(v1alpha1.StorageReport), evaluate(matchStale))
	adopted := &v1alpha1.Report{Spec: v1alpha1.ReportSpec{Action: v1alpha1.ActionDelete, ResourceInfo: []v1alpha1.ResourceInfo{
		{
			Resource:     corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: b.namespace, Name: "password"},
			FullResource: []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"password"},"data":{"password":"aGVsZA=="}}`),
		},
		{
			Resource:     corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: b.namespace, Name: "old"},
			FullResource: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"old"},"data":{"stale":"yes"}}`),
		},
	}}}
	adopted.Name = c.Name
	must(t, b.user.Create(t.Context(), adopted, client.FieldOwner("manager")))
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted)
	report := b.reported(c)
	if got := bodies(t, report); len(report.Spec.ResourceInfo) != 1 || got["old"].Data["stale"] != "yes" {
		t.Fatalf("the Report lists %v, and shows %v", reportedNames(report), got)
	}
}

// What does not fit into the Report is in Secrets, and the Report says so.
func TestReportShowsCopiesAsFarAsTheyFit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.places()
	b.threeParts()
	b.configMap("small", stale)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, copying(v1alpha1.StorageReport)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "4 deleted")
	report := b.reported(b.get(run.Spec.Cleaner))
	const want = "3 copies are not shown: a Report holds at most 512 KiB. They are in Secrets, where kubectl cleaner restore finds them."
	if got := bodies(t, report); len(got) != 1 || len(report.Spec.ResourceInfo) != 4 || report.Spec.Message != want {
		t.Fatalf("the Report shows %d copies of %d objects, and says %q, want %q", len(got), len(report.Spec.ResourceInfo), report.Spec.Message, want)
	}
	if len(s.read(run)) != 4 {
		t.Fatal("not all copies are in Secrets")
	}
	s.wantSmall(run)
}

// An operator that takes a run over does not have the objects any more: the Report goes on showing them.
func TestReportOfARunThatWasTakenOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", stale)
	b.configMap("older", stale)
	c := b.cleaner(v1alpha1.ActionDelete, copying(v1alpha1.StorageReport))
	request := run.Request{Cleaner: c.Name, Nominal: b.clock.Now().Truncate(time.Second), Trigger: v1alpha1.TriggerManual}
	resume := b.stopped("DELETE", "/old", func() { _, _ = b.runner.Run(context.WithoutCancel(t.Context()), request) })
	defer resume()
	other := newBench(t)
	other.clock.SetTime(b.clock.Now())
	record := other.carryOut(t.Context(), request)
	if record.Status.Recoveries != 1 {
		t.Fatalf("the run was not taken over: %+v", record.Status)
	}
	if got := bodies(t, b.reported(c)); len(got) != 2 || got["old"].Data["stale"] != "yes" {
		t.Fatalf("the Report shows %v", got)
	}
}
