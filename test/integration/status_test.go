// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// slimClient reads Cleaners as the manager's cache holds them: without match lists, and with little of managedFields.
type slimClient struct{ client.Client }

func (c slimClient) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := c.Client.Get(ctx, key, o, opts...)
	if cleaner, ok := o.(*v1alpha1.Cleaner); ok && err == nil {
		cleaner.ManagedFields = cleaner.StatusWriters()
		if cleaner.Status.LastRun != nil {
			cleaner.Status.LastRun.Matches = nil
		}
	}
	return err
}

func (l *life) slim() *life {
	l.reconciler.Client = slimClient{l.live}
	return l
}

func TestStatusOfARun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", stale)
	b.configMap("used")
	b.configMap("kept", stale, func(cm *corev1.ConfigMap) { cm.Annotations = map[string]string{v1alpha1.ProtectAnnotation: "true"} })
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale))).slim()
	b.beforeFirst(http.MethodDelete, "/old", func() { b.clock.SetTime(b.clock.Now().Add(1500 * time.Millisecond)) })
	l.startExecutor()
	first := l.first()
	l.at(first)
	l.finish()

	status := l.now.Status
	last := status.LastRun
	if status.ObservedGeneration != l.now.Generation || status.Schedule != "every day at 03:00 UTC" || status.Action != v1alpha1.ActionDelete {
		t.Fatalf("the status is %+v", status)
	}
	if want := (v1alpha1.RunCounts{Considered: 3, Matched: 2, Acted: 1, Skipped: 1}); last.RunCounts != want {
		t.Fatalf("the counts are %+v, want %+v", last.RunCounts, want)
	}
	if last.Name != l.records()[0].Name || last.Trigger != v1alpha1.TriggerSchedule || !last.NominalTime.Time.Equal(first) || last.Action != v1alpha1.ActionDelete {
		t.Fatalf("status.lastRun is %+v", last)
	}
	if last.Duration == nil || last.Duration.Duration != 1500*time.Millisecond || !status.LastRunTime.Time.Equal(first) {
		t.Fatalf("the run of %s took %v", status.LastRunTime, last.Duration)
	}
	for _, match := range last.Matches {
		if match.UID != "" || match.Message != match.Name+" is stale" || match.Kind != "ConfigMap" || match.Namespace != b.namespace {
			t.Fatalf("a match is %+v", match)
		}
	}
	if len(last.Matches) != 2 {
		t.Fatalf("there are %d matches", len(last.Matches))
	}
}

// TestStatusFollowsTheGeneration: conditions say which spec they speak about.
func TestStatusFollowsTheGeneration(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan)).slim()
	l.startExecutor()
	l.at(l.first())
	l.finish()
	l.change(scheduled("0 4 * * *"))
	l.step()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled, "04:00")
	ran := meta.FindStatusCondition(l.now.Status.Conditions, v1alpha1.ConditionRunSucceeded)
	if l.now.Status.ObservedGeneration != l.now.Generation || ran.ObservedGeneration != l.now.Generation-1 {
		t.Fatalf("the generations are %d of %d, and %d of the run", l.now.Status.ObservedGeneration, l.now.Generation, ran.ObservedGeneration)
	}
}

func TestStatusStaysSmall(t *testing.T) {
	t.Parallel()
	const long = `function evaluate() return {matching = true, message = string.rep("é", 400)} end`
	for name, c := range map[string]struct {
		objects int
		script  string
	}{
		"many matches":  {60, matchStale},
		"long messages": {3, long},
		"both":          {60, long},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.configMaps(b.namespace, "object-with-a-name-that-is-rather-long-"+strings.Repeat("x", 150), c.objects, stale)
			l := b.follow(b.cleaner(v1alpha1.ActionScan, evaluate(c.script))).slim()
			l.startExecutor()
			l.at(l.first())
			l.finish()
			last := l.now.Status.LastRun
			if last.Matched != int64(c.objects) {
				t.Fatalf("%d matched", last.Matched)
			}
			if n := len(last.Matches); n == 0 || n > 50 || (c.objects <= 3 && n != c.objects) {
				t.Fatalf("status lists %d matches", n)
			}
			for _, match := range last.Matches {
				if len(match.Message) > 128 || (c.script != matchStale && !strings.HasSuffix(match.Message, "é…")) {
					t.Fatalf("a message has %d bytes: %s", len(match.Message), match.Message)
				}
			}
			raw, err := json.Marshal(last)
			must(t, err)
			if len(raw) > 16<<10 {
				t.Fatalf("status.lastRun has %d bytes", len(raw))
			}
			if record := l.records()[0]; len(record.Status.Objects) != c.objects || (c.script != matchStale && len(record.Status.Objects[0].Message) != 800) {
				t.Fatal("the record does not have the full text")
			}
		})
	}
}

// TestFiftyMatches are short enough to be listed, all of them.
func TestFiftyMatches(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", 51)
	l := b.follow(b.cleaner(v1alpha1.ActionScan)).slim()
	l.startExecutor()
	l.at(l.first())
	l.finish()
	if n := len(l.now.Status.LastRun.Matches); n != 50 {
		t.Fatalf("status lists %d matches, want the first 50", n)
	}
}

// TestOldMatchesGo: the cache has no match lists, and what the cluster has must not outlive its run.
func TestOldMatchesGo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete)).slim()
	l.startExecutor()
	l.at(l.first())
	l.finish()
	if len(l.now.Status.LastRun.Matches) != 1 {
		t.Fatalf("status.lastRun is %+v", l.now.Status.LastRun)
	}
	l.step() // a look that finds nothing new leaves them
	l.change(func(c *v1alpha1.Cleaner) { c.Spec.OccurrenceThreshold = new(int32(1)) })
	l.step()
	if len(l.now.Status.LastRun.Matches) != 1 {
		t.Fatal("the matches of the last run went away by themselves")
	}
	l.at(l.first().Add(day))
	l.finish()
	if last := l.now.Status.LastRun; len(last.Matches) != 0 || last.Matched != 0 {
		t.Fatalf("status.lastRun is %+v", last)
	}
}

// forbidden is the API server's answer to somebody without the right.
func forbidden(t *testing.T, r *http.Request, resource, name string) *http.Response {
	status := apierrors.NewForbidden(schema.GroupResource{Resource: resource}, name, fmt.Errorf("User %q cannot do that to resource %q: not for you", "operator", resource))
	status.ErrStatus.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	return refusal(t, r, status)
}

// TestRefusalIsSaidInFailureMessage, where users of k8s-cleaner look, for as long as it lasts. Then the last run's failure, if any, is there again.
func TestRefusalIsSaidInFailureMessage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, refuse := range map[string]func(*v1alpha1.Cleaner){
		"schedule": scheduled("0 0 30 2 *"), "script": evaluate("function evaluate("), "kind": edited(func(s *v1alpha1.ResourceSelector) { s.Kind = "ConfigMops" }),
	} {
		t.Run(name, func(t *testing.T) {
			registry := b.measure()
			l := b.follow(b.cleaner(v1alpha1.ActionScan, refuse))
			l.step()
			ready := meta.FindStatusCondition(l.now.Status.Conditions, v1alpha1.ConditionReady)
			if got := ptr.Deref(l.now.Status.FailureMessage, ""); ready.Status != "False" || got != ready.Message {
				t.Fatalf("status.failureMessage is %q, Ready %+v", got, ready)
			}
			l.change(func(c *v1alpha1.Cleaner) {
				c.Spec.Schedule, c.Spec.ResourcePolicySet.ResourceSelectors[0].Kind, c.Spec.ResourcePolicySet.ResourceSelectors[0].Evaluate = "0 3 * * *", "ConfigMap", ""
			})
			l.step()
			wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
			if message := l.now.Status.FailureMessage; message != nil {
				t.Fatalf("status.failureMessage is still %q", *message)
			}
			setStatus(b, l, func(c *v1alpha1.Cleaner) {
				c.Status.LastRunTime, c.Status.FailureMessage = ptr.To(metav1.NewTime(time.Unix(1_700_000_000, 0))), ptr.To("it failed")
				meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionRunSucceeded, Status: "False", Reason: v1alpha1.ReasonFailed, Message: "it failed"})
			})
			l.change(refuse)
			l.step()
			l.change(func(c *v1alpha1.Cleaner) {
				c.Spec.Schedule, c.Spec.Suspend, c.Spec.ResourcePolicySet.ResourceSelectors[0].Kind, c.Spec.ResourcePolicySet.ResourceSelectors[0].Evaluate = "0 3 * * *", ptr.To(true), "ConfigMap", ""
			})
			l.step()
			if got := ptr.Deref(l.now.Status.FailureMessage, ""); got != "it failed" {
				t.Fatalf("status.failureMessage is %q", got)
			}
			setStatus(b, l, func(c *v1alpha1.Cleaner) {
				c.Status.FailureMessage = nil
				meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionRunSucceeded, Status: "True", Reason: v1alpha1.ReasonCompleted})
			})
			l.change(refuse)
			l.step()
			b.reconciler.Metrics.Forget(l.now.Name)
			l.step() // the last run was good all the same
			wantMeasured(t, registry, map[string][]string{"last_run_timestamp_seconds": {"{} 1700000000"}, "last_success_timestamp_seconds": {"{} 1700000000"}})
			b.reconciler.Metrics.Forget(l.now.Name)
		})
	}
}

// setStatus writes the status of the Cleaner as an operator would.
func setStatus(b *bench, l *life, edit func(*v1alpha1.Cleaner)) {
	b.t.Helper()
	l.now = b.get(l.now.Name)
	before := l.now.DeepCopy()
	edit(l.now)
	must(b.t, b.user.Status().Patch(b.t.Context(), l.now, client.MergeFrom(before), client.FieldOwner(v1alpha1.StatusManager)))
}

// TestFailureMessage appears when the run ends, and goes away after a good one.
func TestFailureMessage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete)).slim()
	l.startExecutor()
	refuse := func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodDelete {
			return nil, nil
		}
		return forbidden(t, r, "configmaps", "old"), nil
	}
	b.requests.setMeddle(refuse)
	l.at(l.first())
	if l.now.Status.FailureMessage != nil {
		t.Fatal("there is a failure before the run has ended")
	}
	l.finish()
	message := l.now.Status.FailureMessage
	if message == nil {
		t.Fatal("status.failureMessage does not say what failed")
	}
	wantTexts(t, "status.failureMessage", *message, "0 deleted, 1 failed.", `configmaps "old" is forbidden`)
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonForbidden, *message)
	b.requests.setMeddle(nil)
	l.at(l.first().Add(day))
	if l.now.Status.FailureMessage == nil {
		t.Fatal("the failure of the last run went away before the next one ended")
	}
	l.finish()
	if l.now.Status.FailureMessage != nil {
		t.Fatalf("status.failureMessage is still %q", *l.now.Status.FailureMessage)
	}
}
