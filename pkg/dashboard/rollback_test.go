// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"strings"
	"testing"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestRollbackAnswersAsBefore: programs written for k8s-cleaner look at success and message of each object.
func TestRollbackAnswersAsBefore(t *testing.T) {
	c := admin(t)
	shop := namespace(t, c)
	settings := create(t, c, settingsIn(shop))
	of := cleaner(t, c, shop, func(spec *v1alpha1.CleanerSpec) { spec.Action = ptr.To(v1alpha1.ActionDelete) })
	ran(t, c, of, map[string]client.Object{"ConfigMap": settings.DeepCopy()})
	must(t, c.Delete(t.Context(), settings))
	page := visit(t, env.Config)
	rollBack := func() RestoredObject {
		t.Helper()
		var got RestorePlan
		page.wants(http.StatusOK, http.MethodPost, "reports/"+of.Name+"/rollback", nil, &got)
		if len(got.Objects) != 1 {
			t.Fatalf("it answered %+v", got)
		}
		return got.Objects[0]
	}
	got := rollBack()
	if got.Success == nil || !*got.Success || got.Message != "Restored" || got.Kind != "ConfigMap" || got.Namespace != shop {
		t.Errorf("of one that is back: %+v", got)
	}
	again := settingsIn(shop)
	must(t, c.Delete(t.Context(), again))
	again.Data["colour"] = "blue"
	create(t, c, again)
	got = rollBack()
	if got.Success == nil || *got.Success || !strings.HasPrefix(got.Message, "an object with this name exists") {
		t.Errorf("of one that somebody made again: %+v", got)
	}
}
