// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// TestTooMuchIsSelected: beyond what all runs may hold in memory, a run touches nothing and names the flag; what it had is free for the
// next run. A Scan, which keeps names only, has room for the same objects.
func TestTooMuchIsSelected(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.runner.Check.Memory = selector.NewBudget(1 << 20)
	for i := range 5 {
		b.configMap(fmt.Sprint("large-", i), func(cm *corev1.ConfigMap) {
			cm.Data = map[string]string{"k": strings.Repeat("x", 500<<10)}
		})
	}
	all := b.cleaner(v1alpha1.ActionDelete, rollback(v1alpha1.Rollback{Storage: v1alpha1.StorageNone}))
	wantRun(t, b.run(all), v1alpha1.ReasonViewIncomplete, "Nothing was touched, because the run could not read or judge everything: resourceSelectors[0]: ",
		"not enough memory for the first 5 objects that match: they take more than 1 MiB of memory: let the Cleaner select fewer objects (with namespace, labelFilters or matchConditions), or write several Cleaners, or raise --max-selection-memory")
	b.wantUntouched()
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionScan)), v1alpha1.ReasonCompleted, "5 of 5 objects matched.")
	together := b.cleaner(v1alpha1.ActionDelete, rollback(v1alpha1.Rollback{Storage: v1alpha1.StorageNone}), aggregated(`function evaluate()
		local chosen = {}
		for i, o in ipairs(resources) do chosen[i] = {resource = o} end
		return {resources = chosen}
	end`))
	wantRun(t, b.run(together), v1alpha1.ReasonViewIncomplete, "aggregatedSelection: not enough memory for the first 5 objects that it chose: they take more than 1 MiB of memory: let")
	b.wantUntouched()
	few := b.cleaner(v1alpha1.ActionDelete, evaluate(`function evaluate() return {matching = obj.metadata.name >= "large-2"} end`),
		rollback(v1alpha1.Rollback{Storage: v1alpha1.StorageNone}))
	wantRun(t, b.run(few), v1alpha1.ReasonCompleted, "3 of 5 objects matched; 3 deleted.")
	wantRun(t, b.run(all), v1alpha1.ReasonCompleted, "2 of 2 objects matched; 2 deleted.")
}

// TestSecondReadingTakesNoMoreMemory: nothing is kept of the first one but what the script chose.
func TestSecondReadingTakesNoMoreMemory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.runner.Check.Memory = selector.NewBudget(1 << 20)
	for i := range 2 {
		must(t, b.user.Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: fmt.Sprint("large-", i)}, Data: map[string][]byte{"k": make([]byte, 500<<10)},
		}))
	}
	b.configMap("old")
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(kind("", "v1", "Secret", b.namespace), kind("", "v1", "ConfigMap", b.namespace)),
		aggregated(`function evaluate()
			local chosen = {}
			for _, o in ipairs(resources) do if o.metadata.name == "old" then table.insert(chosen, {resource = o}) end end
			return {resources = chosen}
		end`)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 3 objects matched; 1 deleted.")
}

// TestHidingSecretsTakesMemory: what hides the values of the Secrets that an aggregated script is given counts as what it is. Of values of short
// lines it is more than they are.
func TestHidingSecretsTakesMemory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.runner.Check.Memory = selector.NewBudget(1 << 20)
	create := func(name string, lines int) {
		var value strings.Builder
		for i := range lines {
			fmt.Fprintf(&value, "%s%06d\n", name, i)
		}
		must(t, b.user.Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "large-" + name}, Data: map[string][]byte{"k": []byte(value.String())},
		}))
	}
	secrets := b.cleaner(v1alpha1.ActionScan, selecting(kind("", "v1", "Secret", b.namespace)), aggregated(`function evaluate()
		local n = 0
		for _, o in ipairs(resources) do n = n + #o.data.k end
		return {resources = {{resource = resources[1], message = n .. " bytes"}}}
	end`))
	create("aa", 10_000)
	wantRun(t, b.run(secrets), v1alpha1.ReasonCompleted, "1 of 1 object matched.")
	for _, name := range []string{"bb", "cc", "dd", "ee"} {
		create(name, 50_000)
	}
	wantRun(t, b.run(secrets), v1alpha1.ReasonViewIncomplete, "objects that match: they take more than 1 MiB of memory")
}
