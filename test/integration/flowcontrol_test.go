// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestFlowControlIsForTheOperator: what config/flowcontrol holds is taken by the API server, and is about the ServiceAccount that
// config/default makes.
func TestFlowControlIsForTheOperator(t *testing.T) {
	b := newBench(t)
	kubectl(t, "", "apply", "-k", "../../config/flowcontrol")
	level := &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "kubecleaner"}}
	must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(level), level))
	for _, name := range []string{"kubecleaner", "kubecleaner-lease"} {
		schema := &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: name}}
		must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(schema), schema))
		t.Cleanup(func() { _ = b.user.Delete(context.Background(), schema) })
		account := schema.Spec.Rules[0].Subjects[0].ServiceAccount
		rendered := kubectl(t, "", "kustomize", "../../config/default")
		wantTexts(t, "config/default", rendered, "kind: ServiceAccount\nmetadata:\n  labels:\n    app.kubernetes.io/name: kubecleaner\n    app.kubernetes.io/part-of: kubecleaner\n  name: "+account.Name+"\n  namespace: "+account.Namespace)
	}
	t.Cleanup(func() { _ = b.user.Delete(context.Background(), level) })
}
