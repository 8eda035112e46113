// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// objectEvents are the Events that notifications of the Cleaner made, by the name of their object.
func (b *bench) objectEvents(c *v1alpha1.Cleaner) []eventsv1.Event {
	b.t.Helper()
	var list eventsv1.EventList
	must(b.t, b.user.List(b.t.Context(), &list, client.InNamespace(b.namespace)))
	mine := slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool { return e.Related == nil || e.Related.UID != c.UID })
	slices.SortFunc(mine, func(a, b eventsv1.Event) int { return strings.Compare(a.Regarding.Name, b.Regarding.Name) })
	return mine
}

// Event: one Event per object: type Normal, reason K8sCleaner, action = the Cleaner action. Of what is protected, only a Scan writes any.
func TestEventPerHandledObject(t *testing.T) {
	t.Parallel()
	for action, note := range map[v1alpha1.Action]string{
		v1alpha1.ActionDelete: "deleted", v1alpha1.ActionTransform: "changed", v1alpha1.ActionScan: "matched",
	} {
		t.Run(string(action), func(t *testing.T) {
			b := newBench(t)
			tried := b.sends()
			one, two := b.configMap("one", stale), b.configMap("two", stale)
			b.configMap("used")
			kept := b.configMap("kept", stale, func(cm *corev1.ConfigMap) { cm.Annotations = protect })
			c := b.cleaner(action, evaluate(matchStale), transform(touch), notifying(v1alpha1.NotificationEvent))
			run := b.run(c)
			wantRun(t, run, v1alpha1.ReasonCompleted)
			tried(run)
			events, handled := b.objectEvents(c), []*corev1.ConfigMap{one, two}
			if action == v1alpha1.ActionScan {
				handled = []*corev1.ConfigMap{kept, one, two}
			}
			if len(events) != len(handled) {
				t.Fatalf("%d Events, want one for each of the %d objects that were handled", len(events), len(handled))
			}
			for i, cm := range handled {
				note := note
				if cm == kept {
					note += `: protected: it is annotated cleaner/protect: "true"`
				}
				want := eventsv1.Event{
					Type: "Normal", Reason: "K8sCleaner", Action: string(action),
					Note:                "Cleaner " + c.Name + ": " + note + ": " + cm.Name + " is stale",
					ReportingController: "kubecleaner", ReportingInstance: "kubecleaner-test",
					EventTime: metav1.NewMicroTime(b.clock.Now()),
					Regarding: corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: b.namespace, Name: cm.Name, UID: cm.UID},
					Related:   &corev1.ObjectReference{APIVersion: "apps.projectsveltos.io/v1alpha1", Kind: "Cleaner", Name: c.Name, UID: c.UID},
				}
				got := events[i]
				got.TypeMeta, got.ObjectMeta, got.EventTime = metav1.TypeMeta{}, metav1.ObjectMeta{}, want.EventTime
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("the Event (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// All types except CleanerReport are skipped when nothing matched.
func TestNoEventWhenNothingMatched(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("used")
	c := b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale), notifying(v1alpha1.NotificationEvent))
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted)
	if events := b.objectEvents(c); len(events) != 0 || b.requests.count("POST", "/events") != 0 {
		t.Fatalf("there are Events: %v", events)
	}
}

// An Event about a cluster-scoped object is in the namespace default.
func TestEventOnClusterScopedObject(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tried := b.sends()
	name := b.newNamespace(map[string]string{"event": b.namespace})
	selector := kind("", "v1", "Namespace", "")
	selector.LabelFilters = equal("event", b.namespace)
	c := b.cleaner(v1alpha1.ActionScan, selecting(selector), notifying(v1alpha1.NotificationEvent))
	run := b.run(c)
	wantRun(t, run, v1alpha1.ReasonCompleted)
	tried(run)
	b.namespace = metav1.NamespaceDefault
	if events := b.objectEvents(c); len(events) != 1 || events[0].Regarding.Name != name {
		t.Fatalf("the Events are %v", events)
	}
}

// One Event per object also when two objects have the same name, or a name that an Event cannot have.
func TestEventsOnObjectsWithOddNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tried := b.sends()
	b.configMap("same")
	secret := &corev1.Secret{}
	secret.Namespace, secret.Name = b.namespace, "same"
	must(t, b.user.Create(t.Context(), secret))
	role := &rbacv1.Role{}
	role.Namespace, role.Name = b.namespace, "odd:Role? #1"
	must(t, b.user.Create(t.Context(), role))
	c := b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationEvent), selecting(kind("", "v1", "ConfigMap", b.namespace),
		kind("", "v1", "Secret", b.namespace), kind("rbac.authorization.k8s.io", "v1", "Role", b.namespace)))
	run := b.run(c)
	wantRun(t, run, v1alpha1.ReasonCompleted, "3 deleted")
	tried(run)
	var about []string
	for _, event := range b.objectEvents(c) {
		about = append(about, event.Regarding.Kind+" "+event.Regarding.Name)
	}
	slices.Sort(about)
	if diff := cmp.Diff([]string{"ConfigMap same", "Role odd:Role? #1", "Secret same"}, about); diff != "" {
		t.Fatalf("Events (-want +got):\n%s\n%v", diff, run.Status.Notifications)
	}
}

// A channel that fails never fails the run or another channel: what was not delivered stands in the record and in status.
func TestUndeliveredNotificationDoesNotFailTheRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tried := b.sends()
	b.startExecutor()
	b.configMap("old")
	c := b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationEvent, v1alpha1.NotificationCleanerReport))
	b.reconcile(c)
	b.refusing("POST", "/events", "no Event today")
	c = b.runNow(c)
	run, err := b.runner.Record.Journal.Find(t.Context(), c.Status.LastRun.Name)
	must(t, err)
	tried(run)
	b.reconciler.NotificationsChanged(c.Name)
	c = b.reconcile(c)
	wantCondition(t, c, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, "1 deleted")
	wantCondition(t, c, v1alpha1.ConditionNotificationsDelivered, "False", v1alpha1.ReasonDelivering,
		"1 of 2 notifications could not be delivered yet: Event (Event): 1 Event could not be written; on ConfigMap "+b.namespace+"/old: the API server did not answer", "; it will be tried again at ")
	if diff := cmp.Diff([]string{"old"}, reportedNames(b.reported(c))); diff != "" {
		t.Fatalf("the Report (-want +got):\n%s", diff)
	}
}
