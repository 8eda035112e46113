// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// maxManagerMB is how much memory the manager may take with 100 MiB of Secrets.
const maxManagerMB = 200

// An aggregated script over 100 MiB of Secrets, as base64, takes little memory in the manager, also when it reads their values: these are in
// the script's process, and what hides them in messages is small.
func TestSecretsTakeLittleMemory(t *testing.T) {
	const namespace, secrets, size = "large-secrets", 110, 700 << 10
	c := newClient(t)
	newNamespace(t, c, namespace, 0)
	value := make([]byte, size)
	_, _ = rand.Read(value)
	copy(value, "hunter2hunter2hunter2hunter2")
	for i := range secrets {
		copy(value[64:], fmt.Sprint("secret ", i))
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("large-%03d", i)}, Data: map[string][]byte{"key": value}}
		must(t, c.Create(t.Context(), secret))
	}
	t.Cleanup(func() { _ = c.DeleteAllOf(context.Background(), &corev1.Secret{}, client.InNamespace(namespace)) })
	m := startManager(t)
	before := m.peakMB(t)
	for name, script := range map[string]string{
		"reads-values": `function evaluate()
			local all, size = {}, 0
			for i, r in ipairs(resources) do size = size + #r.data.key all[1] = {resource = r, message = "it is " .. string.sub(r.data.key, 1, 200)} end
			all[1].message = all[1].message .. ", and all are " .. size
			return {resources = all}
		end`,
		"reads-names": `function evaluate()
			local all = {}
			for i, r in ipairs(resources) do all[i] = {resource = r, message = "it is " .. r.metadata.name} end
			return {resources = all}
		end`,
	} {
		t.Run(name, func(t *testing.T) {
			cleaner := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: namespace + "-" + name, Annotations: map[string]string{v1alpha1.RunRequestedAtAnnotation: "now"}}}
			cleaner.Spec = v1alpha1.CleanerSpec{Schedule: "0 0 1 1 *", Action: ptr.To(v1alpha1.ActionScan), ResourcePolicySet: v1alpha1.ResourcePolicySet{
				ResourceSelectors:   []v1alpha1.ResourceSelector{{Version: "v1", Kind: "Secret", Namespace: namespace}},
				AggregatedSelection: script,
			}}
			must(t, c.Create(t.Context(), cleaner))
			t.Cleanup(func() { _ = c.Delete(context.Background(), cleaner) })
			var run v1alpha1.CleanerRun
			eventually(t, "the run has ended", func(ctx context.Context) (bool, error) {
				if err := c.Get(ctx, client.ObjectKeyFromObject(cleaner), cleaner); err != nil || cleaner.Status.LastRun == nil {
					return false, err
				}
				err := c.Get(ctx, client.ObjectKey{Name: cleaner.Status.LastRun.Name}, &run)
				return run.Status.Phase.Final(), err
			})
			if run.Status.Reason != v1alpha1.ReasonCompleted || run.Status.Matched == 0 || !strings.HasPrefix(run.Status.Objects[0].Message, "it is ") {
				t.Fatalf("%s: %s", run.Status.Reason, run.Status.Message)
			}
			if strings.Contains(run.Status.Objects[0].Message, "hunter2") || strings.Contains(run.Status.Objects[0].Message, "aHVudGVy") {
				t.Errorf("the message is %q", run.Status.Objects[0].Message)
			}
			peak := m.peakMB(t)
			t.Logf("%d MiB of Secrets: the manager's peak is %d MB, and was %d MB at its start; the first message is %q",
				secrets*size*4/3>>20, peak, before, run.Status.Objects[0].Message)
			if peak > maxManagerMB {
				t.Errorf("the manager took %d MB, want at most %d", peak, maxManagerMB)
			}
		})
	}
}

// peakMB is the most memory that the manager has had so far.
func (m *manager) peakMB(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.cmd.Process.Pid))
	must(t, err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib := 0
	_, err = fmt.Sscan(rest, &kib)
	must(t, err)
	return kib >> 10
}
