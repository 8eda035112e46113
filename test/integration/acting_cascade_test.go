// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

const wouldGo = ` would be deleted with it, and is annotated cleaner/protect`

// owned creates an object in the test's namespace that belongs to the owners.
func (b *bench) owned(apiVersion, kind, name string, protected bool, content map[string]any, owners ...*unstructured.Unstructured) *unstructured.Unstructured {
	b.t.Helper()
	metadata := map[string]any{"namespace": b.namespace, "labels": map[string]any{"app": name}}
	if protected {
		metadata["annotations"] = map[string]any{v1alpha1.ProtectAnnotation: "true"}
	}
	var references []any
	for _, owner := range owners {
		references = append(references, map[string]any{
			"apiVersion": owner.GetAPIVersion(), "kind": owner.GetKind(), "name": owner.GetName(), "uid": string(owner.GetUID()),
		})
	}
	if references != nil {
		metadata["ownerReferences"] = references
	}
	object := map[string]any{"metadata": metadata}
	for key, value := range content {
		object[key] = value
	}
	return b.thing(schema.FromAPIVersionAndKind(apiVersion, kind), name, object)
}

// podSpec is what a Pod needs, and workload what has a template of Pods.
func podSpec() map[string]any {
	return map[string]any{"containers": []any{map[string]any{"name": "a", "image": "none"}}}
}

func workload(name string, more map[string]any) map[string]any {
	spec := map[string]any{"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": name}}, "spec": podSpec()}}
	for key, value := range more {
		spec[key] = value
	}
	return map[string]any{"spec": spec}
}

func selectorFor(name string) map[string]any {
	return map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": name}}}
}

func (b *bench) deployment(name string, protectedPod bool, owners ...*unstructured.Unstructured) *unstructured.Unstructured {
	b.t.Helper()
	deployment := b.owned("apps/v1", "Deployment", name, false, workload(name, selectorFor(name)), owners...)
	set := b.owned("apps/v1", "ReplicaSet", name+"-1", false, workload(name+"-1", selectorFor(name+"-1")), deployment)
	b.owned("v1", "Pod", name+"-1-a", protectedPod, map[string]any{"spec": podSpec()}, set)
	return deployment
}

func claim() map[string]any {
	return map[string]any{"spec": map[string]any{
		"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}},
	}}
}

func propagating(policy metav1.DeletionPropagation) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) { c.Spec.DeleteOptions = &v1alpha1.DeleteOptions{PropagationPolicy: &policy} }
}

// An owner with which a protected object would be deleted stays; others go. What is orphaned stays, so its owner may go.
func TestOwnerOfAProtectedObjectStays(t *testing.T) {
	t.Parallel()
	must(t, installWidgets())
	background, orphan := propagating(metav1.DeletePropagationBackground), propagating(metav1.DeletePropagationOrphan)
	nothing := func(*v1alpha1.Cleaner) {}
	job := func(b *bench) {
		owner := b.owned("batch/v1", "Job", "kept", false, map[string]any{"spec": map[string]any{"template": map[string]any{"spec": withRestarts("Never")}}})
		b.owned("v1", "Pod", "kept-a", true, map[string]any{"spec": podSpec()}, owner)
	}
	tests := map[string]struct {
		group, version, kind string
		edit                 func(*v1alpha1.Cleaner)
		build                func(*bench)
		// want is the protected object. Empty when the object named kept may go.
		want string
	}{
		"a Deployment": {"apps", "v1", "Deployment", nothing, func(b *bench) { b.deployment("kept", true); b.deployment("gone", false) }, "Pod %s/kept-1-a"},
		"a Deployment, in the foreground": {
			"apps", "v1", "Deployment", propagating(metav1.DeletePropagationForeground),
			func(b *bench) { b.deployment("kept", true); b.deployment("gone", false) }, "Pod %s/kept-1-a",
		},
		"a Deployment, orphaning": {"apps", "v1", "Deployment", orphan, func(b *bench) { b.deployment("kept", true) }, ""},
		"a StatefulSet with a claim": {"apps", "v1", "StatefulSet", nothing, func(b *bench) {
			owner := b.owned("apps/v1", "StatefulSet", "kept", false, workload("kept", selectorFor("kept")))
			b.owned("v1", "PersistentVolumeClaim", "data-kept-0", true, claim(), owner)
		}, "PersistentVolumeClaim %s/data-kept-0"},
		"a Pod with an ephemeral volume": {"", "v1", "Pod", nothing, func(b *bench) {
			spec := podSpec()
			spec["volumes"] = []any{map[string]any{"name": "data", "ephemeral": map[string]any{"volumeClaimTemplate": claim()}}}
			owner := b.owned("v1", "Pod", "kept", false, map[string]any{"spec": spec})
			b.owned("v1", "PersistentVolumeClaim", "kept-data", true, claim(), owner)
		}, "PersistentVolumeClaim %s/kept-data"},
		"a Job":               {"batch", "v1", "Job", nothing, job, ""},
		"a Job with its Pods": {"batch", "v1", "Job", background, job, "Pod %s/kept-a"},
		"a custom resource with a Deployment": {widgetGroup, "v1", "Widget", nothing, func(b *bench) {
			b.deployment("web", true, b.owned(widgetGroup+"/v1", "Widget", "kept", false, nil))
		}, "Pod %s/web-1-a"},
		"a custom resource of one that owns": {widgetGroup, "v1", "Widget", nothing, func(b *bench) {
			upper := b.owned(widgetGroup+"/v1", "Widget", "kept", false, nil)
			b.owned("apps/v1", "Deployment", "web", true, workload("web", selectorFor("web")), b.owned(widgetGroup+"/v1", "Widget", "lower", false, nil, upper))
		}, "Deployment %s/web"},
		"owners that are gone": {"apps", "v1", "Deployment", nothing, func(b *bench) {
			b.deployment("kept", false)
			gone := b.owned("v1", "ConfigMap", "gone", false, nil)
			must(b.t, b.user.Delete(b.t.Context(), gone))
			unknown := gone.DeepCopy()
			unknown.SetAPIVersion("nobody.example.com/v1")
			b.owned("v1", "Pod", "other", true, map[string]any{"spec": podSpec()}, gone, unknown)
		}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.serviceAccount()
			test.build(b)
			victims := kind(test.group, test.version, test.kind, b.namespace)
			victims.MatchConditions = []v1alpha1.MatchCondition{{Name: "named", Expression: `object.metadata.name in ["kept", "gone"]`}}
			run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(victims), test.edit))
			wantRun(t, run, v1alpha1.ReasonCompleted)
			if test.want == "" {
				if run.Status.Acted != 1 || run.Status.Skipped != 0 {
					t.Fatalf("counts are %+v: %+v", run.Status.RunCounts, run.Status.Objects)
				}
				return
			}
			wantOutcome(t, run, "kept", v1alpha1.OutcomeProtected, fmt.Sprintf(test.want, b.namespace)+wouldGo)
			if run.Status.Skipped != 1 || run.Status.Acted != run.Status.Matched-1 {
				t.Fatalf("counts are %+v: %+v", run.Status.RunCounts, run.Status.Objects)
			}
		})
	}
}

func withRestarts(policy string) map[string]any {
	spec := podSpec()
	spec["restartPolicy"] = policy
	return spec
}

// A Delete that only shows what it would do also leaves alone what has something protected below it.
func TestDryRunLooksForWhatWouldGo(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(s *settings) { s.off = stop.Fixed(v1alpha1.DryRunByFlag) })
	b.deployment("kept", true)
	b.deployment("old", false)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(kind("apps", "v1", "Deployment", b.namespace))))
	wantOutcome(t, run, "kept", v1alpha1.OutcomeProtected, "Pod "+b.namespace+"/kept-1-a"+wouldGo)
	wantOutcome(t, run, "old", v1alpha1.OutcomeDryRun)
	b.wantUntouched()
}

// One set of lists answers for all owners, and there is none where nothing can be owned.
func TestCascadeIsReadOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	for i := range 5 {
		b.deployment(fmt.Sprintf("web-%d", i), false)
	}
	before := b.requests.len()
	lists := func() string { return strings.Join(b.requests.lists(before), " ") }
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(kind("apps", "v1", "Deployment", b.namespace))))
	wantRun(t, run, v1alpha1.ReasonCompleted, "5 deleted")
	if got, want := lists(), "deployments replicasets pods persistentvolumeclaims"; got != want {
		t.Errorf("lists of %s, want %s", got, want)
	}
	before = b.requests.len()
	b.configMap("old")
	run = b.run(b.cleaner(v1alpha1.ActionDelete, selecting(kind("", "v1", "ConfigMap", b.namespace), kind("", "v1", "Pod", b.namespace))))
	wantRun(t, run, v1alpha1.ReasonCompleted, "6 deleted")
	if got, want := lists(), "configmaps pods"; got != want {
		t.Errorf("lists of %s, want %s", got, want)
	}
}

// Where dependents cannot be read, nothing is touched, and the message names the right that is missing.
func TestCascadeThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.deployment("web", false)
	account := b.account(may("deployments.apps", "list", "get", "delete"), may("replicasets.apps", "list"), may("persistentvolumeclaims", "list"))
	deployments := selecting(kind("apps", "v1", "Deployment", b.namespace))
	run := b.run(b.cleaner(v1alpha1.ActionDelete, deployments, account))
	wantRun(t, run, v1alpha1.ReasonForbidden, "Nothing was touched, because the run could not read or judge everything: looking for protected objects that would be deleted with their owners: ",
		"listing Pod (/api/v1/namespaces/"+b.namespace+"/pods): ", `cannot list resource "pods"`, "Grant ServiceAccount "+b.namespace+"/cleaner the right: ")
	b.wantUntouched()
	// Orphaned dependents stay, whoever they are: nothing is looked for.
	run = b.run(b.cleaner(v1alpha1.ActionDelete, deployments, account, propagating(metav1.DeletePropagationOrphan)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 ")
}

// What is protected is looked for once more when another operator resumes the run.
func TestOwnerOfAProtectedObjectStaysAfterAnInterruption(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	owner := b.deployment("old-0", false)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, selecting(kind("apps", "v1", "Deployment", b.namespace))))
	l.startExecutor()
	at := newBarrier(t)
	b.holdRequests(at, http.MethodDelete, "/deployments/old-")
	l.at(l.first())
	at.await(1)
	next := l.successor()
	next.startExecutor()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "old-0-1-a"}}
	must(t, b.user.Patch(t.Context(), pod, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"cleaner/protect":"true"}}}`))))
	record := next.goOn(l.first().Add(time.Minute))
	wantOutcome(t, record, "old-0", v1alpha1.OutcomeProtected, "Pod "+b.namespace+"/old-0-1-a"+wouldGo)
	must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(owner), owner))
}

// What is protected is looked for once more when that was read over a minute ago: an owner does not change with its dependents.
func TestOwnerOfWhatIsProtectedMeanwhileStays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	var owners []*unstructured.Unstructured
	for i := range 30 {
		owners = append(owners, b.deployment(fmt.Sprintf("old-%02d", i), false))
	}
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, selecting(kind("apps", "v1", "Deployment", b.namespace))))
	l.startExecutor()
	at := newBarrier(t)
	b.holdRequests(at, http.MethodDelete, "/deployments/old-")
	l.at(l.first())
	at.await(1)
	for _, owner := range owners {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: owner.GetName() + "-1-a"}}
		must(t, b.user.Patch(t.Context(), pod, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"cleaner/protect":"true"}}}`))))
	}
	b.clock.SetTime(b.clock.Now().Add(2 * time.Minute))
	at.open()
	l.finish()
	record := l.records()[0]
	left := 0
	for _, o := range record.Status.Objects {
		if o.Outcome == v1alpha1.OutcomeChanged && strings.Contains(o.Reason, wouldGo) {
			left++
		}
	}
	if left < 10 || int64(left) != record.Status.Skipped {
		t.Errorf("%d of 30 owners were left alone: %+v", left, record.Status.RunCounts)
	}
}

// To copy what is deleted can take long, too: what is protected is as old as its reading.
func TestOwnerOfWhatIsProtectedDuringTheCopiesStays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	owner := b.deployment("old", false)
	b.beforeFirst(http.MethodPost, "/secrets", func() {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "old-1-a"}}
		must(t, b.user.Patch(t.Context(), pod, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"cleaner/protect":"true"}}}`))))
		b.clock.SetTime(b.clock.Now().Add(2 * time.Minute))
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(kind("apps", "v1", "Deployment", b.namespace))))
	wantOutcome(t, run, "old", v1alpha1.OutcomeChanged, wouldGo)
	must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(owner), owner))
}

// A custom resource without a namespace may own objects anywhere. It stays if one is in a namespace that is protected, or is one.
func TestOwnerOfWhatIsInAProtectedNamespaceStays(t *testing.T) {
	must(t, installWidgets())
	b := newBench(t)
	b.serviceAccount()
	tenant := func(name string) *unstructured.Unstructured {
		return b.thing(schema.FromAPIVersionAndKind(widgetGroup+"/v1", "Tenant"), name, map[string]any{"metadata": map[string]any{"labels": map[string]any{"bench": b.namespace}}})
	}
	inside, itself, outside := tenant("inside-"+b.namespace), tenant("itself-"+b.namespace), tenant("outside-"+b.namespace)
	guarded := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.newNamespace(nil)}}
	edit(b, guarded, func(ns *corev1.Namespace) {
		ns.Annotations = map[string]string{v1alpha1.ProtectAnnotation: "true"}
		ns.OwnerReferences = []metav1.OwnerReference{{APIVersion: itself.GetAPIVersion(), Kind: itself.GetKind(), Name: itself.GetName(), UID: itself.GetUID()}}
	})
	b.deployment("web", false, outside)
	other := *b
	other.namespace = guarded.Name
	other.deployment("web", false, inside)
	tenants := kind(widgetGroup, "v1", "Tenant", "")
	tenants.LabelFilters = equal("bench", b.namespace)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(tenants)))
	wantOutcome(t, run, inside.GetName(), v1alpha1.OutcomeProtected, " "+guarded.Name+"/web", " would be deleted with it, and namespace "+guarded.Name+" is annotated")
	wantOutcome(t, run, itself.GetName(), v1alpha1.OutcomeProtected, "Namespace "+guarded.Name+" would be deleted with it, and namespace "+guarded.Name+" is annotated")
	wantOutcome(t, run, outside.GetName(), v1alpha1.OutcomeDeleted)
}

// A Namespace that holds a protected object of whatever kind stays; another one goes. This test shares the API server with no other: it
// lists all kinds, and other tests break some.
func TestNamespaceOfAProtectedObjectStays(t *testing.T) {
	must(t, installWidgets())
	b := newBench(t)
	mark := map[string]string{"cascade": b.namespace}
	names := map[string]string{"ConfigMap": b.newNamespace(mark), "Widget": b.newNamespace(mark), "nothing": b.newNamespace(mark), "other": b.newNamespace(mark)}
	b.thing(schema.FromAPIVersionAndKind("v1", "ConfigMap"), "kept", inNamespace(names["ConfigMap"], protect))
	b.thing(schema.FromAPIVersionAndKind(widgetGroup+"/v1", "Widget"), "kept", inNamespace(names["Widget"], protect))
	b.thing(schema.FromAPIVersionAndKind("v1", "ConfigMap"), "other", inNamespace(names["other"], map[string]string{v1alpha1.ProtectAnnotation: "false"}))
	namespaces := kind("", "v1", "Namespace", "")
	namespaces.LabelFilters = equal("cascade", b.namespace)
	check := func(wanted int32) {
		t.Helper()
		run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(namespaces)))
		wantRun(t, run, v1alpha1.ReasonCompleted, fmt.Sprintf("%d left alone", 2))
		for _, kind := range []string{"ConfigMap", "Widget"} {
			wantOutcome(t, run, names[kind], v1alpha1.OutcomeProtected, kind+" "+names[kind]+"/kept"+wouldGo)
		}
		if run.Status.Acted != int64(wanted) {
			t.Errorf("%d were deleted, want %d: %+v", run.Status.Acted, wanted, run.Status.Objects)
		}
	}
	check(2)
	// With many namespaces, the objects of all are listed together.
	for range 20 {
		b.newNamespace(mark)
	}
	before := b.requests.len()
	check(20)
	if n := len(b.requests.lists(before)); n > 60 {
		t.Errorf("there were %d lists", n)
	}
	// What cannot be listed may hold a protected object.
	b.newNamespace(mark)
	b.refusing(http.MethodGet, "/leases", "not today")
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(namespaces)))
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, "looking for protected objects in the namespaces that would be deleted: listing Lease ", "not today")
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 3, Matched: 3, Skipped: 3})
}

func inNamespace(namespace string, annotations map[string]string) map[string]any {
	all := map[string]any{}
	for key, value := range annotations {
		all[key] = value
	}
	return map[string]any{"metadata": map[string]any{"namespace": namespace, "annotations": all}}
}

// lists are the resources of which there were lists since the n-th request, without the operator's own.
func (l *requestLog) lists(n int) []string {
	var found []string
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, entry := range l.entries[n:] {
		method, path, _ := strings.Cut(entry, " ")
		parts := strings.Split(strings.Trim(path, "/"), "/")
		if method != http.MethodGet || strings.Contains(path, operatorNamespace) || strings.Contains(path, v1alpha1.GroupVersion.Group) {
			continue
		}
		if n := len(parts); parts[0] == "api" && (n == 3 || n == 5) || parts[0] == "apis" && (n == 4 || n == 6) {
			found = append(found, parts[n-1])
		}
	}
	return found
}
