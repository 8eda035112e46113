// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

var protect = map[string]string{v1alpha1.ProtectAnnotation: "true"}

// marked creates an object that carries the label "self" with the test's namespace as value.
func (b *bench) marked(apiVersion, kind, namespace, name string, content map[string]any, annotations map[string]string) {
	b.t.Helper()
	content["metadata"] = map[string]any{"namespace": namespace, "labels": map[string]any{"self": b.namespace}}
	if annotations != nil {
		content["metadata"] = map[string]any{"namespace": namespace, "labels": map[string]any{"self": b.namespace}, "annotations": map[string]any{v1alpha1.ProtectAnnotation: annotations[v1alpha1.ProtectAnnotation]}}
	}
	b.thing(schema.FromAPIVersionAndKind(apiVersion, kind), name, content)
}

// Upstream: no protected namespaces, no opt-out. Required: protection list, opt-out annotation. Test: self-destruction table.
func TestSelfDestruction(t *testing.T) {
	t.Parallel()
	volume := func(claim bool) map[string]any {
		spec := map[string]any{"capacity": map[string]any{"storage": "1Gi"}, "accessModes": []any{"ReadWriteOnce"}, "hostPath": map[string]any{"path": "/none"}}
		if claim {
			spec["claimRef"] = map[string]any{"namespace": "default", "name": "data", "uid": "7"}
		}
		return map[string]any{"spec": spec}
	}
	cleaner := map[string]any{"spec": map[string]any{"schedule": "@daily", "resourcePolicySet": map[string]any{
		"resourceSelectors": []any{map[string]any{"group": "", "version": "v1", "kind": "Pod"}},
	}}}
	tests := map[string]struct {
		apiVersion, kind, namespace string
		content                     map[string]any
		annotations                 map[string]string
		// want is the reason. Without one, the object is not protected.
		want string
	}{
		"annotated object":                {"v1", "ConfigMap", "default", map[string]any{}, protect, `it is annotated cleaner/protect: "true"`},
		"annotated with something else":   {"v1", "ConfigMap", "default", map[string]any{}, map[string]string{v1alpha1.ProtectAnnotation: "false"}, ""},
		"in the operator's namespace":     {"v1", "ConfigMap", operatorNamespace, map[string]any{}, nil, "namespace projectsveltos is the operator's own, which no Cleaner may touch"},
		"in kube-system":                  {"v1", "ConfigMap", "kube-system", map[string]any{}, nil, "namespace kube-system is protected (--protected-namespaces)"},
		"in another namespace":            {"v1", "ConfigMap", "default", map[string]any{}, nil, ""},
		"annotated Namespace":             {"v1", "Namespace", "", map[string]any{}, protect, `it is annotated cleaner/protect: "true"`},
		"volume with a claim":             {"v1", "PersistentVolume", "", volume(true), nil, "it is bound to a PersistentVolumeClaim, or reserved for one"},
		"volume without":                  {"v1", "PersistentVolume", "", volume(false), nil, ""},
		"webhook configuration":           {"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", map[string]any{}, nil, "no Cleaner may touch objects of kind ValidatingWebhookConfiguration: it guards the cluster's API"},
		"mutating webhook configuration":  {"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "", map[string]any{}, nil, "no Cleaner may touch objects of kind MutatingWebhookConfiguration: it guards the cluster's API"},
		"admission policy binding":        {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "", map[string]any{"spec": map[string]any{"policyName": "none", "validationActions": []any{"Audit"}}}, nil, "no Cleaner may touch objects of kind ValidatingAdmissionPolicyBinding"},
		"KubeCleaner's own kind: Cleaner": {"apps.projectsveltos.io/v1alpha1", "Cleaner", "", cleaner, nil, "it belongs to KubeCleaner"},
		"KubeCleaner's own kind: Report":  {"apps.projectsveltos.io/v1alpha1", "Report", "", map[string]any{"spec": map[string]any{"action": "Scan"}}, nil, "it belongs to KubeCleaner"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.marked(test.apiVersion, test.kind, test.namespace, "self-"+b.namespace, test.content, test.annotations)
			b.wantProtected(t, test.apiVersion, test.kind, test.namespace, "self-"+b.namespace, test.want)
		})
	}
}

// wantProtected runs a Delete of the objects that are marked for this test.
func (b *bench) wantProtected(t *testing.T, apiVersion, kindName, namespace, name, want string) {
	t.Helper()
	gvk := schema.FromAPIVersionAndKind(apiVersion, kindName)
	selector := kind(gvk.Group, gvk.Version, gvk.Kind, namespace)
	selector.LabelFilters = equal("self", b.namespace)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(selector)))
	wantRun(t, run, v1alpha1.ReasonCompleted)
	if want == "" {
		wantCounts(t, run, v1alpha1.RunCounts{Considered: 1, Matched: 1, Acted: 1})
		return
	}
	wantOutcome(t, run, name, v1alpha1.OutcomeProtected, want)
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 1, Matched: 1, Skipped: 1})
	b.wantUntouched()
}

// A CRD and an APIService, whose names are not free to choose, are protected too.
func TestFoundationsAreProtected(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	must(t, installWidgets())
	for apiVersion, kind := range map[string]string{"apiextensions.k8s.io/v1": "CustomResourceDefinition", "apiregistration.k8s.io/v1": "APIService"} {
		name := map[string]string{"CustomResourceDefinition": "widgets." + widgetGroup, "APIService": "v1." + widgetGroup}[kind]
		t.Run(kind, func(t *testing.T) {
			u := &metav1.PartialObjectMetadata{}
			u.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
			u.Name = name
			label := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"self":"`+b.namespace+`"}}}`))
			must(t, b.user.Patch(t.Context(), u, label))
			b.wantProtected(t, apiVersion, kind, "", name, "no Cleaner may touch objects of kind "+kind+": ")
		})
	}
}

// A script that takes each role for unused that nothing binds must not remove what the API server creates at its start.
func TestStockObjectsAreProtected(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.thing(schema.FromAPIVersionAndKind("v1", "ConfigMap"), "kube-root-ca.crt", map[string]any{"metadata": map[string]any{"namespace": b.namespace}})
	roles := kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "")
	roles.LabelFilters = []v1alpha1.LabelFilter{{Key: "kubernetes.io/bootstrapping", Operation: v1alpha1.OperationHas}}
	levels := kind("flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration", "")
	classes := kind("scheduling.k8s.io", "v1", "PriorityClass", "")
	classes.MatchConditions = []v1alpha1.MatchCondition{{Name: "system", Expression: `object.metadata.name.startsWith("system-")`}}
	services := kind("", "v1", "Service", metav1.NamespaceDefault)
	services.LabelFilters = equal("component", "apiserver")
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(roles, levels, classes, services, kind("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", ""),
		kind("", "v1", "ServiceAccount", b.namespace), kind("", "v1", "ConfigMap", b.namespace))))
	wantRun(t, run, v1alpha1.ReasonCompleted)
	if counts := run.Status.RunCounts; counts.Acted != 0 || counts.Skipped < 50 {
		t.Fatalf("counts are %+v", counts)
	}
	b.wantUntouched()
	for _, name := range []string{"admin", "edit", "view", "system:aggregate-to-admin", "catch-all", "system-node-critical", "default", "kube-root-ca.crt", "kubernetes"} {
		wantOutcome(t, run, name, v1alpha1.OutcomeProtected, "")
	}
	// Labels on all ServiceAccounts are what people use a Transform for.
	label := `function transform() obj.metadata.labels = {team = "a"}; return {resource = obj} end`
	run = b.run(b.cleaner(v1alpha1.ActionTransform, transform(label), selecting(kind("", "v1", "ServiceAccount", b.namespace),
		kind("", "v1", "ConfigMap", b.namespace))))
	wantOutcome(t, run, "default", v1alpha1.OutcomeTransformed)
	wantOutcome(t, run, "kube-root-ca.crt", v1alpha1.OutcomeProtected, "Kubernetes creates it in each namespace, and Pods rely on it")
}

// TestCopiesAreNotListed: what runs wrote down is Secrets, and no Cleaner of Secrets has to do with it.
func TestCopiesAreNotListed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	deleted := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, deleted, v1alpha1.ReasonCompleted, "1 deleted.")
	if deleted.Status.Copies == nil {
		t.Fatal("there are no copies: this proves nothing")
	}
	run := b.run(b.cleaner(v1alpha1.ActionScan, selecting(kind("", "v1", "Secret", operatorNamespace))))
	for _, o := range run.Status.Objects {
		if strings.HasPrefix(o.Name, deleted.Name) {
			t.Errorf("%s is listed: %s", o.Name, o.Reason)
		}
	}
}

// The operator's namespace and kube-system are protected as objects, too.
func TestProtectedNamespacesAsObjects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, why := range map[string]string{
		operatorNamespace: "namespace projectsveltos is the operator's own, which no Cleaner may touch",
		"kube-system":     "namespace kube-system is protected (--protected-namespaces)",
	} {
		t.Run(name, func(t *testing.T) {
			selector := kind("", "v1", "Namespace", "")
			selector.LabelFilters = equal(corev1.LabelMetadataName, name)
			run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(selector)))
			wantOutcome(t, run, name, v1alpha1.OutcomeProtected, why)
			b.wantUntouched()
		})
	}
}

// An annotated namespace protects what is in it, from a Transform as well.
func TestAnnotatedNamespaceProtectsItsObjects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("mine")
	b.annotateNamespace()
	for _, action := range []v1alpha1.Action{v1alpha1.ActionDelete, v1alpha1.ActionTransform} {
		run := b.run(b.cleaner(action, transform(touch)))
		wantRun(t, run, v1alpha1.ReasonCompleted)
		wantOutcome(t, run, "mine", v1alpha1.OutcomeProtected, "namespace "+b.namespace+` is annotated cleaner/protect: "true"`)
		b.wantUntouched()
	}
}

// A Scan touches nothing: it reports what is protected as a match, and says so. A run that would delete, were it not for --dry-run,
// leaves it alone.
func TestScanReportsProtectedObjects(t *testing.T) {
	t.Parallel()
	all := `function evaluate()
  local found = {}
  for _, r in ipairs(resources) do table.insert(found, {resource = r, message = "unused"}) end
  return {resources = found}
end`
	for name, edit := range map[string]func(*v1alpha1.Cleaner){
		"one by one": evaluate(`function evaluate() return {matching = true, message = "unused"} end`), "aggregated": aggregated(all),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMap("annotated", func(cm *corev1.ConfigMap) { cm.Annotations = protect })
			b.marked("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "hook-"+b.namespace, map[string]any{}, nil)
			b.marked("coordination.k8s.io/v1", "Lease", "kube-system", "lease-"+b.namespace, map[string]any{}, nil)
			hooks, leases := kind("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", ""), kind("coordination.k8s.io", "v1", "Lease", "kube-system")
			hooks.LabelFilters, leases.LabelFilters = equal("self", b.namespace), equal("self", b.namespace)
			selects := selecting(kind("", "v1", "ConfigMap", b.namespace), hooks, leases)
			reasons := map[string]string{
				"annotated": `protected: it is annotated cleaner/protect: "true"`, "lease-" + b.namespace: "protected: namespace kube-system is protected (--protected-namespaces)",
				"hook-" + b.namespace: "protected: no Cleaner may touch objects of kind ValidatingWebhookConfiguration: it guards the cluster's API",
			}
			c := b.cleaner(v1alpha1.ActionScan, selects, edit, notifying(v1alpha1.NotificationCleanerReport))
			run := b.run(c)
			wantRun(t, run, v1alpha1.ReasonCompleted, "3 of 3 objects matched.")
			wantCounts(t, run, v1alpha1.RunCounts{Considered: 3, Matched: 3})
			for name, reason := range reasons {
				wantOutcome(t, run, name, v1alpha1.OutcomeMatched, reason)
			}
			for _, info := range b.reported(c).Spec.ResourceInfo {
				if want := reasons[info.Resource.Name]; !strings.HasPrefix(info.Message, want) || info.Resource.Name == "annotated" && info.Message != want+": unused" {
					t.Errorf("the Report says %q, want %q first", info.Message, want)
				}
				delete(reasons, info.Resource.Name)
			}
			if len(reasons) > 0 {
				t.Errorf("the Report does not list %v", reasons)
			}
			b.runner.Begin.Stop = stop.Fixed(v1alpha1.DryRunByFlag)
			run = b.run(b.cleaner(v1alpha1.ActionDelete, selects, edit))
			wantCounts(t, run, v1alpha1.RunCounts{Considered: 3, Matched: 3, Skipped: 3})
			wantOutcome(t, run, "annotated", v1alpha1.OutcomeProtected, `it is annotated cleaner/protect: "true"`)
		})
	}
}

// What is in an annotated namespace is reported as well.
func TestScanReportsWhatItsNamespaceProtects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("mine")
	b.configMap("twice", func(cm *corev1.ConfigMap) { cm.Annotations = protect })
	b.annotateNamespace()
	run := b.run(b.cleaner(v1alpha1.ActionScan))
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 2, Matched: 2})
	wantOutcome(t, run, "mine", v1alpha1.OutcomeMatched, "protected: namespace "+b.namespace+` is annotated cleaner/protect: "true"`)
	wantOutcome(t, run, "twice", v1alpha1.OutcomeMatched, `protected: it is annotated cleaner/protect: "true"`)
}

func (b *bench) annotateNamespace() {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"cleaner/protect":"true"}}}`))
	if err := b.user.Patch(context.Background(), namespace, patch); err != nil {
		b.t.Error(err)
	}
}

// Namespaces' annotations are read once more after the intent: one that was set after the plan counts.
func TestNamespaceAnnotatedAfterThePlan(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "cm", 3)
	planned := false
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/status") && !planned {
			planned = true
			b.annotateNamespace()
		}
		return nil, nil
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, run, v1alpha1.ReasonCompleted)
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 3, Matched: 3, Skipped: 3})
	wantOutcome(t, run, "cm-1", v1alpha1.OutcomeProtected, "is annotated cleaner/protect")
	b.wantNames("cm-0", "cm-1", "cm-2")
}
