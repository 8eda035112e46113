// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// What scripts print goes to the debug log.
func TestPrintGoesToTheDebugLog(t *testing.T) {
	c := newClient(t)
	newNamespace(t, c, "printing", 1)
	m := startManager(t, "--log-level=debug")
	cleaner := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: "printing"}}
	cleaner.Spec.Schedule = everySecond
	cleaner.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{
		Version: "v1", Kind: "ConfigMap", Namespace: "printing",
		Evaluate: `function evaluate() print("I see", obj.metadata.name) return {matching = false} end`,
	}}
	must(t, c.Create(t.Context(), cleaner))
	t.Cleanup(func() { _ = c.Delete(context.Background(), cleaner) })
	eventually(t, "the log has what the script printed", func(context.Context) (bool, error) {
		return strings.Contains(m.log.tail(1<<20), `"Script printed","cleaner":"printing"`) && strings.Contains(m.log.tail(1<<20), "I see\\tvictim-000") ||
			strings.Contains(m.log.tail(1<<20), "I see victim-000"), nil
	})
}
