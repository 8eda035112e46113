// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// ending makes a Pod of a test one that is being deleted, and stays for a while.
func (b *bench) ending(name string) {
	b.t.Helper()
	pod := &corev1.Pod{}
	must(b.t, b.user.Get(b.t.Context(), client.ObjectKey{Namespace: b.namespace, Name: name}, pod))
	edit(b, pod, func(p *corev1.Pod) { p.Finalizers = []string{"test.kubecleaner.io/hold"} })
	must(b.t, b.user.Delete(b.t.Context(), pod, client.GracePeriodSeconds(0)))
	b.t.Cleanup(func() {
		if err := b.user.Get(context.Background(), client.ObjectKeyFromObject(pod), pod); err == nil {
			pod.Finalizers = nil
			_ = b.user.Update(context.Background(), pod)
		}
	})
}

// withReplacedPod is a bench with two ConfigMaps, of which a Pod that is being deleted uses one.
func withReplacedPod(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.serviceAccount()
	b.configMap("used")
	b.configMap("unused")
	b.pod("replaced", "used")
	b.ending("replaced")
	return b
}

// An object that is being deleted still uses what it uses: a Pod of a StatefulSet that is replaced takes a minute to end, and its
// replacement uses the same PersistentVolumeClaim. A preview says the same.
func TestObjectsBeingDeletedUseWhatTheyUse(t *testing.T) {
	t.Parallel()
	b := withReplacedPod(t)
	c := b.cleaner(v1alpha1.ActionDelete, b.configMapsAndPods(), aggregated(unusedConfigMaps))
	preview, err := b.runner.Preview(t.Context(), c, selector.Observer{})
	must(t, err)
	if len(preview.Items) != 1 || preview.Items[0].Name != "unused" {
		t.Errorf("the preview shows %+v", preview.Items)
	}
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 of 3 objects matched; 1 deleted")
	b.wantNames("used")
}

// unusedByData chooses each ConfigMap that no other one names in its data.
const unusedByData = `function evaluate()
  local used, chosen = {}, {}
  for _, r in ipairs(resources) do used[(r.data or {}).uses or ""] = true end
  for _, r in ipairs(resources) do
    if not used[r.metadata.name] then table.insert(chosen, {resource = r}) end
  end
  return {resources = chosen}
end`

// A namespaceSelector selects no namespace that is being deleted. What is still there may use something elsewhere.
func TestObjectsInNamespacesBeingDeletedUseWhatTheyUse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("used")
	b.configMap("unused")
	mark := map[string]string{"team": b.namespace}
	edit(b, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}}, func(ns *corev1.Namespace) { ns.Labels = mark })
	going := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.newNamespace(mark)}}
	user := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: going.Name, Name: "user", Labels: map[string]string{"test": "x"}}, Data: map[string]string{"uses": "used"}}
	must(t, b.user.Create(t.Context(), user))
	must(t, b.user.Delete(t.Context(), going)) // no controller empties it
	run := b.run(b.cleaner(v1alpha1.ActionDelete, aggregated(unusedByData), func(c *v1alpha1.Cleaner) {
		s := &c.Spec.ResourcePolicySet.ResourceSelectors[0]
		s.Namespace, s.NamespaceSelector = "", "team="+b.namespace
	}))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 3 objects matched; 1 deleted")
	b.wantNames("used")
	must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(user), user))
}

// The same holds for a finding, which needs no script.
func TestFindingsSeeObjectsBeingDeleted(t *testing.T) {
	t.Parallel()
	b := withReplacedPod(t)
	wantRun(t, b.run(b.deletesUnused()), v1alpha1.ReasonCompleted, "1 of 2 objects matched; 1 deleted")
	b.wantNames("used")
}

// keepTheNewest chooses all but the object with the last name.
const keepTheNewest = `function evaluate()
  table.sort(resources, function(a, b) return a.metadata.name < b.metadata.name end)
  local old = {}
  for i = 1, #resources - 1 do old[i] = {resource = resources[i], message = "one of " .. #resources} end
  return {resources = old}
end`

// An object that is being deleted does not count among those to keep, and is not chosen, unless the selector asks for that.
func TestObjectsBeingDeletedAreNotKept(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		exclude []*bool // of one selector for each
		want    []string
		message string
	}{
		"unset":             {exclude: []*bool{nil}, want: []string{"1"}, message: "one of 2"},
		"false":             {exclude: []*bool{ptr.To(false)}, want: []string{"0", "1", "2"}, message: "one of 4"},
		"unset, then false": {exclude: []*bool{nil, ptr.To(false)}, want: []string{"0", "1", "2"}, message: "one of 4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			for _, name := range []string{"1", "2"} {
				b.configMap(name)
			}
			for _, name := range []string{"0", "3"} { // the oldest and the newest
				must(t, b.user.Delete(t.Context(), b.configMap(name, b.finalized)))
			}
			run := b.run(b.cleaner(v1alpha1.ActionScan, aggregated(keepTheNewest), func(c *v1alpha1.Cleaner) {
				one := c.Spec.ResourcePolicySet.ResourceSelectors[0]
				c.Spec.ResourcePolicySet.ResourceSelectors = nil
				for _, exclude := range test.exclude {
					one.ExcludeDeleted = exclude
					c.Spec.ResourcePolicySet.ResourceSelectors = append(c.Spec.ResourcePolicySet.ResourceSelectors, one)
				}
			}))
			wantRun(t, run, v1alpha1.ReasonCompleted)
			if got := slices.Sorted(maps.Keys(outcomes(run))); !slices.Equal(got, test.want) {
				t.Fatalf("chosen: %v, want %v", got, test.want)
			}
			if got := run.Status.Objects[0].Message; got != test.message {
				t.Errorf("the message is %q, want %q", got, test.message)
			}
		})
	}
}
