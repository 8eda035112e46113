// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// team makes two Cleaners, of which the first belongs to the team that it returns as a selector.
func (s *site) team() (ours, other *v1alpha1.Cleaner, selector string) {
	s.Helper()
	ours = s.cleaner(func(c *v1alpha1.Cleaner) { c.Labels = map[string]string{"team": s.namespace} })
	other = s.cleaner(func(c *v1alpha1.Cleaner) { c.Name = "other-" + s.namespace })
	return ours, other, "team=" + s.namespace
}

// TestCleanersAreChosenByLabels: -l means the Cleaners with the labels, for every command that has it.
func TestCleanersAreChosenByLabels(t *testing.T) {
	s := newSite(t)
	ours, other, team := s.team()
	s.configMap("a", map[string]string{"unused": "true"})
	s.recordOf(ours, 0, v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted})
	s.recordOf(other, 0, v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted})

	s.wants(s.call(t.Context(), nil, "preview", "-l", team, "-o", "name"), codes.ExitDone, "ConfigMap/NS/a\n", "1 of 1 object matches; 1 would be deleted\n")
	s.wants(s.call(t.Context(), nil, "runs", "-l", team, "-o", "name"), codes.ExitDone, "cleanerrun/unused-NS-SECONDS\n", "")
	s.wants(s.call(t.Context(), nil, "suspend", "-l", team), codes.ExitDone, "", "cleaner \"unused-NS\" is suspended: it does not run by its schedule\n")
	for _, c := range []*v1alpha1.Cleaner{ours, other} {
		must(t, s.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	}
	if !ours.IsSuspended() || other.IsSuspended() {
		t.Errorf("suspended: %v, want true, and %v, want false", ours.IsSuspended(), other.IsSuspended())
	}
	s.wants(s.call(t.Context(), meanwhile(nothing), "resume", "-l", team), codes.ExitDone, "", "cleaner \"unused-NS\" is not suspended any more\n"+
		"note: the operator has not looked at it yet; whether it is ready: kubectl get cleaner unused-NS\n")
	got := s.call(t.Context(), nil, "doctor", "-l", team, "-o", "json")
	if strings.Contains(got.out, other.Name) || !strings.Contains(got.out, "1 schedule can be read and fire") {
		t.Errorf("doctor -l: exit %d:\n%s%s", got.code, got.out, got.errOut)
	}
	for _, command := range []string{"preview", "runs", "suspend", "resume", "doctor", "rbac"} {
		s.wants(s.call(t.Context(), nil, command, "-l", "team=nobody"), codes.ExitError, "", "error: the cluster has no Cleaner with the labels team=nobody\n"+
			"hint: list them with: kubectl get cleaners --show-labels   [E-CLU-002]\n")
	}
}

// TestPreviewOfANamespace: -n shows what is in it, and one that does not exist is an error.
func TestPreviewOfANamespace(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	c := s.cleaner()
	s.wants(s.call(t.Context(), nil, "preview", c.Name, "-n", s.namespace, "-o", "name"), codes.ExitDone, "ConfigMap/NS/a\n", "1 of 1 object matches; 1 would be deleted\n")
	s.wants(s.call(t.Context(), nil, "preview", c.Name, "-n", "default", "-o", "name", "--fail-on-findings"), codes.ExitDone, "", "1 of 1 object matches; 1 would be deleted\n")
	s.wants(s.call(t.Context(), nil, "preview", c.Name, "-A", "-o", "name"), codes.ExitDone, "ConfigMap/NS/a\n", "1 of 1 object matches; 1 would be deleted\n")
	s.wants(s.call(t.Context(), nil, "preview", c.Name, "-n", "nowhere-at-all"), codes.ExitError, "",
		"error: there is no namespace \"nowhere-at-all\"\nhint: list them with: kubectl get namespaces   [E-CLU-006]\n")
}

// TestOneRunThatWaits: --waiting with the name of a run says what became of one that does not wait.
func TestOneRunThatWaits(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	done := s.recordOf(c, 0, v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted, Message: "1 of 2 objects matched; 1 deleted."})
	waits := s.recordOf(c, time.Hour, v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunAwaitingApproval, RunCounts: v1alpha1.RunCounts{Matched: 3}})
	for _, name := range []string{done.Name, "cleanerrun/" + done.Name} {
		s.wants(s.call(t.Context(), aDayLater, "runs", name, "--waiting"), codes.ExitDone, "",
			"note: run unused-NS-SECONDS does not wait for approval: it is Completed; to see what it did: kubectl cleaner runs unused-NS-SECONDS\n")
	}
	const row = "NAME   CLEANER   ACTION   PHASE   WHEN   MATCHED   ACTED   FAILED   COPIES   KEPT UNTIL\n" +
		"unused-NS-SECONDS   unused-NS   Delete   AwaitingApproval   23h ago   3   0   0   -   -\n"
	for _, name := range []string{waits.Name, c.Name} {
		s.wants(s.call(t.Context(), aDayLater, "runs", name, "--waiting"), codes.ExitDone, row, "")
	}
	got := s.call(t.Context(), aDayLater, "runs", "unused-"+s.namespace+"x", "--waiting")
	if got.code != codes.ExitError || !strings.Contains(s.plain(got.errOut), "error: there is no cleaner \"unused-NSx\" in the cluster, and no run of it\n") {
		t.Errorf("exit %d: %s", got.code, got.errOut)
	}
}

// TestRunForPrograms: run --wait -o json prints the record, and nothing else goes to the standard output.
func TestRunForPrograms(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	s.answer(c, begin, end(v1alpha1.RunFailed, v1alpha1.ReasonPartiallyFailed, "1 of 1 object matched.", deletedObject))
	got := s.call(t.Context(), nil, "run", c.Name, "--yes", "--wait", "-o", "json")
	var run v1alpha1.CleanerRun
	if err := json.Unmarshal([]byte(got.out), &run); err != nil || run.Kind != "CleanerRun" || run.Spec.Cleaner != c.Name || len(run.Status.Objects) != 1 {
		t.Errorf("%v:\n%s%s", err, got.out, got.errOut)
	}
	if got.code != codes.ExitPartial || !strings.Contains(got.errOut, "PartiallyFailed") {
		t.Errorf("exit %d: %s", got.code, got.errOut)
	}
}

// TestRunsAndNamespacesAreCompleted asks as a shell does.
func TestRunsAndNamespacesAreCompleted(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	run := s.recordOf(c, 0, v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted})
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "robot"}}
	must(t, s.Create(t.Context(), account))
	for _, test := range []struct{ command, last, want string }{
		{"runs", "", c.Name + "\n"},
		{"runs", "", run.Name + "\tCompleted\n"},
		{"runs -n", "", s.namespace + "\n"},
		{"runs --outcome", "Failed,", "Failed,Deleted\n"},
		{"preview -n", "", s.namespace + "\n"},
		{"doctor -n", "", s.namespace + "\n"},
		{"suspend", "", c.Name + "\n"},
		{"rbac --service-account", "", s.namespace + "/" + account.Name + "\n"},
	} {
		words := strings.Fields(test.command)
		args := append(append([]string{"__complete", words[0], "--kubeconfig", s.kubeconfig}, words[1:]...), test.last)
		if got := call(t.Context(), t, "", nil, args...).out; !strings.Contains(got, test.want) {
			t.Errorf("%s %q is completed to %q, want %q", test.command, test.last, got, test.want)
		}
	}
}

// TestRunsNameTheManager: what manages an object may make it again, so runs RUN and run --wait name it, also of an object
// that failed.
func TestRunsNameTheManager(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	objects := []v1alpha1.ObjectOutcome{
		outcomeOf(v1alpha1.OutcomeDenied, "shop", "a", "a webhook said no"), outcomeOf(v1alpha1.OutcomeDeleted, "shop", "b", ""),
		outcomeOf(v1alpha1.OutcomeProtected, "shop", "c", "annotated cleaner/protect"),
	}
	for i := range objects {
		objects[i].Message = "unused; managed by Helm release shop/web"
	}
	want := []string{
		"a webhook said no; managed by Helm release shop/web\n", "unused; managed by Helm release shop/web\n",
		"annotated cleaner/protect (it matches: unused; managed by Helm release shop/web)\n",
	}
	run := s.recordOf(c, time.Hour, v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted, Objects: objects})
	s.answer(c, begin, end(v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "Done.", objects...))
	for _, args := range [][]string{{"runs", run.Name}, {"run", c.Name, "--yes", "--wait"}} {
		got := s.call(t.Context(), nil, args...)
		for _, text := range want {
			if !strings.Contains(got.out, text) {
				t.Errorf("%s: %q is missing in:\n%s%s", args[0], text, got.out, got.errOut)
			}
		}
	}
}

// TestRestoreDoesNotFlood: what cannot be brought back comes first, and the rest is counted.
func TestRestoreDoesNotFlood(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	names := []string{"a", "b", "c"}
	for _, name := range names {
		s.configMap(name, map[string]string{"unused": "true"})
	}
	run := s.past(c, names...)
	s.configMap("c", map[string]string{"other": "true"}) // somebody made it again, and another one
	got := s.call(t.Context(), nil, "restore", run.Name, "--dry-run", "--limit", "1")
	if lines := strings.Split(s.plain(got.out), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[1], "NS   ConfigMap   c ") {
		t.Errorf("it printed:\n%s", got.out)
	}
	if !strings.HasPrefix(got.errOut, "... and 2 more; --limit 0 lists all\n") {
		t.Errorf("standard error: %s", got.errOut)
	}
	if got := s.call(t.Context(), nil, "restore", run.Name, "--dry-run", "--limit", "0"); strings.Count(got.out, "ConfigMap") != 3 {
		t.Errorf("it printed:\n%s", got.out)
	}
}
