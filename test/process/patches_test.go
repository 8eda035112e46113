// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestLargePatchesDoNotFillTheMemory: a script that writes 8 MiB into each of 60 ConfigMaps, or more in all than runs may keep, changes
// nothing, and the manager stays small.
func TestLargePatchesDoNotFillTheMemory(t *testing.T) {
	const most, objects = 200 << 20, 60
	c := newClient(t)
	for name, test := range map[string]struct {
		megabytes int
		want      string
	}{
		"too-large": {8, "/victim-000: transform: the patch has 8388698 bytes, and etcd holds at most 1572864 bytes of an object: change less of it"},
		"too-many":  {1, "objects: they take more than 32 MiB of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			m := startManager(t, "--max-selection-memory=32Mi")
			namespace := "patches-" + name
			newNamespace(t, c, namespace, objects)
			cleaner := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: namespace, Annotations: map[string]string{v1alpha1.RunRequestedAtAnnotation: "now"}}}
			cleaner.Spec.Schedule, cleaner.Spec.Action = "0 0 1 1 *", ptr.To(v1alpha1.ActionTransform)
			cleaner.Spec.Transform = fmt.Sprintf(`function transform()
				obj.data = {}
				for i = 1, %d do obj.data["big" .. i] = string.rep("x", 2^20) end
				return {resource = obj}
			end`, test.megabytes)
			cleaner.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{Version: "v1", Kind: "ConfigMap", Namespace: namespace}}
			must(t, c.Create(t.Context(), cleaner))
			eventually(t, "the run has ended", func(ctx context.Context) (bool, error) {
				err := c.Get(ctx, client.ObjectKeyFromObject(cleaner), cleaner)
				return cleaner.Status.LastRun != nil && cleaner.Status.ActiveRun == nil, err
			})
			peak := m.peak(t)
			t.Logf("the manager took at most %d MB", peak/1e6)
			if peak > most {
				t.Errorf("the manager took %d MB", peak/1e6)
			}
			var run v1alpha1.CleanerRun
			must(t, c.Get(t.Context(), client.ObjectKey{Name: cleaner.Status.LastRun.Name}, &run))
			if run.Status.Reason != v1alpha1.ReasonViewIncomplete || run.Status.Acted != 0 || !strings.Contains(run.Status.Message, test.want) {
				t.Errorf("the run ended with %s: %s", run.Status.Reason, run.Status.Message)
			}
			for _, object := range configMaps(t, c, namespace) {
				if data, _, _ := unstructured.NestedMap(object.Object, "data"); len(data) > 0 {
					t.Fatalf("%s was changed", object.GetName())
				}
			}
		})
	}
}

// peak is the most memory that the manager itself took so far, in bytes.
func (m *manager) peak(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.cmd.Process.Pid))
	must(t, err)
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Skip("this system does not say how much memory a process took")
	}
	kilobytes, err := strconv.ParseInt(string(found[1]), 10, 64)
	must(t, err)
	return kilobytes << 10
}
