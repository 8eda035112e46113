// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func selectors(c *v1alpha1.Cleaner) []v1alpha1.ResourceSelector {
	return c.Spec.ResourcePolicySet.ResourceSelectors
}

func withEvents(c *v1alpha1.Cleaner) { selectors(c)[0].IncludeEvents = ptr.To(true) }

// event creates an event about an object, as the recorders of older components do.
func (b *bench) event(about client.Object, kind, reason string, count int32) {
	b.t.Helper()
	namespace := about.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	must(b.t, b.user.Create(b.t.Context(), &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("event-%d", serial.Add(1))},
		InvolvedObject: corev1.ObjectReference{Kind: kind, APIVersion: "v1", Namespace: about.GetNamespace(), Name: about.GetName(), UID: about.GetUID()},
		Reason:         reason, Message: reason + " happened", Type: corev1.EventTypeWarning, Count: count,
		FirstTimestamp: metav1.Now(), LastTimestamp: metav1.Now(),
	}))
}

// series creates an event that was seen several times, as the recorders of newer components do.
func (b *bench) series(about *corev1.ConfigMap, reason string, count int32) {
	b.t.Helper()
	now := metav1.NowMicro()
	must(b.t, b.user.Create(b.t.Context(), &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: about.Namespace, Name: fmt.Sprintf("event-%d", serial.Add(1))},
		EventTime:  now, Series: &eventsv1.EventSeries{Count: count, LastObservedTime: metav1.NewMicroTime(now.Add(time.Hour))},
		Regarding: corev1.ObjectReference{Kind: "ConfigMap", APIVersion: "v1", Namespace: about.Namespace, Name: about.Name, UID: about.UID},
		Reason:    reason, Note: "again and again", Type: corev1.EventTypeNormal, Action: "Testing",
		ReportingController: "example.com/test", ReportingInstance: "test-1",
	}))
}

// Scripts and conditions see the events of their object and no others. One list serves all objects.
func TestEventsReachScriptsAndConditions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	broken, flapping := b.configMap("broken"), b.configMap("flapping")
	b.configMap("quiet")
	b.event(broken, "ConfigMap", "Broken", 3)
	b.series(flapping, "Flapping", 7)
	b.event(flapping, "ConfigMap", "Early", 1)
	b.clock.Step(2 * time.Minute) // for new objects, there is another request each
	run := b.run(b.cleaner(v1alpha1.ActionScan, withEvents, evaluate(`count = #events -- the chunk sees them as well
function evaluate()
  if count == 0 then return {matching = false} end
  local e = events[1]
  assert(string.match(e.lastTimestamp, "^%d+-%d+-%d+T%d+:%d+:%d+Z$"))
  return {matching = true, message = count .. " " .. e.reason .. " " .. e.type .. " " .. e.count .. " " .. e.message}
end`)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "2 of 3 objects matched.")
	messages := map[string]string{}
	for _, o := range run.Status.Objects {
		messages[o.Name] = o.Message
	}
	if messages["broken"] != "1 Broken Warning 3 Broken happened" || messages["flapping"] != "2 Flapping Normal 7 again and again" {
		t.Fatalf("the messages are %q", messages)
	}
	if n := b.requests.count("GET", "/namespaces/"+b.namespace+"/events"); n != 1 {
		t.Fatalf("the events were listed %d times", n)
	}
	run = b.run(b.cleaner(v1alpha1.ActionScan, withEvents, conditions(
		expression("events.exists(e, e.reason == 'Flapping' && e.count > 5 && timestamp(e.lastTimestamp) > timestamp('2020-01-01T00:00:00Z'))", ""))))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 3 objects matched.")
	wantOutcome(t, run, "flapping", v1alpha1.OutcomeMatched)
}

// The events of Nodes are in the namespace default, with the Node's name in the place of its UID.
func TestEventsOfNodesAreFound(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	name := fmt.Sprintf("node-%d", serial.Add(1))
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"test": name}}}
	must(t, b.user.Create(t.Context(), node))
	t.Cleanup(func() { _ = b.user.Delete(context.Background(), node) })
	b.event(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "of-an-earlier-one"}}, "Node", "Earlier", 1)
	b.event(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}, "Node", "NotReady", 2)
	run := b.run(b.cleaner(v1alpha1.ActionScan, func(c *v1alpha1.Cleaner) {
		selectors(c)[0] = v1alpha1.ResourceSelector{Version: "v1", Kind: "Node", LabelFilters: []v1alpha1.LabelFilter{{Key: "test", Operation: v1alpha1.OperationEqual, Value: &name}}}
	}, withEvents, evaluate(`function evaluate() return {matching = true, message = #events .. " " .. events[1].reason} end`)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 1 object matched.")
	if o := run.Status.Objects[0]; o.Message != "1 NotReady" {
		t.Fatalf("the message is %q", o.Message)
	}
}

// Events that cannot be read are not taken for none.
func TestUnreadableEventsTouchNothing(t *testing.T) {
	t.Parallel()
	setup := newBench(t)
	config := limitedUser(t, setup.namespace, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "delete", "get"}})
	for name, test := range map[string]struct {
		bench  *bench
		reason string
		want   string
	}{
		"forbidden": {newBench(t, as(config)), v1alpha1.ReasonForbidden, `includeEvents: listing Event (/api/v1/namespaces/` + setup.namespace + `/events): `},
		"a fault":   {newBench(t), v1alpha1.ReasonViewIncomplete, "includeEvents: listing Event"},
	} {
		t.Run(name, func(t *testing.T) {
			b := test.bench
			b.namespace = setup.namespace
			b.configMap(fmt.Sprintf("quiet-%d", serial.Add(1)))
			if name == "a fault" {
				b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
					if r.URL.Query().Get("fieldSelector") != "" {
						return answer(r, http.StatusInternalServerError, []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":500}`)), nil
					}
					return nil, nil
				})
			}
			run := b.run(b.cleaner(v1alpha1.ActionDelete, withEvents, evaluate(`function evaluate() return {matching = #events == 0} end`)))
			wantRun(t, run, test.reason, "Nothing was touched, because the run could not read or judge everything: resourceSelectors[0]: ", test.want)
			b.wantUntouched()
		})
	}
}

// An object that changed is judged again by its events of now.
func TestEventsAreReadAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one := b.configMap("one", numbered("1"))
	b.beforeFirst("DELETE", "/configmaps/one", func() {
		b.event(one, "ConfigMap", "Used", 1)
		edit(b, b.named("one"), numbered("2"))
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete, withEvents, evaluate(`function evaluate() return {matching = #events == 0} end`)))
	wantOutcome(t, run, "one", v1alpha1.OutcomeChanged)
	if !b.exists("one") {
		t.Fatal("the one that is used was deleted")
	}
}

// Without includeEvents, an expression that needs events is refused at apply, with the way out.
func TestConditionOnEventsNeedsIncludeEvents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.reconcile(b.cleaner(v1alpha1.ActionScan, conditions(expression("size(events) == 0", ""))))
	wantCondition(t, c, v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidExpression, "events are not read: set includeEvents: true in the selector")
	c = b.reconcile(b.cleaner(v1alpha1.ActionScan, withEvents, conditions(expression("size(events) == 0", ""))))
	wantCondition(t, c, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
}

// TestObjectThatIsYoungerThanItsEvents: the events are read before the objects. One that is created in between has none among them,
// whatever happened to it.
func TestObjectThatIsYoungerThanItsEvents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.beforeFirst(http.MethodGet, "/"+b.namespace+"/configmaps", func() {
		b.event(b.configMap("young"), "ConfigMap", "InUse", 3)
		b.event(b.configMap("younger"), "ConfigMap", "InUse", 3)
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete, withEvents, evaluate("function evaluate() return {matching = #events == 0} end")))
	wantRun(t, run, v1alpha1.ReasonCompleted, "0 of 2 objects matched; 0 deleted.")
	if n := b.requests.count("GET", "/namespaces/"+b.namespace+"/events"); n != 2 {
		t.Errorf("the events were listed %d times", n)
	}
}
