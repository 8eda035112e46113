// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/executor"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// unusedConfigMaps returns the ConfigMaps that no Pod mounts.
const unusedConfigMaps = `function evaluate()
  local used = {}
  for _, r in ipairs(resources) do
    if r.kind == "Pod" then
      for _, v in ipairs(r.spec.volumes or {}) do
        if v.configMap then used[v.configMap.name] = true end
      end
    end
  end
  local unused = {}
  for _, r in ipairs(resources) do
    if r.kind == "ConfigMap" and not used[r.metadata.name] then
      table.insert(unused, {resource = r, message = r.metadata.name .. " is mounted by no Pod"})
    end
  end
  return {resources = unused}
end`

// pod creates a Pod that mounts a ConfigMap.
func (b *bench) pod(name, configMap string, edit ...func(*corev1.Pod)) {
	b.t.Helper()
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = b.namespace, name
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "none"}}
	pod.Spec.AutomountServiceAccountToken = new(bool)
	mount := corev1.Volume{Name: "settings"}
	mount.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}}
	pod.Spec.Volumes = []corev1.Volume{mount}
	for _, e := range edit {
		e(pod)
	}
	must(b.t, b.user.Create(b.t.Context(), pod))
}

// configMapsAndPods are the selectors of a search for unused ConfigMaps.
func (b *bench) configMapsAndPods() func(*v1alpha1.Cleaner) {
	return selecting(kind("", "v1", "ConfigMap", b.namespace), kind("", "v1", "Pod", b.namespace))
}

// An aggregated script works on two kinds: unused ConfigMaps, given the Pods. Its messages are kept.
func TestAggregatedScriptWorksOnTwoKinds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.configMap("used")
	b.configMap("unused")
	b.pod("user", "used")
	run := b.run(b.cleaner(v1alpha1.ActionDelete, b.configMapsAndPods(), aggregated(unusedConfigMaps)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 3 objects matched; 1 deleted")
	wantOutcome(t, run, "unused", v1alpha1.OutcomeDeleted)
	if got := run.Status.Objects[0].Message; got != "unused is mounted by no Pod" {
		t.Fatalf("the message is %q", got)
	}
	b.wantNames("used")
}

// Upstream: an aggregated script may return objects that were never selected; they are deleted. Required: map back by
// identity; foreign or altered identity fails the run. Test: script fabricating another kind or name.
func TestAggregatedScriptReturningForeignObjectFailsTheRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("mine")
	b.configMap("other", func(cm *corev1.ConfigMap) { cm.Labels = nil })
	tests := map[string]struct{ change, want string }{
		"another name": {
			`r = {apiVersion = "v1", kind = "ConfigMap", metadata = {namespace = r.metadata.namespace, name = "other"}}`,
			"resources[1].resource is v1 ConfigMap " + b.namespace + "/other, which was never selected; return objects of resources only",
		},
		"another kind": {
			`r = {apiVersion = "v1", kind = "Namespace", metadata = {name = r.metadata.namespace}}`,
			"resources[1].resource is v1 Namespace " + b.namespace + ", which was never selected",
		},
		"another uid": {
			`r = {apiVersion = "v1", kind = "ConfigMap", metadata = {namespace = r.metadata.namespace, name = "mine", uid = "0"}}`,
			"(uid 0), which was never selected",
		},
		"altered name":      {`r.metadata.name = "other"`, "but the script made it v1 ConfigMap " + b.namespace + "/other"},
		"altered namespace": {`r.metadata.namespace = "kube-system"`, "but the script made it v1 ConfigMap kube-system/mine"},
		"altered kind":      {`r.kind = "Secret"`, "but the script made it v1 Secret "},
		"altered uid":       {`r.metadata.uid = "0"`, "(uid 0); return objects as they were given"},
		"no identity":       {`r = {}`, "resources[1].resource has no metadata.name; return an object of resources"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			script := "function evaluate()\n local r = resources[1]\n " + test.change + "\n return {resources = {{resource = r}}}\nend"
			run := b.run(b.cleaner(v1alpha1.ActionDelete, aggregated(script)))
			wantRun(t, run, v1alpha1.ReasonViewIncomplete, "aggregatedSelection: resources[1].resource ", test.want)
			wantCounts(t, run, v1alpha1.RunCounts{Considered: 1})
			b.wantUntouched()
		})
	}
	b.wantNames("mine", "other")
}

// Scripts may build or edit the returned objects: what is acted on is what was selected.
func TestAggregatedScriptMayEditWhatItReturns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("mine")
	script := `function evaluate()
  local built = {apiVersion = "v1", kind = "ConfigMap", metadata = {namespace = resources[1].metadata.namespace, name = "mine"}}
  return {resources = {{resource = built, message = "built"}, {resource = resources[1], message = "again"}}}
end`
	run := b.run(b.cleaner(v1alpha1.ActionDelete, aggregated(script)))
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 1, Matched: 1, Acted: 1})
	if got := run.Status.Objects[0].Message; got != "built; again" {
		t.Fatalf("the message is %q, want those of both entries", got)
	}
	b.wantNames()
}

// Upstream: a result entry without resource panics the process. Required: error outcome.
func TestAggregatedResultWithoutResource(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("mine")
	tests := map[string]struct{ result, want string }{
		"no resource":       {`{resources = {{message = "x"}}}`, `resources[1].resource is nothing; write {resource=obj, message="why"}`},
		"a text":            {`{resources = {{resource = "mine"}}}`, "resources[1].resource is a string"},
		"an entry of text":  {`{resources = {"mine"}}`, "resources[1] is a string"},
		"no list":           {`{resources = "mine"}`, "evaluate returned resources that is a string; it must be a list"},
		"the object itself": {`{resources = {resource = resources[1]}}`, "evaluate returned resources with the key resource; it must be a list"},
		"a message of nil":  {`{resources = {{resource = resources[1], message = {}}}}`, "evaluate returned a message that is a table; use tostring"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			run := b.run(b.cleaner(v1alpha1.ActionDelete, aggregated("function evaluate() return "+test.result+" end")))
			wantRun(t, run, v1alpha1.ReasonViewIncomplete, "aggregatedSelection: ", test.want)
			b.wantUntouched()
		})
	}
	b.wantNames("mine")
}

// nil, missing or empty resources is "no match".
func TestAggregatedResultWithoutMatch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("mine")
	for _, result := range []string{"", "nil", "{}", "{resources = {}}", "{resources = nil}"} {
		t.Run(result, func(t *testing.T) {
			run := b.run(b.cleaner(v1alpha1.ActionDelete, aggregated("function evaluate() return "+result+" end")))
			wantRun(t, run, v1alpha1.ReasonCompleted, "0 of 1 object matched; 0 deleted.")
		})
	}
	b.wantNames("mine")
}

// TestWhatIsCreatedBetweenTheLists of an aggregated selection: they are read one after the other, so that an object of a later one is seen
// without what was created meanwhile, and uses it. So all is read a second time, and only what is chosen again is touched.
func TestWhatIsCreatedBetweenTheLists(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		podsFirst bool
		older     bool // the ConfigMap is older than the run
		between   string
	}{
		"with what uses it":          {podsFirst: true, between: "/configmaps"},
		"what uses it":               {podsFirst: true, older: true, between: "/configmaps"},
		"what uses it, in the other": {older: true, between: "/pods"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.serviceAccount()
			b.configMap("unused")
			if test.older {
				b.configMap("settings")
			}
			b.beforeFirst(http.MethodGet, "/"+b.namespace+test.between, func() { // somebody applies a workload
				if !test.older {
					b.configMap("settings")
				}
				b.pod("user", "settings")
			})
			kinds := []v1alpha1.ResourceSelector{kind("", "v1", "ConfigMap", b.namespace), kind("", "v1", "Pod", b.namespace)}
			if test.podsFirst {
				slices.Reverse(kinds)
			}
			run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(kinds...), aggregated(unusedConfigMaps)))
			if !b.exists("settings") || b.exists("unused") {
				t.Errorf("a Pod uses the one, and none the other: %s", run.Status.Message)
			}
			if n := b.requests.count(http.MethodGet, "/"+b.namespace+"/pods"); n != 2 {
				t.Errorf("the Pods were listed %d times, want 2", n)
			}
		})
	}
}

// TestWhatIsNotChosenAgain is not counted for the occurrenceThreshold.
func TestWhatIsNotChosenAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.configMap("settings")
	b.beforeFirst(http.MethodGet, "/"+b.namespace+"/configmaps", func() { b.pod("user", "settings") })
	c := b.cleaner(v1alpha1.ActionDelete, threshold(2), aggregated(unusedConfigMaps),
		selecting(kind("", "v1", "Pod", b.namespace), kind("", "v1", "ConfigMap", b.namespace)))
	run := b.run(c)
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 more matched, but not yet in enough consecutive runs")
	must(t, b.user.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "user"}}, client.GracePeriodSeconds(0)))
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 more matched, but not yet in enough consecutive runs")
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 of 1 object matched; 1 deleted.")
}

// stopAtSecondList stops the operator when it lists the ConfigMaps of the namespace for the second time. It returns how
// many lists there were.
func (b *bench) stopAtSecondList(stop context.CancelCauseFunc) *int {
	lists := new(int)
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/"+b.namespace+"/configmaps") {
			if *lists++; *lists == 2 {
				stop(executor.ErrStopping)
			}
		}
		return nil, nil
	})
	return lists
}

// TestStopInTheSecondDecision: an operator that stops leaves the run to the next one, as at any other time.
func TestStopInTheSecondDecision(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("unused")
	c := b.cleaner(v1alpha1.ActionDelete, aggregated(unusedConfigMaps), selecting(kind("", "v1", "ConfigMap", b.namespace)))
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	lists := b.stopAtSecondList(cancel)
	b.runWith(ctx, c)
	var records v1alpha1.CleanerRunList
	must(t, b.user.List(t.Context(), &records, client.MatchingLabels{v1alpha1.CleanerLabel: string(c.UID)}))
	if len(records.Items) != 1 || records.Items[0].Status.Phase != v1alpha1.RunExecuting || *lists != 2 {
		t.Fatalf("after %d lists there are %+v", *lists, records.Items)
	}
	b.wantNames("unused")
}

// TestStopWhileTheIntentIsWritten: also an operator that stops while it writes down what it is going to touch, or what it
// has counted, leaves the run to the next one.
func TestStopWhileTheIntentIsWritten(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]struct {
		action v1alpha1.Action
		path   string
	}{"copies": {v1alpha1.ActionDelete, "/secrets"}, "counts": {v1alpha1.ActionScan, "/configmaps"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMap("old")
			c := b.cleaner(at.action, threshold(2))
			if at.action == v1alpha1.ActionDelete {
				b.run(c)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			b.beforeFirst(http.MethodPost, at.path, func() { cancel(executor.ErrStopping) })
			record := b.runWith(ctx, c)
			if phase := record.Status.Phase; phase != "" && phase != v1alpha1.RunExecuting {
				t.Errorf("the run ended: %s, %s", phase, record.Status.Message)
			}
			b.wantNames("old")
		})
	}
}

// needsMuch is an aggregated script that needs more memory than a small process has, and chooses the first object.
const needsMuch = `function evaluate()
  local t = {}
  for i = 1, 1500000 do t[i] = {} end
  return {resources = {{resource = resources[1], message = #t .. " tables, " .. #resources .. " objects"}}}
end`

// Who watches a preview gets each object once.
func TestPreviewOfAScriptThatNeedsMuch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("first")
	b.configMap("second")
	considered, matched, chooses := 0, 0, 0
	preview, err := b.runner.Preview(t.Context(), b.cleaner(v1alpha1.ActionDelete, aggregated(needsMuch)), selector.Observer{
		Judged:    func() { considered++ },
		Candidate: func(stage.Candidate) { matched++ },
		Chooses:   func() { chooses++ },
	})
	must(t, err)
	if considered != 2 || matched != 2 || chooses != 1 {
		t.Errorf("it got %d objects, %d of which match, after %d choices", considered, matched, chooses)
	}
	if len(preview.Items) != 1 || preview.Items[0].Name != "first" || preview.Considered != 2 || preview.Incomplete != nil {
		t.Errorf("got %+v", preview)
	}
}
