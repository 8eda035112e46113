// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func mergePatch(text string) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) { c.Spec.MergePatch = &runtime.RawExtension{Raw: []byte(text)} }
}

// Only what changes is sent, and what would change nothing is not.
func TestMergePatchSendsWhatChanges(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", stale)
	patches := b.record(http.MethodPatch, "/old")
	c := b.cleaner(v1alpha1.ActionTransform, mergePatch(`{"metadata":{"labels":{"test":"x"}},"data":{"stale":"yes","touched":"yes","none":null}}`))
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 changed")
	body := patches()[0].body
	delete(body["metadata"].(map[string]any), "resourceVersion")
	if diff := cmp.Diff(map[string]any{"metadata": map[string]any{}, "data": map[string]any{"touched": "yes"}}, body); diff != "" {
		t.Fatalf("the patch (-want +got):\n%s", diff)
	}
	run := b.run(c)
	wantOutcome(t, run, "old", v1alpha1.OutcomeUnchanged)
	if n := len(patches()); n != 1 {
		t.Fatalf("%d patches were sent, want 1", n)
	}
}

// Of a patch the API server may take a part only: the status of a Pod is written by itself.
func TestMergePatchOfWhichAPartIsNotKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.pod("old", "none")
	patch := `{"metadata":{"labels":{"seen":"yes"},"annotations":{"none":null}},"status":{"reason":"Cleaned"}}`
	run := b.run(b.cleaner(v1alpha1.ActionTransform, selecting(kind("", "v1", "Pod", b.namespace)), mergePatch(patch)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 changed")
	wantOutcome(t, run, "old", v1alpha1.OutcomeTransformed)
	if got, want := run.Status.Objects[0].Reason, "the API server stored other values than those sent, in: status.reason"; got != want {
		t.Fatalf("the reason is %q, want %q", got, want)
	}
}

// A field that the schema of the kind does not have is dropped, and the outcome says so.
func TestMergePatchOfAnUnknownField(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", stale)
	run := b.run(b.cleaner(v1alpha1.ActionTransform, mergePatch(`{"nonsense":{"a":1}}`)))
	wantOutcome(t, run, "old", v1alpha1.OutcomeUnchanged, "the API server knows no field nonsense and drops it")
}

// The stringData of a Secret becomes its data, and the API server answers without it: nothing is missing.
func TestMergePatchOfStringData(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "old"}}
	must(t, b.user.Create(t.Context(), secret))
	run := b.run(b.cleaner(v1alpha1.ActionTransform, selecting(kind("", "v1", "Secret", b.namespace)), mergePatch(`{"stringData":{"a":"b"}}`)))
	wantOutcome(t, run, "old", v1alpha1.OutcomeTransformed)
	if got := run.Status.Objects[0].Reason; got != "" {
		t.Fatalf("the reason is %q", got)
	}
}

func TestMergePatchKeepsTheRestExactly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.widget("exact", exact)
	run := b.run(b.cleaner(v1alpha1.ActionTransform, selecting(kind(widgetGroup, "v1", "Widget", b.namespace)),
		mergePatch(`{"spec":{"text":null,"big":9007199254740993,"emptyMap":{"a":[]},"small":1e-7}}`)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 changed")
	wantJSON(t, "as changed", `{
  "emptyList": [], "emptyMap": {"a": []}, "nothing": null, "float": 1.5, "small": 1e-7,
  "big": 9007199254740993, "huge": 9223372036854775807, "negative": -9007199254740993,
  "bigs": [9007199254740993, 1], "nested": [[], {}, null, [[1]], {"a": []}], "mixed": {"1": "one", "list": [null, 2]}
}`, b.widgetSpec("exact"))
}

func TestMergePatchThatTouchesTheIdentityIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for patch, want := range map[string]string{
		`{"metadata":{"name":"other"}}`: "mergePatch: it sets metadata.name; an object's identity must stay as it is",
		`{"kind":"Secret"}`:             "mergePatch: it sets kind;",
		`{}`:                            "mergePatch: it must be a map that says what to change",
	} {
		c := b.reconcile(b.cleaner(v1alpha1.ActionTransform, mergePatch(patch)))
		wantCondition(t, c, v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidExpression, want)
	}
}

// Candidates are kept without managedFields, unless what changes them wants to see those.
func TestTransformSeesManagedFieldsIfItMentionsThem(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", stale)
	script := `function transform()
  obj.data.managers = tostring(#obj.metadata.managedFields)
  return {resource = obj}
end`
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionTransform, transform(script))), v1alpha1.ReasonCompleted, "1 changed")
	if got := b.named("old").Data["managers"]; got != "1" {
		t.Fatalf("the script saw %q managers", got)
	}
}

// What the API server says of a patch that makes no object of the kind names neither; the reason is a sentence all the same.
func TestMergePatchOfAWrongType(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", stale)
	run := b.run(b.cleaner(v1alpha1.ActionTransform, mergePatch(`{"data":{"touched":5}}`)))
	wantOutcome(t, run, "old", v1alpha1.OutcomeFailed)
	if got := run.Status.Objects[0].Reason; !strings.HasPrefix(got, "the changed object would not be valid: ") || !strings.Contains(got, "number") {
		t.Fatalf("the reason is %q", got)
	}
}

// A patch that the API server refuses for every object is one failure, found before anything is written down.
func TestMergePatchThatTheServerRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 20 {
		b.configMap(fmt.Sprintf("old-%02d", i), stale)
	}
	patches := b.record(http.MethodPatch, "/old-")
	run := b.run(b.cleaner(v1alpha1.ActionTransform, mergePatch(`{"data":{"x":true}}`)))
	wantRun(t, run, v1alpha1.ReasonFailed, "Nothing was touched: the API server refused the change of 3 of the 20 objects in a dry run, so none is changed. Correct transform or mergePatch. About ConfigMap "+b.namespace+"/old-00 it says: ")
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 20, Matched: 20, Skipped: 20})
	wantOutcome(t, run, "old-07", v1alpha1.OutcomeNotActed)
	if n := len(patches()); n != 3 {
		t.Errorf("%d patches were sent, want the 3 of the dry run", n)
	}
	if run.Status.Intent != nil {
		t.Error("the run wrote down what it was going to touch")
	}
}
