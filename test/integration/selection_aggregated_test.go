// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/run"
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
	if got := run.Status.Objects[0].Message; got != "built" {
		t.Fatalf("the message is %q, want that of the first entry", got)
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
// without what was created meanwhile, and uses it. All is read a second time then, and only what is chosen again is touched.
func TestWhatIsCreatedBetweenTheLists(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		podsFirst bool
		older     bool // the ConfigMap is older than the run
		between   string
		lists     int
	}{
		"with what uses it":          {podsFirst: true, between: "/configmaps", lists: 2},
		"what uses it":               {podsFirst: true, older: true, between: "/configmaps", lists: 2},
		"what uses it, in the other": {older: true, between: "/pods", lists: 1},
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
			if n := b.requests.count(http.MethodGet, "/"+b.namespace+"/pods"); n != test.lists {
				t.Errorf("the Pods were listed %d times, want %d", n, test.lists)
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
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 1 object matched; 0 deleted, 1 left alone.")
	wantOutcome(t, run, "settings", v1alpha1.OutcomeChanged)
	must(t, b.user.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "user"}}, client.GracePeriodSeconds(0)))
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 more matched, but not yet in enough consecutive runs")
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 of 1 object matched; 1 deleted.")
}

// needsMuch is an aggregated script that needs more memory than a small process has, and chooses the first object.
const needsMuch = `function evaluate()
  local t = {}
  for i = 1, 1500000 do t[i] = {} end
  return {resources = {{resource = resources[1], message = #t .. " tables, " .. #resources .. " objects"}}}
end`

// A script that needs more memory than a small process has is given everything once more, in a large one: each object is counted and
// chosen once. The next run begins with a large one, and reads everything once.
func TestAggregatedScriptNeedsMuch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("first")
	b.configMap("second")
	c := b.cleaner(v1alpha1.ActionScan, aggregated(needsMuch))
	for i, readings := range []int{2, 3} {
		run := b.run(c)
		wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 2 objects matched")
		if got := run.Status.Objects; len(got) != 1 || got[0].Name != "first" || got[0].Message != "1500000 tables, 2 objects" {
			t.Fatalf("run %d: %+v", i, got)
		}
		if n := b.requests.count(http.MethodGet, "/"+b.namespace+"/configmaps"); n != readings {
			t.Errorf("after run %d, the ConfigMaps were listed %d times, want %d", i, n, readings)
		}
	}
}

// Who watches a preview is told when everything is read once more, so that nothing is counted twice.
func TestPreviewOfAScriptThatNeedsMuch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("first")
	b.configMap("second")
	considered, matched, again, chooses := 0, 0, 0, 0
	preview, err := b.runner.Preview(t.Context(), b.cleaner(v1alpha1.ActionDelete, aggregated(needsMuch)), selector.Observer{
		Judged:    func() { considered++ },
		Candidate: func(object.Candidate) { matched++ },
		Again:     func() { considered, matched, again = 0, 0, again+1 },
		Chooses:   func() { chooses++ },
	})
	must(t, err)
	if considered != 2 || matched != 2 || again != 1 || chooses != 2 {
		t.Errorf("told of %d objects, %d of which match, after %d new beginnings and %d choices", considered, matched, again, chooses)
	}
	if len(preview.Items) != 1 || preview.Items[0].Name != "first" || preview.Considered != 2 || preview.Incomplete != nil {
		t.Errorf("got %+v", preview)
	}
}

// What changed between the two readings counts: nothing is deleted by what was read first.
func TestAggregatedScriptIsGivenWhatThereIsThen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("first")
	b.configMap("second")
	listed := 0
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/"+b.namespace+"/configmaps") {
			if listed++; listed == 2 {
				b.configMap("another")
			}
		}
		return nil, nil
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete, aggregated(needsMuch)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 3 objects matched; 1 deleted")
	b.wantNames("first", "second")
}

// A namespace that went between the two readings is missed in the second one: nothing in it is not the same as nothing that uses anything.
func TestNamespaceGoesBetweenTwoReadings(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("first")
	other := b.newNamespace(nil)
	listed := 0
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/"+b.namespace+"/configmaps") {
			if listed++; listed == 2 {
				gone := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: other}}
				must(t, b.user.Delete(t.Context(), gone))
				must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(gone), gone))
				gone.Spec.Finalizers = nil // as the namespace controller does at the end
				must(t, b.user.SubResource("finalize").Update(t.Context(), gone))
			}
		}
		return nil, nil
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete, aggregated(needsMuch),
		selecting(kind("", "v1", "ConfigMap", b.namespace), kind("", "v1", "Pod", other))))
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, "resourceSelectors[1]: there is no namespace "+other+": correct it, or remove the selector")
	b.wantUntouched()
	if listed != 2 {
		t.Errorf("the ConfigMaps were listed %d times", listed)
	}
}

// Where the memory for many objects is not free while they are read, the run waits for it and reads everything once more: the script sees
// each object once, and what it says of one is said of that one. While it waits, it reads nothing.
func TestAggregatedScriptWaitsForMemory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const script = `function evaluate() return {matching = string.sub(obj.metadata.name, 1, 5) ~= "small", message = "says " .. obj.metadata.name} end`
	for i := range 70 {
		name := fmt.Sprintf("large-%02d", i)
		if i%2 == 1 {
			name = fmt.Sprintf("small-%02d", i) // which the first script leaves out
		}
		b.configMap(name, func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"k": strings.Repeat("x", 980<<10)} })
	}
	for i := range 35 {
		must(t, b.user.Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: fmt.Sprintf("secret-%02d", i)}, Data: map[string][]byte{"k": make([]byte, 700<<10)},
		}))
	}
	other := hold(t, b.runner.Scripts, 4) // of five small processes for slow scripts
	c := b.cleaner(v1alpha1.ActionScan, selecting(kind("", "v1", "ConfigMap", b.namespace), kind("", "v1", "Secret", b.namespace)),
		func(c *v1alpha1.Cleaner) { c.Spec.ResourcePolicySet.ResourceSelectors[0].Evaluate = script },
		aggregated(`function evaluate()
			local chosen = {}
			for i, o in ipairs(resources) do
				local message
				if i % 20 == 0 then message = i .. " of " .. #resources .. " is " .. o.metadata.name end
				if i % 10 == 0 then table.insert(chosen, {resource = o, message = message}) end
			end
			return {resources = chosen}
		end`))
	before := 0
	lists := func() int { return b.requests.count(http.MethodGet, "/"+b.namespace+"/configmaps") }
	got := b.runner.Run(t.Context(), run.Request{
		Cleaner: c.Name, Nominal: b.clock.Now(), Trigger: v1alpha1.TriggerSchedule, Pace: sandbox.Pace{Slow: true},
		Waiting: func() func(context.Context) {
			before = lists()
			other()
			return func(context.Context) {
				if n := lists(); n != before {
					t.Errorf("it read %d lists while it waited", n-before)
				}
			}
		},
	})
	wantRun(t, got, v1alpha1.ReasonCompleted, "7 of 105 objects matched")
	if before != 1 || lists() != 2 {
		t.Errorf("the ConfigMaps were listed %d times before it waited, and %d times in all", before, lists())
	}
	for i, o := range got.Status.Objects {
		want := ""
		switch {
		case i%2 == 1:
			want = fmt.Sprintf("%d of 70 is %s", 10*(i+1), o.Name)
		case o.Kind == "ConfigMap":
			want = "says " + o.Name // it was given no other message
		}
		if o.Message != want {
			t.Errorf("%s %s: %q, want %q", o.Kind, o.Name, o.Message, want)
		}
	}
}

// hold lets so many sessions have a process each. What it returns gives their memory back.
func hold(t *testing.T, pool *sandbox.Pool, n int) (release func()) {
	t.Helper()
	var sessions []*sandbox.Session
	for range n {
		s := pool.Open(sandbox.Options{Pace: sandbox.Pace{Slow: true}})
		sessions = append(sessions, s)
		_, err := s.Evaluate(t.Context(), "function evaluate() return {matching = false} end", object.Object{Raw: []byte("{}")})
		must(t, err)
	}
	return sync.OnceFunc(func() {
		for _, s := range sessions {
			s.Close()
		}
	})
}
