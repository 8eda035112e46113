// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

// Whoever looks at more than metadata gets more, whatever the scripts read: what is copied, changed, aggregated, shown or guarded.
func TestWholeObjectsWhereTheyAreNeeded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("cm")
	b.pod("pod", "cm")
	b.thing(corev1.SchemeGroupVersion.WithKind("Secret"), "secret", map[string]any{"metadata": map[string]any{"namespace": b.namespace}, "stringData": map[string]any{"k": "canary-of-metadata"}})
	pv := "pv-" + b.namespace
	b.thing(corev1.SchemeGroupVersion.WithKind("PersistentVolume"), pv, map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"test": b.namespace}},
		"spec": map[string]any{
			"capacity": map[string]any{"storage": "1Gi"}, "accessModes": []any{"ReadWriteOnce"}, "hostPath": map[string]any{"path": "/nowhere"},
			"claimRef": map[string]any{"namespace": b.namespace, "name": "claim", "kind": "PersistentVolumeClaim", "apiVersion": "v1"},
		},
	})
	volumes := kind("", "v1", "PersistentVolume", "")
	volumes.LabelFilters = equal("test", b.namespace)
	secrets := kind("", "v1", "Secret", b.namespace)
	secrets.Evaluate = `function evaluate() return {matching = true, message = "it is canary-of-metadata"} end`
	name := `function evaluate() return {matching = obj.metadata.name == "nothing"} end`
	tests := map[string]struct {
		path     string
		cleaner  *v1alpha1.Cleaner
		metadata bool
		want     func(*v1alpha1.CleanerRun)
	}{
		"scan":      {"/configmaps", b.cleaner(v1alpha1.ActionScan, evaluate(name)), true, nil},
		"delete":    {"/configmaps", b.cleaner(v1alpha1.ActionDelete, evaluate(name)), false, nil},
		"transform": {"/configmaps", b.cleaner(v1alpha1.ActionTransform, evaluate(name), transform(`function transform() return {resource = obj} end`)), false, nil},
		"aggregated": {"/configmaps", b.cleaner(v1alpha1.ActionScan, aggregated(`function evaluate()
  for _, r in ipairs(resources) do if r.data == nil and r.metadata.name == "cm" then return {resources = {}} end end
  return {resources = {}}
end`)), false, nil},
		"report of copies": {"/configmaps", b.cleaner(v1alpha1.ActionScan, notifying(v1alpha1.NotificationCleanerReport), func(c *v1alpha1.Cleaner) {
			c.Spec.Rollback = &v1alpha1.Rollback{Storage: v1alpha1.StorageReport}
		}), false, nil},
		"secrets": {"/secrets", b.cleaner(v1alpha1.ActionScan, selecting(secrets)), false, func(run *v1alpha1.CleanerRun) {
			if said := run.Status.Objects[0].Message; said != "it is ******" {
				t.Errorf("the message is %q", said)
			}
		}},
		"volumes": {"/persistentvolumes", b.cleaner(v1alpha1.ActionScan, selecting(volumes)), false, func(run *v1alpha1.CleanerRun) {
			wantOutcome(t, run, pv, v1alpha1.OutcomeMatched, "protected: it is bound to a PersistentVolumeClaim, or reserved for one")
		}},
		"pods": {"/pods", b.cleaner(v1alpha1.ActionScan, selecting(kind("", "v1", "Pod", b.namespace))), true, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			asked := b.watchLists(test.path, false)
			run := b.run(test.cleaner)
			wantRun(t, run, v1alpha1.ReasonCompleted)
			if got := asked.askedForMetadata(t); got != test.metadata {
				t.Errorf("only metadata was asked for: %t, want %t", got, test.metadata)
			}
			if test.want != nil {
				test.want(run)
			}
		})
	}
	// The same Cleaner in an operator whose runs touch nothing is a Scan.
	b.runner.Begin.Stop = stop.Fixed(v1alpha1.DryRunByFlag)
	asked := b.watchLists("/configmaps", false)
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionDelete, evaluate(name))), v1alpha1.ReasonCompleted)
	if !asked.askedForMetadata(t) {
		t.Error("a dry run read whole objects")
	}
}

// A server that has no such form says so, or sends whole objects: both are as good.
func TestServerWithoutMetadataLists(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "cm", 3)
	path := "/" + b.namespace + "/configmaps"
	requests := 0
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, path) {
			return nil, nil
		}
		requests++
		if strings.Contains(r.Header.Get("Accept"), "as=") {
			return answer(r, http.StatusNotAcceptable, []byte(`{"kind":"Status","status":"Failure","reason":"NotAcceptable","message":"only the following media types are accepted: application/json","code":406}`)), nil
		}
		return nil, nil
	})
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionScan)), v1alpha1.ReasonCompleted, "3 of 3 objects matched.")
	if requests != 2 {
		t.Errorf("%d requests, want a refused one and another", requests)
	}
	b.watchLists(path, true)
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionScan, evaluate(`function evaluate() return {matching = obj.kind == "ConfigMap"} end`))), v1alpha1.ReasonCompleted, "3 of 3 objects matched.")
}
