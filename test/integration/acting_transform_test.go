// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// Transform is a patch with only the script's changes and the judged resourceVersion in its body.
func TestTransformCarriesTheJudgedResourceVersion(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cm := b.configMap("old", stale)
	requests := b.record(http.MethodPatch, "/old")
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionTransform, transform(touch))), v1alpha1.ReasonCompleted, "1 changed")
	want := sent{
		path: "/api/v1/namespaces/" + b.namespace + "/configmaps/old", query: "fieldManager=kubecleaner", contentType: "application/merge-patch+json",
		body: map[string]any{"metadata": map[string]any{"resourceVersion": cm.ResourceVersion}, "data": map[string]any{"touched": "yes"}},
	}
	if diff := cmp.Diff([]sent{want}, requests(), cmp.AllowUnexported(sent{})); diff != "" {
		t.Fatalf("the patches (-want +got):\n%s", diff)
	}
}

// A script's labels and annotations join the resourceVersion in the patch's metadata.
func TestTransformOfMetadata(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", stale)
	script := `function transform()
  obj.metadata.annotations = {note = "7"}
  obj.metadata.labels.test = nil
  return {resource = obj}
end`
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionTransform, transform(script))), v1alpha1.ReasonCompleted, "1 changed")
	cm := b.named("old")
	if cm.Annotations["note"] != "7" || len(cm.Labels) != 0 || cm.Data["stale"] != "yes" {
		t.Fatalf("annotations %v, labels %v, data %v", cm.Annotations, cm.Labels, cm.Data)
	}
}

// exact is full of what a Lua table cannot distinguish, or a double not hold.
const exact = `{
  "emptyList": [], "emptyMap": {}, "nothing": null, "text": "a", "float": 1.5, "small": 1e-7,
  "big": 9007199254740993, "huge": 9223372036854775807, "negative": -9007199254740993,
  "bigs": [9007199254740993, 1], "nested": [[], {}, null, [[1]], {"a": []}], "mixed": {"1": "one", "list": [null, 2]}
}`

// Upstream: transform is a full update of a lossy copy: empty lists become maps, integers in lists vanish, large integers are
// rounded. Required: what the script did not touch keeps its exact types.
func TestTransformKeepsTheRestExactly(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ script, was, is string }{
		"one text":            {`obj.spec.text = "b"`, `"a"`, `"b"`},
		"a number in a list":  {`table.insert(obj.spec.bigs, 2)`, `[9007199254740993, 1]`, `[9007199254740993, 1, 2]`},
		"deep in a map":       {`obj.spec.mixed.more = true`, `{"1": "one",`, `{"more": true, "1": "one",`},
		"into an empty map":   {`obj.spec.emptyMap.a = 3`, `"emptyMap": {}`, `"emptyMap": {"a": 3}`},
		"into an empty list":  {`table.insert(obj.spec.emptyList, "x")`, `"emptyList": []`, `"emptyList": ["x"]`},
		"taken away":          {`obj.spec.huge = nil`, `"huge": 9223372036854775807, `, ``},
		"in a list with null": {`obj.spec.nested[5].a = {1}`, `{"a": []}`, `{"a": [1]}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.widget("exact", exact)
			stored := b.widgetSpec("exact")
			wantJSON(t, "as created", exact, stored)
			script := "function transform() " + test.script + "; return {resource = obj} end"
			run := b.run(b.cleaner(v1alpha1.ActionTransform, selecting(kind(widgetGroup, "v1", "Widget", b.namespace)), transform(script)))
			wantRun(t, run, v1alpha1.ReasonCompleted, "1 changed")
			if !strings.Contains(exact, test.was) {
				t.Fatalf("%s is not in the object", test.was)
			}
			wantJSON(t, "as transformed", strings.Replace(exact, test.was, test.is, 1), b.widgetSpec("exact"))
		})
	}
}

// widgetSpec reads the spec of a widget byte by byte.
func (b *bench) widgetSpec(name string) string {
	b.t.Helper()
	var w struct{ Spec json.RawMessage }
	must(b.t, json.Unmarshal(rawGet(b.t, "/apis/"+widgetGroup+"/v1/namespaces/"+b.namespace+"/widgets/"+name), &w))
	return string(w.Spec)
}

// wantJSON compares two JSON texts: numbers by their digits, [] and {} and null as what they are.
func wantJSON(t *testing.T, what, want, got string) {
	t.Helper()
	decode := func(text string) (value any) {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		must(t, decoder.Decode(&value))
		return value
	}
	if diff := cmp.Diff(decode(want), decode(got)); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// A script that changes an object's identity fails only that object.
func TestTransformThatChangesIdentityFailsOnlyThatObject(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]string{
		"metadata.name": `obj.metadata.name = "other"`, "metadata.namespace": `obj.metadata.namespace = "default"`,
		"metadata.uid": `obj.metadata.uid = "0"`, "metadata.resourceVersion": `obj.metadata.resourceVersion = nil`,
		"kind": `obj.kind = "Secret"`, "apiVersion": `obj.apiVersion = "v2"`,
	} {
		t.Run(field, func(t *testing.T) {
			b := newBench(t)
			b.configMap("bad", stale)
			b.configMap("good")
			script := "function transform()\n  if obj.data then " + change + " end\n  obj.data = {touched = \"x\"}\n  return {resource = obj}\nend"
			run := b.run(b.cleaner(v1alpha1.ActionTransform, transform(script)))
			wantRun(t, run, v1alpha1.ReasonPartiallyFailed, "2 of 2 objects matched; 1 changed, 1 failed. The first failure was on ConfigMap "+b.namespace+"/bad: ")
			wantOutcome(t, run, "bad", v1alpha1.OutcomeFailed, "transform: transform changed "+field+"; identity must stay as it was")
			wantOutcome(t, run, "good", v1alpha1.OutcomeTransformed)
			if b.named("bad").Data["touched"] != "" || b.named("good").Data["touched"] != "x" {
				t.Fatal("the wrong object was changed")
			}
		})
	}
}

// No return value means "leave unchanged"; a table without resource is a per-object error, never a panic; so is a script error.
func TestTransformResults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script string
		want   v1alpha1.OutcomeResult
		reason string
	}{
		"nothing":              {`obj.data.stale = "no"`, v1alpha1.OutcomeUnchanged, "there is nothing to change"},
		"nil":                  {`return nil`, v1alpha1.OutcomeUnchanged, "there is nothing to change"},
		"without resource":     {`return {message = "x"}`, v1alpha1.OutcomeFailed, "transform: transform returned a table without resource; return {resource=obj}"},
		"a text":               {`return "x"`, v1alpha1.OutcomeFailed, "transform: transform returned a string"},
		"an error":             {`error("not today")`, v1alpha1.OutcomeFailed, "transform: line 1: not today"},
		"what the API refuses": {`obj.data["a b"] = "x"; return {resource = obj}`, v1alpha1.OutcomeFailed, `a valid config key must consist of alphanumeric characters`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.configMap("old", stale)
			run := b.run(b.cleaner(v1alpha1.ActionTransform, transform("function transform() "+test.script+" end")))
			wantOutcome(t, run, "old", test.want, test.reason)
			if diff := cmp.Diff(map[string]string{"stale": "yes"}, b.named("old").Data); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

// TestTransformNeedsConsent for changes whose consequences reach beyond the object.
func TestTransformNeedsConsent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("held", func(cm *corev1.ConfigMap) { cm.Finalizers = []string{"example.com/hold"} })
	b.configMap("free")
	letGo := func(c *v1alpha1.Cleaner) {
		c.Spec.Transform = "function transform() obj.metadata.finalizers = nil obj.data = {seen = 'yes'} return {resource = obj} end"
	}
	run := b.run(b.cleaner(v1alpha1.ActionTransform, letGo))
	wantRun(t, run, v1alpha1.ReasonCompleted, "2 of 2 objects matched; 1 changed, 1 left alone.")
	wantOutcome(t, run, "held", v1alpha1.OutcomeProtected)
	if held := b.object("held"); len(held.Finalizers) != 1 || len(held.Data) != 0 {
		t.Fatalf("it was changed: %+v", held)
	}
	run = b.run(b.cleaner(v1alpha1.ActionTransform, letGo, func(c *v1alpha1.Cleaner) {
		c.Spec.TransformOptions = &v1alpha1.TransformOptions{Allow: []v1alpha1.TransformConsent{v1alpha1.ConsentFinalizers}}
	}))
	wantOutcome(t, run, "held", v1alpha1.OutcomeTransformed)
	if held := b.object("held"); len(held.Finalizers) != 0 {
		t.Fatalf("it was not changed: %+v", held)
	}
}

// TestPatchesThatAreTooLargeStopTheRun: one of more than etcd holds names its object, and the run touches none; nor does one whose patches
// take more memory than runs may have. A preview says the same.
func TestPatchesThatAreTooLargeStopTheRun(t *testing.T) {
	t.Parallel()
	const grow = `function transform() obj.data = {} for i = 1, %d do obj.data["k" .. i] = string.rep("x", 2^20) end return {resource = obj} end`
	const second = `function transform() local n = obj.metadata.name == "b" and 2 or 0 obj.data = {k = "x"}
		for i = 1, n do obj.data["k" .. i] = string.rep("x", 2^20) end return {resource = obj} end`
	for name, c := range map[string]struct {
		script string
		want   string
		of     map[string]v1alpha1.OutcomeResult
	}{
		"one of two": {
			second, "Nothing was touched, because the run could not read or judge everything: ConfigMap %s/b: transform: the patch has 2097199 bytes, and etcd holds at most 1572864 bytes of an object: change less of it",
			map[string]v1alpha1.OutcomeResult{"a": v1alpha1.OutcomeNotActed, "b": v1alpha1.OutcomeNotEvaluated},
		},
		"too many": {
			fmt.Sprintf(grow, 1), "Nothing was touched, because the run could not read or judge everything: not enough memory for the patches of the first 2 objects: they take more than 1 MiB of memory: ",
			map[string]v1alpha1.OutcomeResult{"a": v1alpha1.OutcomeNotActed, "b": v1alpha1.OutcomeNotActed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.runner.Check.Memory = selector.NewBudget(1 << 20)
			b.configMap("a", stale)
			b.configMap("b", stale)
			cleaner := b.cleaner(v1alpha1.ActionTransform, transform(c.script))
			want := strings.ReplaceAll(c.want, "%s", b.namespace)
			run := b.run(cleaner)
			wantRun(t, run, v1alpha1.ReasonViewIncomplete, want)
			if diff := cmp.Diff(c.of, outcomes(run)); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s", diff)
			}
			for _, name := range []string{"a", "b"} {
				if b.named(name).Data["stale"] != "yes" {
					t.Errorf("%s was changed", name)
				}
			}
			preview, err := b.runner.Preview(t.Context(), b.get(cleaner.Name), selector.Observer{})
			must(t, err)
			if preview.Incomplete == nil || !strings.Contains("Nothing was touched, because the run could not read or judge everything: "+preview.Incomplete.Error(), want) {
				t.Errorf("the preview says %v", preview.Incomplete)
			}
		})
	}
}
