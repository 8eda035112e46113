// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

// deployOperator creates a Deployment with the operator's labels in the namespace.
func (s *site) deployOperator(namespace string) {
	s.Helper()
	labels := map[string]string{"app.kubernetes.io/name": "kubecleaner", "app.kubernetes.io/component": "manager"}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "kubecleaner-manager", Labels: labels}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "manager", Image: "manager"}}
	must(s.T, s.Create(s.Context(), d))
	s.Cleanup(func() { _ = s.Delete(context.Background(), d) })
}

// annotated is the annotation that stops all acting, and whether there is one.
func (s *site) annotated(namespace string) (string, bool) {
	s.Helper()
	var ns corev1.Namespace
	must(s.T, s.Get(s.Context(), client.ObjectKey{Name: namespace}, &ns))
	value, found := ns.Annotations[v1alpha1.StopAnnotation]
	return value, found
}

// atNoon makes the program believe that it is noon.
func atNoon(o *terminal.Options) { o.Now = func() time.Time { return now } }

// waits is a clock by which nobody waits: what happens meanwhile is done instead.
type waits struct {
	*clocktesting.FakeClock
	meanwhile func(waited int)
	mu        sync.Mutex
	waited    int
}

func (w *waits) After(d time.Duration) <-chan time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waited++
	w.meanwhile(w.waited)
	after := w.FakeClock.After(d)
	w.Step(d)
	return after
}

// meanwhile makes the program believe that it is noon, and does something in place of each wait.
func meanwhile(do func(waited int)) func(*terminal.Options) {
	return func(o *terminal.Options) {
		atNoon(o)
		o.Clock = &waits{FakeClock: clocktesting.NewFakeClock(now), meanwhile: do}
	}
}

func nothing(int) {}

// obeys is an operator in the namespace, which says in the Cleaner's status what it knows when somebody has waited so often.
func (s *site) obeys(c *v1alpha1.Cleaner, namespace string, after int) func(*terminal.Options) {
	o := &operator{site: s, cleaner: c}
	return meanwhile(func(waited int) {
		if waited == after {
			o.knows(namespace)
		}
	})
}

// knows says in the Cleaner's status what the namespace says.
func (o *operator) knows(namespace string) {
	why := ""
	if value, stopped := o.annotated(namespace); stopped {
		why = stop.Words(value)
	}
	o.status(func(c *v1alpha1.Cleaner) { c.Status.DryRunReason = why })
}

const (
	toResume  = "hint: to let Cleaners act again: kubectl cleaner resume\n"
	whatStops = "all acting is stopped: the operator has seen it\n" +
		"each active run finishes the objects that it is working on (at most 16); Cleaners still run, but only report: kubectl get cleaners shows Scan for each\n" + toResume
	whatActs        = "the next run of each Cleaner acts; runs that were stopped are not repeated\nhint: to run one now: kubectl cleaner run NAME\n"
	unseen          = "note: whether the operator knows of it could not be seen: "
	ifItRuns        = "; it counts if NS is the operator's namespace (--operator-namespace)\n" + toResume
	toResumeNothing = "nothing to resume: namespace NS has no annotation cleaner/stop\n"
)

func TestStopAndResume(t *testing.T) {
	s := newSite(t)
	s.deployOperator(s.namespace)
	c := s.cleaner()
	sees := s.obeys(c, s.namespace, 2)
	s.wants(s.call(t.Context(), sees, "resume"), codes.ExitDone, "", toResumeNothing)
	const reason = "incident 7, by admin at 2026-11-21T12:00:00Z"
	s.wants(s.call(t.Context(), sees, "stop", "--reason", " incident 7\n"), codes.ExitDone, "",
		"namespace NS is annotated cleaner/stop: \""+reason+"\"\n"+whatStops)
	if got, _ := s.annotated(s.namespace); got != reason {
		t.Errorf("the annotation is %q", got)
	}
	s.wants(s.call(t.Context(), sees, "stop", "--reason", "incident 7"), codes.ExitDone, "", "namespace NS is annotated cleaner/stop already: \""+reason+"\"\n"+whatStops)
	const both = "another, by admin at 2026-11-21T12:00:00Z; before: " + reason
	s.wants(s.call(t.Context(), sees, "stop", "--reason", "another"), codes.ExitDone, "", "namespace NS is annotated cleaner/stop: \""+both+"\"\n"+whatStops)
	s.wants(s.call(t.Context(), sees, "stop", "--reason", strings.Repeat("x", 1000)), codes.ExitError, "",
		"error: the reason is too long: with the name and the time it has 1139 bytes of at most 1024\n"+
			"hint: write the rest where people look for it, and name that place in --reason   [E-USE-001]\n")
	s.wants(s.call(t.Context(), sees, "resume"), codes.ExitDone, "", "acting is resumed: the annotation cleaner/stop is removed from namespace NS; it was: \""+both+"\"\n"+whatActs)
	if got, found := s.annotated(s.namespace); found {
		t.Errorf("the annotation is still %q", got)
	}
	s.wants(s.call(t.Context(), sees, "stop"), codes.ExitDone, "", "namespace NS is annotated cleaner/stop: \"by admin at 2026-11-21T12:00:00Z\"\n"+whatStops)

	must(t, s.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}},
		client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"cleaner/stop":""}}}`)))) // by hand
	s.wants(s.call(t.Context(), sees, "stop"), codes.ExitDone, "", "namespace NS is annotated cleaner/stop already: without a reason\n"+whatStops)
	s.wants(s.call(t.Context(), sees, "resume"), codes.ExitDone, "", "acting is resumed: the annotation cleaner/stop is removed from namespace NS; it was: without a reason\n"+whatActs)
}

// TestStopOfAnotherNamespace is not taken for a stop.
func TestStopOfAnotherNamespace(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	o := &operator{site: s, cleaner: c}
	stops := []string{"stop", "--operator-namespace", s.namespace}
	const annotated = "namespace NS is annotated cleaner/stop: \"by admin at 2026-11-21T12:00:00Z\"\n"
	const wayOut = "Check that NS is the operator's namespace and that the operator is running\n" +
		"hint: say which namespace is the operator's with --operator-namespace; the annotation stays. To remove it: kubectl annotate namespace NS cleaner/stop-   [E-STP-002]\n"
	s.wants(s.call(t.Context(), meanwhile(nothing), stops...), codes.ExitError, "", annotated+
		"error: the stop is not acknowledged: no Cleaner's status showed the stop within 10s. "+wayOut)

	o.status(func(c *v1alpha1.Cleaner) { c.Status.DryRunReason = "all acting is stopped (incident 7)" })
	s.wants(s.call(t.Context(), meanwhile(nothing), stops...), codes.ExitError, "", strings.Replace(annotated, "stop:", "stop already:", 1)+
		"error: the stop is not acknowledged: no Cleaner's status showed the stop within 10s. Cleaners say: all acting is stopped (incident 7). "+wayOut)

	const removed = "the annotation cleaner/stop is removed from namespace NS"
	resumes := []string{"resume", "--operator-namespace", s.namespace}
	s.wants(s.call(t.Context(), meanwhile(nothing), resumes...), codes.ExitError, "",
		"error: "+removed+", but Cleaners still say: all acting is stopped (incident 7)\n"+
			"hint: say which namespace is the operator's with --operator-namespace; if the operator is not running, this is their old status   [E-STP-001]\n")
	s.wants(s.call(t.Context(), atNoon, resumes...), codes.ExitError, "",
		"error: namespace NS has no annotation cleaner/stop, but Cleaners say: all acting is stopped (incident 7)\n"+
			"hint: say which namespace is the operator's with --operator-namespace; if acting was resumed a moment ago, look again in a second; if the operator is not running, this is their old status   [E-STP-001]\n")

	o.status(func(c *v1alpha1.Cleaner) { c.Status.DryRunReason = v1alpha1.DryRunByFlag })
	s.wants(s.call(t.Context(), meanwhile(nothing), stops...), codes.ExitDone, "", annotated+unseen+"the operator runs with --dry-run and acts on nothing anyway"+inNS(ifItRuns))
	s.wants(s.call(t.Context(), atNoon, resumes...), codes.ExitDone, "", "acting is resumed: "+removed+"; it was: \"by admin at 2026-11-21T12:00:00Z\"\n"+
		"note: Cleaners still only report, because the operator runs with --dry-run\n")
	s.wants(s.call(t.Context(), atNoon, resumes...), codes.ExitDone, "", toResumeNothing)
}

// TestStopInTheWrongNamespace: the Deployment shows where the operator is. So a stop elsewhere writes nothing, and a resume
// elsewhere does not say that acting is resumed.
func TestStopInTheWrongNamespace(t *testing.T) {
	s, other := newSite(t), newSite(t)
	s.deployOperator(s.namespace)
	c := s.cleaner()
	wrong := other.namespace
	s.wants(s.call(t.Context(), meanwhile(nothing), "stop", "-n", wrong, "--reason", "incident 7"), codes.ExitError, "",
		"error: the operator is not in namespace "+wrong+": its Deployment is in namespace NS; nothing was changed\n"+
			"hint: to stop all acting: kubectl cleaner stop -n NS --reason 'incident 7'   [E-STP-001]\n")
	if got, found := s.annotated(wrong); found {
		t.Errorf("the wrong namespace is annotated: %q", got)
	}

	sees := s.obeys(c, s.namespace, 1)
	s.call(t.Context(), sees, "stop", "--reason", "incident 7")
	const reason = `"incident 7, by admin at 2026-11-21T12:00:00Z"`
	const wayOut = " by the annotation on namespace NS, where the operator is: " + reason + "\n" +
		"hint: to let Cleaners act again: kubectl cleaner resume -n NS   [E-STP-001]\n"
	annotate := func(value string) {
		t.Helper()
		must(t, s.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: wrong}},
			client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"cleaner/stop":"`+value+`"}}}`))))
	}
	annotate("x")
	s.wants(s.call(t.Context(), meanwhile(nothing), "resume", "-n", wrong), codes.ExitError, "",
		"error: the annotation cleaner/stop is removed from namespace "+wrong+", but all acting is still stopped"+wayOut)
	if got, found := s.annotated(wrong); found {
		t.Errorf("the annotation is still %q", got)
	}
	s.wants(s.call(t.Context(), meanwhile(nothing), "resume", "-n", wrong), codes.ExitError, "",
		"error: namespace "+wrong+" has no annotation cleaner/stop, but all acting is stopped"+wayOut)

	// Without the right to read the operator's namespace, what Cleaners say shows it.
	user := other.user(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get", "patch"}})
	annotate("x")
	s.wants(s.call(t.Context(), meanwhile(nothing), "resume", "-n", wrong, "--as", user), codes.ExitError, "",
		"error: the annotation cleaner/stop is removed from namespace "+wrong+", but Cleaners still say: all acting is stopped (incident 7, by admin at 2026-11-21T12:00:00Z)\n"+
			"hint: say which namespace is the operator's with --operator-namespace; if the operator is not running, this is their old status   [E-STP-001]\n")

	// Who may not see whether an operator leads in the namespace may stop it all the same.
	direct := s.kubeconfig
	s.kubeconfig = s.proxied(func(w http.ResponseWriter, r *http.Request) bool {
		hidden := strings.Contains(r.URL.Path, "/leases/")
		if hidden {
			http.Error(w, "forbidden", http.StatusForbidden)
		}
		return hidden
	})
	got := s.call(t.Context(), meanwhile(nothing), "stop", "-n", wrong, "--reason", "x")
	s.kubeconfig = direct
	if _, found := s.annotated(wrong); !found {
		t.Errorf("the namespace is not annotated: %s", got.errOut)
	}

	// The same in the operator's namespace is what the operator is about to change.
	s.wants(s.call(t.Context(), meanwhile(nothing), "resume"), codes.ExitDone, "",
		"acting is resumed: the annotation cleaner/stop is removed from namespace NS; it was: "+reason+"\n"+whatActs)
	annotate("x")
	s.call(t.Context(), s.obeys(c, s.namespace, 1), "resume", "-n", wrong)
	s.wants(s.call(t.Context(), meanwhile(nothing), "resume", "-n", wrong), codes.ExitDone, "", strings.ReplaceAll(toResumeNothing, "NS", wrong))
}

// inNS is what a stop says where it was given the namespace.
func inNS(said string) string { return strings.Replace(said, " resume\n", " resume -n NS\n", 1) }

// TestStopWhereAnOperatorLeads: an operator that runs outside of the cluster has no Deployment there.
func TestStopWhereAnOperatorLeads(t *testing.T) {
	s, other := newSite(t), newSite(t)
	s.deployOperator(other.namespace)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: cluster.LeaseName}}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = ptr.To("laptop_0123"), ptr.To(metav1.NewMicroTime(now))
	must(t, s.Create(t.Context(), lease))
	c := s.cleaner()
	got := s.call(t.Context(), s.obeys(c, s.namespace, 1), "stop", "-n", s.namespace)
	s.wants(got, codes.ExitDone, "", "namespace NS is annotated cleaner/stop: \"by admin at 2026-11-21T12:00:00Z\"\n"+inNS(whatStops))
}

// TestStopWithoutDefinitions says at once that nothing can act.
func TestStopWithoutDefinitions(t *testing.T) {
	s := newSite(t)
	const none = "the CustomResourceDefinitions of KubeCleaner are not installed, so there are no Cleaners, and nothing can act"
	s.through(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, v1alpha1.GroupVersion.Group) {
			return true
		}
		http.NotFound(w, r)
		return false
	})
	s.deployOperator(s.namespace)
	const why = "\"by admin at 2026-11-21T12:00:00Z\"\n"
	waited := meanwhile(func(int) { t.Error("it waits") })
	s.wants(s.call(t.Context(), waited, "stop"), codes.ExitDone, "", "namespace NS is annotated cleaner/stop: "+why+unseen+none+ifItRuns)
	s.wants(s.call(t.Context(), waited, "resume"), codes.ExitDone, "",
		"the annotation cleaner/stop is removed from namespace NS; it was: "+why+"note: "+none+"\n")
	s.wants(s.call(t.Context(), waited, "resume"), codes.ExitDone, "", toResumeNothing+"note: "+none+"\n")
}

// TestStopFindsTheOperator, or says that it does not, and how to say where it is.
func TestStopFindsTheOperator(t *testing.T) {
	s := newSite(t)
	const wayOut = "hint: say which namespace is the operator's with --operator-namespace   [E-STP-001]\n"
	s.wants(s.call(t.Context(), nil, "stop"), codes.ExitError, "", "error: there is no Deployment of the operator in the cluster\n"+
		"hint: say in which namespace it runs with --operator-namespace   [E-STP-001]\n")
	s.wants(s.call(t.Context(), nil, "resume", "--operator-namespace", "nowhere"), codes.ExitError, "", "error: there is no namespace \"nowhere\"\n"+wayOut)
	s.deployOperator(s.namespace)
	// The shell's NAMESPACE is the user's, and may be of anything.
	s.wants(s.call(t.Context(), func(o *terminal.Options) { o.Getenv = func(string) string { return "default" } }, "resume"), codes.ExitDone, "", toResumeNothing)
	s.wants(s.call(t.Context(), nil, "resume", "--operator-namespace", "nowhere"), codes.ExitError, "", "error: there is no namespace \"nowhere\"\n"+
		"hint: the operator's Deployment is in namespace NS: kubectl cleaner resume -n NS   [E-STP-001]\n")
	s.deployOperator("default")
	s.wants(s.call(t.Context(), nil, "stop"), codes.ExitError, "", "error: there is a Deployment of the operator in each of these namespaces: NS, default\n"+
		"hint: say which one with --operator-namespace   [E-STP-001]\n")
	s.wants(s.call(t.Context(), nil, "resume", "--operator-namespace", s.namespace), codes.ExitDone, "", toResumeNothing)
}

// TestStopWithFewRights needs no more than to patch the namespace.
func TestStopWithFewRights(t *testing.T) {
	s := newSite(t)
	user := s.user(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"patch"}})
	stops := []string{"--as", user, "--operator-namespace", s.namespace}
	annotated := "namespace NS is annotated cleaner/stop: \"by user-NS at 2026-11-21T12:00:00Z\"\n"
	s.wants(s.call(t.Context(), atNoon, append([]string{"stop"}, stops...)...), codes.ExitDone, "", annotated+unseen+"there are no Cleaners"+inNS(ifItRuns))
	if value, _ := s.annotated(s.namespace); value != "by "+user+" at 2026-11-21T12:00:00Z" {
		t.Errorf("the annotation is %q", value)
	}
	s.wants(s.call(t.Context(), atNoon, append([]string{"resume"}, stops...)...), codes.ExitDone, "", "acting is resumed: the annotation cleaner/stop is removed from namespace NS\n"+whatActs)
	got := s.call(t.Context(), nil, "resume", "--as", user)
	if !strings.HasPrefix(got.errOut, "note: the operator's Deployment could not be looked for, so its namespace is taken to be projectsveltos (--operator-namespace): ") {
		t.Errorf("exit %d: %s", got.code, got.errOut)
	}
	stops[1] = "nobody"
	s.wants(s.call(t.Context(), atNoon, append([]string{"stop"}, stops...)...), codes.ExitError, "", "error: annotating namespace NS: namespaces \"NS\" is forbidden: "+
		"User \"nobody\" cannot patch resource \"namespaces\" in API group \"\" in the namespace \"NS\"\nhint: an administrator can give you this right: "+
		"kubectl create clusterrole cleaner-stop --verb=get,patch --resource=namespaces --resource-name=NS; "+
		"kubectl create clusterrolebinding cleaner-stop --clusterrole=cleaner-stop --user=YOU   [E-CLU-003]\n")

	stops[1] = user
	must(t, s.Delete(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: user}})) // which lets him read Cleaners
	s.eventually(func(ctx context.Context) (bool, error) {
		got = s.call(ctx, atNoon, append([]string{"stop"}, stops...)...)
		return !strings.Contains(got.errOut, "there are no Cleaners"), nil
	})
	s.wants(got, codes.ExitDone, "", annotated+unseen+"cleaners.apps.projectsveltos.io is forbidden: User \"user-NS\" cannot list resource \"cleaners\" in API group "+
		"\"apps.projectsveltos.io\" at the cluster scope"+inNS(ifItRuns))
}

// TestStopIsTold by the commands that one may look at to find out why nothing is deleted.
func TestStopIsTold(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	o := &operator{site: s, cleaner: c}
	o.status(func(c *v1alpha1.Cleaner) {
		c.Status.Action, c.Status.DryRunReason, c.Status.ObservedGeneration = v1alpha1.ActionScan, "all acting is stopped (incident 7)", c.Generation
	})
	// Acting may be resumed before the run begins.
	s.wants(s.call(t.Context(), nil, "run", c.Name), codes.ExitError, "", "cleaner \"unused-NS\" deletes what matches now; it has not run yet, so the number of objects is not known. To see it: kubectl cleaner preview unused-NS\n"+
		"note: at present it only reports, because all acting is stopped (incident 7)\nGo on? [y/N] \n"+
		"error: no run was asked for: nobody confirmed it\n"+
		"hint: without a terminal, use --yes; kubectl cleaner preview unused-NS shows what it would do   [E-RUN-008]\n")
	s.wants(s.call(t.Context(), nil, "run", c.Name, "--yes"), codes.ExitDone, "", "asked for a run of cleaner \"unused-NS\"; it only reports what matches, because all acting is stopped (incident 7)\n"+
		"hint: to see how it goes: kubectl get cleaner unused-NS -o wide --watch\n")
	const none = "note: there are no runs\n"
	const waits = "note: a run of Cleaner unused-NS was asked for and has not begun; to take it back: kubectl cleaner cancel unused-NS\n"
	const note = none + waits + "note: Cleaners only report now, because all acting is stopped (incident 7)\n"
	s.wants(s.call(t.Context(), nil, "runs", c.Name), codes.ExitDone, "", note)
	s.wants(s.call(t.Context(), nil, "runs", c.Name, "-o", "name"), codes.ExitDone, "", "")
	until := metav1.NewTime(nominal.Add(1_000_000 * time.Hour))
	must(t, s.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	c.Spec.ScanUntil = &until
	must(t, s.Update(t.Context(), c))
	o.status(func(c *v1alpha1.Cleaner) { c.Status.DryRunReason = c.Observing(nominal.Time) })
	own := "note: Cleaner unused-NS: " + c.Observing(nominal.Time) + "\n"
	s.wants(s.call(t.Context(), nil, "runs", c.Name), codes.ExitDone, "", none+own+waits)
	if got := s.call(t.Context(), nil, "runs"); strings.Contains(got.errOut, "only report") {
		t.Errorf("of one Cleaner among all is said: %s", got.errOut)
	}
	follows := newSite(t)
	cleaner := follows.cleaner()
	follows.answer(cleaner, begin, end(v1alpha1.RunInterrupted, v1alpha1.ReasonActingStopped, "The run was stopped: all acting is stopped (incident 7)."))
	got := follows.call(t.Context(), nil, "run", cleaner.Name, "--yes", "--wait", "--progress", "none")
	follows.wants(got, codes.ExitError, "", asked+"error: run unused-NS-SECONDS ended after 1.2s: ActingStopped: The run was stopped: all acting is stopped (incident 7).\n"+
		"hint: the next run after this handles what still matches: kubectl cleaner resume   [E-RUN-004]\n")
}
