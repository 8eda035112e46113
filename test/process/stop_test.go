// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestStopUnderAManager: a manager whose namespace is annotated says so of every Cleaner and in its metrics, and deletes nothing until the
// annotation is gone.
func TestStopUnderAManager(t *testing.T) {
	c := newClient(t)
	name := fmt.Sprintf("stopped-%d", time.Now().UnixNano())
	newNamespace(t, c, name, 3)
	annotate := func(ctx context.Context, value string) error {
		home := &corev1.Namespace{}
		home.Name = operatorNamespace
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, v1alpha1.StopAnnotation, value)
		return c.Patch(ctx, home, client.RawPatch("application/merge-patch+json", []byte(patch)))
	}
	t.Cleanup(func() { must(t, annotate(context.Background(), "null")) })
	must(t, annotate(t.Context(), `"incident 7"`)) // before the manager starts
	cleaner := &v1alpha1.Cleaner{}
	cleaner.Name = name
	cleaner.Spec = v1alpha1.CleanerSpec{
		Schedule: "0 3 * * *", Action: ptr.To(v1alpha1.ActionDelete),
		ResourcePolicySet: v1alpha1.ResourcePolicySet{ResourceSelectors: []v1alpha1.ResourceSelector{{Version: "v1", Kind: "ConfigMap", Namespace: name}}},
	}
	must(t, c.Create(t.Context(), cleaner))
	t.Cleanup(func() { _ = c.Delete(context.Background(), cleaner) })
	diagnostics := freeAddress(t)
	startManager(t, "--diagnostics-address="+diagnostics, "--insecure-diagnostics")
	says := func(what, reason, gauge string) {
		t.Helper()
		eventually(t, "the Cleaner says that "+what, func(ctx context.Context) (bool, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(cleaner), cleaner)
			ready := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionReady)
			return cleaner.Status.DryRunReason == reason && ready != nil && strings.Contains(ready.Message, "nothing is touched") == (reason != ""), err
		})
		eventually(t, "the metrics say that "+what, func(ctx context.Context) (bool, error) {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+diagnostics+"/metrics", nil)
			must(t, err)
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				return false, err
			}
			defer func() { _ = response.Body.Close() }()
			body, err := io.ReadAll(response.Body)
			return strings.Contains(string(body), "\nkubecleaner_acting_stopped "+gauge+"\n"), err
		})
	}
	runs := func(request, message string) {
		t.Helper()
		before := client.MergeFrom(cleaner.DeepCopy())
		cleaner.Annotations = map[string]string{v1alpha1.RunRequestedAtAnnotation: request}
		must(t, c.Patch(t.Context(), cleaner, before))
		eventually(t, "it has run: "+message, func(ctx context.Context) (bool, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(cleaner), cleaner)
			ended := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionRunSucceeded)
			return cleaner.Status.LastHandledRunRequest == request && ended != nil && strings.Contains(ended.Message, message), err
		})
	}
	says("acting is stopped", "all acting is stopped (incident 7)", "1")
	runs("one", "3 of 3 objects matched; nothing was touched, because all acting is stopped (incident 7).")
	must(t, annotate(t.Context(), "null"))
	says("it goes on", "", "0")
	must(t, annotate(t.Context(), `""`))
	says("acting is stopped again", "all acting is stopped (no reason was given)", "1")
	if left := len(configMaps(t, c, name)); left < 3 {
		t.Fatalf("%d of 3 objects are left", left)
	}
	must(t, annotate(t.Context(), "null"))
	says("it goes on again", "", "0")
	runs("two", "; 3 deleted.")
}
