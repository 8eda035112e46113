// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// deployOperator creates a Deployment with the operator's labels in the namespace.
func (s *site) deployOperator(namespace string) {
	s.Helper()
	labels := map[string]string{"app.kubernetes.io/name": "kubecleaner", "app.kubernetes.io/component": "manager"}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "kubecleaner-manager", Labels: labels}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "manager", Image: "manager"}}
	check(s.T, s.Create(s.Context(), d))
	s.Cleanup(func() { _ = s.Delete(context.Background(), d) })
}

// annotated is the annotation that stops all acting, and whether there is one.
func (s *site) annotated(namespace string) (string, bool) {
	s.Helper()
	var ns corev1.Namespace
	check(s.T, s.Get(s.Context(), client.ObjectKey{Name: namespace}, &ns))
	value, found := ns.Annotations[v1alpha1.StopAnnotation]
	return value, found
}

// atNoon makes the program believe that it is noon.
func atNoon(o *Options) { o.Now = func() time.Time { return now } }

const (
	toResume  = "hint: to let acting go on: kubectl cleaner resume\n"
	whatStops = "each run finishes the objects in hand, at most 16; Cleaners go on to run, and only report: kubectl get cleaners shows Scan for each\n" + toResume
	whatActs  = "the next run of each Cleaner acts; runs that were stopped are not repeated\nhint: to run one now: kubectl cleaner run NAME\n"
)

func TestStopAndResume(t *testing.T) {
	s := newSite(t)
	s.deployOperator(s.namespace)
	s.wants(s.call(t.Context(), atNoon, "resume"), ExitDone, "", "acting is not stopped: namespace NS has no annotation cleaner/stop\n")
	const reason = "incident 7, by admin at 2026-11-21T12:00:00Z"
	s.wants(s.call(t.Context(), atNoon, "stop", "--reason", " incident 7\n"), ExitDone, "",
		"all acting is stopped: namespace NS is annotated cleaner/stop: \""+reason+"\"\n"+whatStops)
	if got, _ := s.annotated(s.namespace); got != reason {
		t.Errorf("the annotation is %q", got)
	}
	s.wants(s.call(t.Context(), atNoon, "stop", "--reason", "another"), ExitDone, "", "all acting is stopped already, by namespace NS: \""+reason+"\"\n"+toResume)
	s.wants(s.call(t.Context(), atNoon, "resume"), ExitDone, "", "acting goes on: the annotation cleaner/stop is removed from namespace NS; it was: \""+reason+"\"\n"+whatActs)
	if got, found := s.annotated(s.namespace); found {
		t.Errorf("the annotation is still %q", got)
	}
	s.wants(s.call(t.Context(), atNoon, "stop"), ExitDone, "", "all acting is stopped: namespace NS is annotated cleaner/stop: \"by admin at 2026-11-21T12:00:00Z\"\n"+whatStops)

	check(t, s.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}},
		client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"cleaner/stop":""}}}`)))) // by hand
	s.wants(s.call(t.Context(), atNoon, "stop"), ExitDone, "", "all acting is stopped already, by namespace NS: without a reason\n"+toResume)
	s.wants(s.call(t.Context(), atNoon, "resume"), ExitDone, "", "acting goes on: the annotation cleaner/stop is removed from namespace NS; it was: without a reason\n"+whatActs)
}

// TestStopFindsTheOperator, or says that it does not, and how to say where it is.
func TestStopFindsTheOperator(t *testing.T) {
	s := newSite(t)
	const wayOut = "hint: say which one is the operator's with --operator-namespace   [E-STP-001]\n"
	s.wants(s.call(t.Context(), nil, "stop"), ExitError, "", "error: there is no Deployment of the operator in the cluster\n"+
		"hint: say in which namespace it runs with --operator-namespace   [E-STP-001]\n")
	s.wants(s.call(t.Context(), nil, "resume", "--operator-namespace", "nowhere"), ExitError, "", "error: there is no namespace \"nowhere\"\n"+wayOut)
	s.deployOperator(s.namespace)
	s.deployOperator("default")
	s.wants(s.call(t.Context(), nil, "stop"), ExitError, "", "error: there is a Deployment of the operator in each of these namespaces: NS, default\n"+
		"hint: say which one with --operator-namespace   [E-STP-001]\n")
	inNamespace := func(o *Options) { o.Getenv = func(string) string { return s.namespace } }
	if got := s.call(t.Context(), inNamespace, "stop"); got.code != ExitDone {
		t.Errorf("with the environment variable: %s", got.errOut)
	}
	if got := s.call(t.Context(), nil, "resume", "--operator-namespace", s.namespace); got.code != ExitDone {
		t.Errorf("with the flag: %s", got.errOut)
	}
}

// TestStopWithFewRights needs no more than to patch the namespace.
func TestStopWithFewRights(t *testing.T) {
	s := newSite(t)
	user := s.user(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"patch"}})
	stops := []string{"--as", user, "--operator-namespace", s.namespace}
	got := s.call(t.Context(), atNoon, append([]string{"stop"}, stops...)...)
	if value, _ := s.annotated(s.namespace); got.code != ExitDone || value != "by "+user+" at 2026-11-21T12:00:00Z" {
		t.Errorf("exit %d, the annotation is %q: %s", got.code, value, got.errOut)
	}
	s.wants(s.call(t.Context(), atNoon, append([]string{"resume"}, stops...)...), ExitDone, "", "acting goes on: the annotation cleaner/stop is removed from namespace NS\n"+whatActs)
	got = s.call(t.Context(), nil, "resume", "--as", user)
	if !strings.HasPrefix(got.errOut, "note: the operator's Deployment could not be looked for, so its namespace is taken to be projectsveltos (--operator-namespace): ") {
		t.Errorf("exit %d: %s", got.code, got.errOut)
	}
	stops[1] = "nobody"
	s.wants(s.call(t.Context(), atNoon, append([]string{"stop"}, stops...)...), ExitError, "", "error: annotating namespace NS: namespaces \"NS\" is forbidden: "+
		"User \"nobody\" cannot patch resource \"namespaces\" in API group \"\" in the namespace \"NS\"   [E-CLU-003]\n")
}

// TestStopIsTold by the commands that one may look at to find out why nothing is deleted.
func TestStopIsTold(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	o := &operator{site: s, cleaner: c}
	o.status(func(c *v1alpha1.Cleaner) {
		c.Status.Action, c.Status.DryRunReason, c.Status.ObservedGeneration = v1alpha1.ActionScan, "all acting is stopped (incident 7)", c.Generation
	})
	s.wants(s.call(t.Context(), nil, "run", c.Name), ExitDone, "", "asked for a run of cleaner \"unused-NS\"; it only reports what matches, because all acting is stopped (incident 7)\n"+
		"hint: to see how it goes: kubectl get cleaner unused-NS -o wide --watch\n")
	const note = "note: there are no runs\nnote: Cleaners only report now, because all acting is stopped (incident 7)\n"
	s.wants(s.call(t.Context(), nil, "runs", c.Name), ExitDone, "", note)
	s.wants(s.call(t.Context(), nil, "runs", c.Name, "-o", "name"), ExitDone, "", "")
	follows := newSite(t)
	cleaner := follows.cleaner()
	follows.answer(cleaner, begin, end(v1alpha1.RunInterrupted, v1alpha1.ReasonActingStopped, "The run was stopped: all acting is stopped (incident 7)."))
	got := follows.call(t.Context(), nil, "run", cleaner.Name, "--wait", "--progress", "none")
	follows.wants(got, ExitError, "", asked+"error: run unused-NS-SECONDS ended after 1.2s: ActingStopped: The run was stopped: all acting is stopped (incident 7).\n"+
		"hint: what still matches is dealt with by the next run after: kubectl cleaner resume   [E-RUN-004]\n")
}
