// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// recreate deletes a ConfigMap, if the operator has not, and creates it again under the same name, as a controller does.
func (b *bench) recreate(name string) {
	ctx := context.Background()
	cm := &corev1.ConfigMap{}
	cm.Namespace, cm.Name = b.namespace, name
	if err := client.IgnoreNotFound(b.user.Delete(ctx, cm)); err != nil {
		b.t.Error(err)
	}
	again := &corev1.ConfigMap{Data: map[string]string{"stale": "yes", "life": "second"}}
	again.Namespace, again.Name, again.Labels = b.namespace, name, map[string]string{"test": "x"}
	if err := b.user.Create(ctx, again); err != nil {
		b.t.Error(err)
	}
}

// change is what happens to the ConfigMap old between the plan and the act, and what must become of it.
type change struct {
	do     func(*bench)
	want   v1alpha1.OutcomeResult
	reason string
}

const noMatch = "it changed since it was judged, and does not match any more"

var changes = map[string]change{
	"does not match any more": {update(func(cm *corev1.ConfigMap) { cm.Data["stale"] = "no" }), v1alpha1.OutcomeChanged, noMatch},
	"relabelled":              {update(func(cm *corev1.ConfigMap) { cm.Labels = nil }), v1alpha1.OutcomeChanged, noMatch},
	"being deleted":           {func(b *bench) { update(b.finalized)(b); remove(b) }, v1alpha1.OutcomeChanged, noMatch},
	"protected": {update(func(cm *corev1.ConfigMap) {
		cm.Annotations = map[string]string{v1alpha1.ProtectAnnotation: "true"}
	}), v1alpha1.OutcomeProtected, `it is annotated cleaner/protect: "true"`},
	"re-created": {func(b *bench) { b.recreate("old") }, v1alpha1.OutcomeReplaced, "it was created again under the same name"},
	"gone":       {remove, v1alpha1.OutcomeGone, ""},
}

// update changes the ConfigMap old as a user does.
func update(change func(*corev1.ConfigMap)) func(*bench) {
	return func(b *bench) { edit(b, b.named("old"), change) }
}

// remove deletes the ConfigMap old as a user does.
func remove(b *bench) {
	if err := b.user.Delete(context.Background(), b.named("old")); err != nil {
		b.t.Error(err)
	}
}

// named reads a ConfigMap of the test's namespace, from any goroutine.
func (b *bench) named(name string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{}
	if err := b.user.Get(context.Background(), client.ObjectKey{Namespace: b.namespace, Name: name}, cm); err != nil {
		b.t.Error(err)
	}
	return cm
}

// Upstream: delete without preconditions, from a stale list. Required: delete with UID and resourceVersion; on 409 live read
// and judge again. NotFound on delete is success.
func TestChangedBetweenPlanAndDelete(t *testing.T) {
	t.Parallel()
	for name, test := range changes {
		t.Run(name, func(t *testing.T) {
			if name == "being deleted" { // which is what the run wanted, too
				test.want, test.reason = v1alpha1.OutcomeTerminating, "finalizers hold it: "
			}
			b := newBench(t)
			b.configMap("old", stale)
			b.beforeFirst(http.MethodDelete, "/old", func() { test.do(b) })
			run := b.run(b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale)))
			wantRun(t, run, v1alpha1.ReasonCompleted)
			wantOutcome(t, run, "old", test.want, test.reason)
			gone := test.want == v1alpha1.OutcomeGone
			if b.exists("old") == gone {
				t.Fatalf("the object is there: %t", !gone)
			}
			if n := b.requests.count(http.MethodDelete, "/old"); n != 1 {
				t.Fatalf("%d deletes, want 1", n)
			}
			want := v1alpha1.RunCounts{Considered: 1, Matched: 1, Skipped: 1}
			if gone || test.want == v1alpha1.OutcomeTerminating {
				want.Skipped, want.Acted = 0, 1
			}
			wantCounts(t, run, want)
		})
	}
}

// A transform carries the judged resourceVersion in its body: what changed is judged again in the same way.
func TestChangedBetweenPlanAndTransform(t *testing.T) {
	t.Parallel()
	for name, test := range changes {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.configMap("old", stale)
			b.beforeFirst(http.MethodPatch, "/old", func() { test.do(b) })
			run := b.run(b.cleaner(v1alpha1.ActionTransform, evaluate(matchStale), transform(touch)))
			wantRun(t, run, v1alpha1.ReasonCompleted)
			wantOutcome(t, run, "old", test.want, test.reason)
			if test.want != v1alpha1.OutcomeGone && b.named("old").Data["touched"] != "" {
				t.Fatal("an object was changed that had changed since it was judged")
			}
			if n := b.requests.count(http.MethodPatch, "/old"); n != 1 {
				t.Fatalf("%d patches, want 1", n)
			}
		})
	}
}

// touch is a transform script that leaves a trace.
const touch = `function transform() obj.data = obj.data or {}; obj.data.touched = obj.data.stale or "x"; return {resource = obj} end`

// Changed, but still matching: it is acted on after it was judged again, by what it is then.
func TestChangedButStillMatching(t *testing.T) {
	t.Parallel()
	script := `function evaluate()
  return {matching = obj.data.stale ~= nil, message = "stale is " .. tostring(obj.data.stale)}
end`
	for action, method := range map[v1alpha1.Action]string{v1alpha1.ActionDelete: http.MethodDelete, v1alpha1.ActionTransform: http.MethodPatch} {
		t.Run(string(action), func(t *testing.T) {
			b := newBench(t)
			b.configMap("old", stale)
			b.beforeFirst(method, "/old", func() { update(func(cm *corev1.ConfigMap) { cm.Data["stale"] = "very" })(b) })
			run := b.run(b.cleaner(action, evaluate(script), transform(touch)))
			wantRun(t, run, v1alpha1.ReasonCompleted)
			wantCounts(t, run, v1alpha1.RunCounts{Considered: 1, Matched: 1, Acted: 1})
			if got := run.Status.Objects[0].Message; got != "stale is very" {
				t.Fatalf("the message is %q, want that of the object as it was acted on", got)
			}
			if n := b.requests.count(method, "/old"); n != 2 {
				t.Fatalf("%d requests, want 2", n)
			}
			if action == v1alpha1.ActionTransform && b.named("old").Data["touched"] != "very" {
				t.Fatalf("the script saw the object as it was: %v", b.named("old").Data)
			}
		})
	}
}

// An object that keeps changing is left alone after three attempts.
func TestKeepsChanging(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", stale)
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/old") {
			update(func(cm *corev1.ConfigMap) { cm.Data["turn"] += "x" })(b)
		}
		return nil, nil
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 1 object matched; 0 deleted, 1 left alone.")
	wantOutcome(t, run, "old", v1alpha1.OutcomeConflict, "it kept changing; the next run judges it again")
	if n := b.requests.count(http.MethodDelete, "/old"); n != 3 || b.named("old").Data["turn"] != "xxx" {
		t.Fatalf("%d deletes, want 3", n)
	}
}

// An object of an aggregated selection that changed is not judged alone.
func TestChangedInAnAggregatedSelection(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", stale)
	b.beforeFirst(http.MethodDelete, "/old", func() { update(func(cm *corev1.ConfigMap) { cm.Data["more"] = "1" })(b) })
	run := b.run(b.cleaner(v1alpha1.ActionDelete, aggregated(`function evaluate() return {resources = {{resource = resources[1]}}} end`)))
	wantRun(t, run, v1alpha1.ReasonCompleted)
	wantOutcome(t, run, "old", v1alpha1.OutcomeChanged, "it changed since it was judged together with the others; the next run judges it again")
	b.wantNames("old")
}

// 10,000 recreate races: no new object deleted; here, some hundred.
func TestRecreateRaces(t *testing.T) {
	t.Parallel()
	const races = 210
	b := newBench(t)
	b.configMaps(b.namespace, "cm", races, stale)
	var users sync.WaitGroup
	var turn atomic.Int64
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		name := path.Base(r.URL.Path)
		if r.Method != http.MethodDelete {
			return nil, nil
		}
		if turn.Add(1)%3 == 0 {
			b.recreate(name) // surely before
		} else {
			users.Go(func() { b.recreate(name) }) // before, or after
		}
		return nil, nil
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale)))
	users.Wait()
	wantRun(t, run, v1alpha1.ReasonCompleted)
	var list corev1.ConfigMapList
	must(t, b.user.List(t.Context(), &list, client.InNamespace(b.namespace)))
	for _, cm := range list.Items {
		if cm.Data["life"] != "second" {
			t.Errorf("%s is there as it was judged", cm.Name)
		}
	}
	if len(list.Items) != races || run.Status.Acted+run.Status.Skipped != races || run.Status.Skipped < races/3 {
		t.Fatalf("%d of %d new objects survive: %s", len(list.Items), races, run.Status.Message)
	}
}

// A Transform that somebody else made first, of the same content, is not reported as the run's: a restore would undo it.
func TestSameChangeOfSomebodyElse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", stale)
	b.beforeFirst(http.MethodPatch, "/old", func() {
		edit(b, b.named("old"), func(cm *corev1.ConfigMap) { cm.Data["touched"] = "yes" })
	})
	run := b.run(b.cleaner(v1alpha1.ActionTransform, mergePatch(`{"data": {"touched": "yes"}}`)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 1 object matched; 0 changed, 1 left alone.")
	wantOutcome(t, run, "old", v1alpha1.OutcomeUnchanged, "there is nothing to change")
}
