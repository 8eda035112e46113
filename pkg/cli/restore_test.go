// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// past deletes ConfigMaps as a run of the Cleaner would, and leaves its record. The record is named unused-NS-1800000000.
func (s *site) past(c *v1alpha1.Cleaner, names ...string) *v1alpha1.CleanerRun {
	s.Helper()
	return s.pastAt(nominal, c, names...)
}

// pastAt is past at another time. A name is that of a ConfigMap, or pods/NAME.
func (s *site) pastAt(nominal metav1.Time, c *v1alpha1.Cleaner, names ...string) *v1alpha1.CleanerRun {
	s.Helper()
	return s.pastAs(v1alpha1.OutcomeDeleted, nominal, c, names...)
}

// pastAs is pastAt with another outcome than Deleted: then the objects stay.
func (s *site) pastAs(result v1alpha1.OutcomeResult, nominal metav1.Time, c *v1alpha1.Cleaner, names ...string) *v1alpha1.CleanerRun {
	s.Helper()
	ctx := s.Context()
	if err := s.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.DefaultOperatorNamespace}}); !apierrors.IsAlreadyExists(err) {
		must(s.T, err)
	}
	book := journal.New(s.Client, cluster.DefaultOperatorNamespace, clocktesting.NewFakePassiveClock(nominal.Add(time.Second)))
	run, err := book.Begin(ctx, c, v1alpha1.CleanerRunSpec{Cleaner: c.Name, CleanerUID: c.UID, NominalTime: nominal, Trigger: v1alpha1.TriggerManual, Action: v1alpha1.ActionDelete})
	must(s.T, err)
	s.Cleanup(func() { _ = s.Delete(context.Background(), run) })
	kinds := map[string]object.Kind{
		"configmaps": {GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Resource: "configmaps", Namespaced: true},
		"pods":       {GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Pod"), Resource: "pods", Namespaced: true},
	}
	var victims []journal.Victim
	for _, name := range names {
		resource, rest, ok := strings.Cut(name, "/")
		if !ok {
			resource, rest = "configmaps", name
		}
		live := &unstructured.Unstructured{}
		live.SetGroupVersionKind(kinds[resource].GroupVersionKind)
		must(s.T, s.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: rest}, live))
		raw, err := json.Marshal(live)
		must(s.T, err)
		o, err := object.New(kinds[resource], raw)
		must(s.T, err)
		victims = append(victims, journal.Victim{Candidate: stage.Candidate{Object: o}})
	}
	ledger, err := book.Intend(ctx, c, run, 3, nil, victims)
	must(s.T, err)
	for i, v := range victims {
		gone := &unstructured.Unstructured{}
		gone.SetGroupVersionKind(v.Kind.GroupVersionKind)
		gone.SetNamespace(v.Namespace)
		gone.SetName(v.Name)
		if result == v1alpha1.OutcomeDeleted {
			must(s.T, s.Delete(ctx, gone, client.GracePeriodSeconds(0)))
		}
		must(s.T, ledger.Record(ctx, i, stage.Outcome{Verdict: stage.Verdict{Candidate: v.Candidate, Act: true}, Result: result}))
	}
	must(s.T, ledger.Flush(ctx))
	var outcomes []stage.Outcome
	for _, v := range victims {
		outcomes = append(outcomes, stage.Outcome{Verdict: stage.Verdict{Candidate: v.Candidate, Act: true}, Result: result})
	}
	journal.Describe(run, 3, outcomes)
	run.Status.Matched, run.Status.Acted = int64(len(victims)), int64(len(victims))
	book.End(run, v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "Done.")
	must(s.T, book.Save(ctx, run, v1alpha1.RunExecuting))
	return run
}

// answering is call by somebody who types an answer.
func (s *site) answering(answer string, args ...string) session {
	s.Helper()
	var out, errOut bytes.Buffer
	options := terminal.Options{Version: "v1.2.3", Now: time.Now, Getenv: func(string) string { return "" }}
	streams := genericiooptions.IOStreams{In: strings.NewReader(answer), Out: &out, ErrOut: &errOut}
	code := Execute(s.Context(), streams, options, append(args, "--kubeconfig", s.kubeconfig))
	return session{s.short(out.String()), s.short(errOut.String()), code}
}

const (
	restoreHeader = "NAMESPACE   KIND   NAME   OUTCOME   WHY\n"
	wouldHeader   = "NAMESPACE   KIND   NAME   WOULD   WHY\n"
	touchedBy     = "run unused-NS-SECONDS of cleaner unused-NS: "
)

func allowOne(configMap string) string {
	return "hint: no Cleaner touches it until you allow it: kubectl annotate configmaps " + configMap + " -n NS apps.projectsveltos.io/restored-from-\n"
}

func (s *site) exists(name string) bool {
	s.Helper()
	err := s.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, &corev1.ConfigMap{})
	must(s.T, client.IgnoreNotFound(err))
	return err == nil
}

// Ctrl-C tells what is restored by then, and how to go on.
func TestRestoreInterrupted(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	s.configMap("b", map[string]string{"unused": "true"})
	run := s.past(s.cleaner(), "a", "b")
	ctx, cancel := context.WithCancel(t.Context())
	s.through(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/configmaps") && r.URL.Query().Get("dryRun") == "" {
			cancel()
		}
		return true
	})
	got := s.call(ctx, nil, "restore", run.Name, "--yes")
	want := "; to continue, run the same command again (kubectl cleaner restore unused-NS-SECONDS): it leaves restored objects alone\nerror: interrupted\n"
	if text := s.plain(got.errOut); got.code != codes.ExitInterrupted || !strings.HasPrefix(text, "note: so far, ") || !strings.HasSuffix(text, want) {
		t.Errorf("exit code %d: %s", got.code, text)
	}
}

func TestRestore(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	s.configMap("b", map[string]string{"unused": "true"})
	run := s.past(s.cleaner(), "a", "b")

	would := wouldHeader + "NS   ConfigMap   a   be created   -\nNS   ConfigMap   b   be created   -\n"
	s.wants(s.call(t.Context(), nil, "restore", run.Name, "--dry-run"), codes.ExitDone, would, touchedBy+"2 objects would be restored\n")
	s.wants(s.call(t.Context(), nil, "restore", run.Name, "--dry-run", "--copies-path", t.TempDir()), codes.ExitDone, would,
		"note: --copies-path is not used: the copies of run unused-NS-SECONDS are not on a volume\n"+touchedBy+"2 objects would be restored\n")
	question := would + touchedBy + "2 objects would be restored\nGo on? [y/N] "
	s.wants(s.answering("n\n", "restore", run.Name), codes.ExitError, "", question+"error: nothing was restored: you did not confirm it   [E-RST-004]\n")
	s.wants(s.answering("", "restore", run.Name), codes.ExitError, "", question+"\nerror: nothing was restored: nobody confirmed it\n"+
		"hint: without a terminal, use --yes; --dry-run only shows it   [E-RST-004]\n")
	if s.exists("a") || s.exists("b") {
		t.Fatal("something was restored before it was confirmed")
	}

	s.wants(s.answering("yes\n", "restore", "cleanerrun/"+run.Name, "--only", "configmap/"+s.namespace+"/a"), codes.ExitDone, restoreHeader+"NS   ConfigMap   a   Restored   -\n",
		wouldHeader+"NS   ConfigMap   a   be created   -\n"+touchedBy+"1 object would be restored\nGo on? [y/N] "+touchedBy+"1 object was restored\n"+allowOne("a"))
	if !s.exists("a") || s.exists("b") {
		t.Fatal("--only did not bring back just that one")
	}

	s.configMap("b", map[string]string{"mine": "yes"})
	s.wants(s.call(t.Context(), nil, "restore", run.Name, "--yes"), codes.ExitPartial,
		restoreHeader+"NS   ConfigMap   a   RestoredAlready   -\nNS   ConfigMap   b   Exists   an object with this name exists, with other content; --force overwrites it with the copy\n",
		"error: "+touchedBy+"1 is restored already, 1 exists and differs\nhint: --force overwrites objects that differ from their copy, or that somebody edited since   [E-RST-003]\n")
	got := s.call(t.Context(), nil, "restore", run.Name, "--yes", "--force", "-o", "json")
	want := `{
  "run": "unused-NS-SECONDS",
  "cleaner": "unused-NS",
  "objects": [
    {
      "apiVersion": "v1",
      "kind": "ConfigMap",
      "namespace": "NS",
      "name": "a",
      "outcome": "RestoredAlready"
    },
    {
      "apiVersion": "v1",
      "kind": "ConfigMap",
      "namespace": "NS",
      "name": "b",
      "step": "Overwrite",
      "outcome": "Restored"
    }
  ]
}
`
	if text := strings.ReplaceAll(s.plain(strings.ReplaceAll(got.out, " ", "\x00")), "\x00", " "); got.code != codes.ExitDone || text != want {
		t.Errorf("exit %d: %s", got.code, cmp.Diff(want, text))
	}
	s.wants(s.call(t.Context(), nil, "restore", run.Name, "--yes", "-o", "name"), codes.ExitDone, "", touchedBy+"2 are restored already\n")
}

func TestRestoreMistakes(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	c := s.cleaner()
	run := s.past(c, "a")
	s.wants(s.call(t.Context(), nil, "restore", run.Name+"x"), codes.ExitError, "",
		"error: there is no run \"unused-NS-SECONDSx\" in the cluster\nhint: did you mean \"unused-NS-SECONDS\"?   [E-RUN-006]\n")
	s.wants(s.call(t.Context(), nil, "restore", c.Name), codes.ExitError, "",
		"error: there is no run \"unused-NS\" in the cluster\nhint: that is a Cleaner; its runs: kubectl cleaner runs unused-NS   [E-RUN-006]\n")
	s.wants(s.call(t.Context(), nil, "restore", run.Name, "--only", "ConfigMap/"+s.namespace+"/ab"), codes.ExitError, "",
		"error: --only ConfigMap/NS/ab: run unused-NS-SECONDS was not going to touch such an object\nhint: did you mean \"ConfigMap/NS/a\"?   [E-PRE-002]\n")
	s.wants(s.call(t.Context(), nil, "restore"), codes.ExitUsage, "",
		"error: kubectl cleaner restore: needs the name of one run or of one object, and was given 0; kubectl cleaner runs lists the runs\nhint: run: kubectl cleaner restore --help   [E-USE-001]\n")
	s.wants(s.call(t.Context(), nil, "restore", "x", "--only", "a"), codes.ExitUsage, "",
		"error: kubectl cleaner restore: --only \"a\" names no object; write KIND/NAMESPACE/NAME, or KIND/NAME for one without a namespace\nhint: run: kubectl cleaner restore --help   [E-USE-001]\n")

	// A copy that somebody exchanged is not what the run wrote.
	key := client.ObjectKey{Namespace: cluster.DefaultOperatorNamespace, Name: run.Name + "-" + run.Status.Intent.Attempt + "-bundle-0"}
	var part corev1.Secret
	must(t, s.Get(t.Context(), key, &part))
	must(t, s.Delete(t.Context(), &part))
	part.ResourceVersion, part.UID = "", ""
	part.Data["copies.gz"][20] ^= 4
	must(t, s.Create(t.Context(), &part))
	got := s.call(t.Context(), nil, "restore", run.Name, "--yes", "--force")
	if got.code != codes.ExitError || !strings.HasPrefix(got.errOut, "error: the copies of the run are not what the run wrote: their hash is ") ||
		!strings.HasSuffix(got.errOut, "\nhint: nothing was restored: copies that are not exactly what the run wrote are never used   [E-RST-002]\n") || s.exists("a") {
		t.Errorf("%+v", got)
	}

	must(t, s.Get(t.Context(), client.ObjectKeyFromObject(run), run))
	run.Status.Copies.Dropped = "there were newer ones"
	must(t, s.Status().Update(t.Context(), run))
	s.wants(s.call(t.Context(), nil, "restore", run.Name), codes.ExitError, "", "error: the copies of run unused-NS-SECONDS were dropped: there were newer ones   [E-RST-001]\n")
}

// Somebody without the right to read the copies learns which one it is, and who has the role for it.
func TestRestoreForbidden(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	run := s.past(s.cleaner(), "a")
	user := s.user(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}})
	var role rbacv1.ClusterRole
	must(t, s.Get(t.Context(), client.ObjectKey{Name: user}, &role))
	role.Rules[0].Resources = append(role.Rules[0].Resources, "cleanerruns")
	must(t, s.Update(t.Context(), &role))
	var got session
	s.eventually(func(ctx context.Context) (bool, error) { // until the API server knows of the right
		got = s.call(ctx, nil, "restore", run.Name, "--as", user)
		return !strings.Contains(got.errOut, "cleanerruns"), nil
	})
	part := run.Name + "-" + run.Status.Intent.Attempt + "-bundle-0"
	s.wants(got, codes.ExitError, "", s.plain("error: reading part 0 of the bundle of run "+run.Name+" (Secret projectsveltos/"+part+"): secrets \""+part+"\" is forbidden: "+
		"User \""+user+"\" cannot get resource \"secrets\" in API group \"\" in the namespace \"projectsveltos\"\n"+
		"hint: the copies are Secrets in namespace projectsveltos, and you need the right to get them: the Role kubecleaner-cleaner-restore-role (your installation may have another name than kubecleaner); an administrator can give it to you: "+
		"kubectl -n projectsveltos create rolebinding restore --role=kubecleaner-cleaner-restore-role --user=YOU   [E-CLU-003]\n"))
}

// TestRestoreFindsTheNewestCopy: who misses an object knows its name, and not the run's.
func TestRestoreFindsTheNewestCopy(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	later := func(o *terminal.Options) { o.Now = func() time.Time { return nominal.Add(5 * time.Hour) } }
	for n, names := range [][]string{{"a", "b"}, {"a"}} {
		for _, name := range names {
			s.configMap(name, map[string]string{"unused": "true", "copy": fmt.Sprint(n)})
		}
		s.pastAt(metav1.NewTime(nominal.Add(time.Duration(n)*time.Hour)), c, names...)
	}
	s.wants(s.call(t.Context(), later, "restore", "cm/"+s.namespace+"/a", "--yes"), codes.ExitDone, restoreHeader+"NS   ConfigMap   a   Restored   -\n",
		"note: the newest copy of cm/NS/a is that of run unused-NS-SECONDS of cleaner unused-NS, 4h ago\n"+touchedBy+"1 object was restored\n"+allowOne("a"))
	var back corev1.ConfigMap
	must(t, s.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "a"}, &back))
	if back.Labels["copy"] != "1" {
		t.Errorf("it is not the newest copy: %q", back.Labels)
	}
	s.wants(s.call(t.Context(), later, "restore", "configmaps/"+s.namespace+"/b", "--yes"), codes.ExitDone, restoreHeader+"NS   ConfigMap   b   Restored   -\n",
		"note: the newest copy of configmaps/NS/b is that of run unused-NS-SECONDS of cleaner unused-NS, 5h ago\n"+touchedBy+"1 object was restored\n"+allowOne("b"))
	s.wants(s.call(t.Context(), later, "restore", "ConfigMap/"+s.namespace+"/c"), codes.ExitError, "",
		"error: no run that keeps copies touched ConfigMap/NS/c\n"+
			"hint: write KIND/NAMESPACE/NAME, or KIND/NAME for one without a namespace; kubectl cleaner runs lists which runs keep copies   [E-RST-001]\n")
	if got := s.call(t.Context(), nil, "restore", "ConfigMap/x/a", "--only", "ConfigMap/x/b"); got.code != codes.ExitUsage || !strings.Contains(got.errOut, "--only can be used only with a run") {
		t.Errorf("%+v", got)
	}
}

// TestRestoreOfWhatARunMayHaveDeleted: a run that does not know whether it deleted the object, or that found it gone, has its
// newest copy.
func TestRestoreOfWhatARunMayHaveDeleted(t *testing.T) {
	for _, outcome := range []v1alpha1.OutcomeResult{v1alpha1.OutcomeFailed, v1alpha1.OutcomeAbandoned, v1alpha1.OutcomeKindGone, v1alpha1.OutcomeGone} {
		t.Run(string(outcome), func(t *testing.T) {
			s := newSite(t)
			c := s.cleaner()
			name := "ConfigMap/" + s.namespace + "/a"
			s.configMap("a", map[string]string{"unused": "true", "copy": "0"})
			s.pastAt(nominal, c, "a")
			s.configMap("a", map[string]string{"unused": "true", "copy": "1"})
			newer := s.pastAs(outcome, metav1.NewTime(nominal.Add(time.Hour)), c, "a")

			// The object of the newer run is still there: that run did not delete it, and the older one's copy is meant.
			if got := s.call(t.Context(), nil, "restore", name, "--dry-run"); strings.Contains(got.errOut, newer.Name) || !strings.Contains(got.out, "Exists") {
				t.Errorf("while it is there: %+v", got)
			}
			must(t, s.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "a"}}))
			if outcome != v1alpha1.OutcomeGone { // what somebody else deleted is no fault of the restore
				if got := s.call(t.Context(), nil, "restore", newer.Name, "--yes"); got.code != codes.ExitError || !strings.Contains(got.out, "name it with --only") {
					t.Errorf("the whole run: %+v", got)
				}
			}
			if got := s.call(t.Context(), nil, "restore", name, "--yes"); got.code != codes.ExitDone || !strings.Contains(got.errOut, "is that of run "+newer.Name) {
				t.Errorf("when it is gone: %+v", got)
			}
			var back corev1.ConfigMap
			must(t, s.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "a"}, &back))
			if back.Labels["copy"] != "1" {
				t.Errorf("it is not the newest copy: %q", back.Labels)
			}
		})
	}
}

// TestRestoreStopsAtANewerRunThatGoesOn: it may have deleted the object a moment ago.
func TestRestoreStopsAtANewerRunThatGoesOn(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	s.configMap("a", map[string]string{"unused": "true"})
	s.pastAt(nominal, c, "a")
	s.configMap("a", map[string]string{"unused": "true"})
	newer := s.pastAs(v1alpha1.OutcomePlanned, metav1.NewTime(nominal.Add(time.Hour)), c, "a")
	must(t, s.Get(t.Context(), client.ObjectKeyFromObject(newer), newer))
	newer.Status.Phase, newer.Status.CompletionTime = v1alpha1.RunExecuting, nil
	must(t, s.Status().Update(t.Context(), newer))
	must(t, s.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "a"}}))
	got := s.call(t.Context(), nil, "restore", "ConfigMap/"+s.namespace+"/a", "--yes")
	if got.code != codes.ExitError || !strings.Contains(got.errOut, "run "+newer.Name+" is still going on") || s.exists("a") {
		t.Errorf("%+v", got)
	}
}

// TestRestoreStopsAtANewerRunThatCannotBeRead: the newest copy may be there, and an older one is not taken for it.
func TestRestoreStopsAtANewerRunThatCannotBeRead(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	var runs []*v1alpha1.CleanerRun
	for n := range 2 {
		s.configMap("a", map[string]string{"unused": "true", "copy": fmt.Sprint(n)})
		runs = append(runs, s.pastAt(metav1.NewTime(nominal.Add(time.Duration(n)*time.Hour)), c, "a"))
	}
	older, newer := runs[0], runs[1]
	must(t, s.Get(t.Context(), client.ObjectKeyFromObject(newer), newer))
	newer.Status.Objects, newer.Status.ObjectsOmitted = nil, 1
	must(t, s.Status().Update(t.Context(), newer))
	part := newer.Name + "-" + newer.Status.Intent.Attempt + "-bundle-0"
	must(t, s.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.DefaultOperatorNamespace, Name: part}}))
	name := "ConfigMap/" + s.namespace + "/a"
	got := s.call(t.Context(), nil, "restore", name, "--yes")
	for _, want := range []string{
		"error: the newest copy of " + name + " may be that of run " + newer.Name + ", which cannot be read: ",
		"hint: to restore an older copy, name its run: kubectl cleaner restore RUN --only " + name + "; kubectl cleaner runs lists which runs keep copies   [E-RST-002]\n",
	} {
		if got.code != codes.ExitError || !strings.Contains(got.errOut, want) {
			t.Errorf("exit code %d, without %q: %s", got.code, want, got.errOut)
		}
	}
	if s.exists("a") {
		t.Fatal("it was restored")
	}
	s.wants(s.call(t.Context(), nil, "restore", older.Name, "--only", name, "--yes"), codes.ExitDone, restoreHeader+"NS   ConfigMap   a   Restored   -\n",
		touchedBy+"1 object was restored\n"+allowOne("a"))
	must(t, s.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "a"}}))

	newer.Status.Copies.Dropped = "there were newer ones" // then there is nothing in it that could be restored
	must(t, s.Status().Update(t.Context(), newer))
	if got := s.call(t.Context(), nil, "restore", name, "--yes"); got.code != codes.ExitDone || !s.exists("a") {
		t.Errorf("%+v", got)
	}
}

// TestRestoreOfAnObjectWithoutCopy: one sentence says that none was kept, and why.
func TestRestoreOfAnObjectWithoutCopy(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "r", Controller: new(true)}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "p", OwnerReferences: []metav1.OwnerReference{owner}}}
	pod.Spec.Containers = []corev1.Container{{Name: "a", Image: "a"}}
	must(t, s.Create(t.Context(), pod))
	s.past(s.cleaner(), "a", "pods/p")
	later := func(o *terminal.Options) { o.Now = func() time.Time { return nominal.Add(5 * time.Hour) } }
	s.wants(s.call(t.Context(), later, "restore", "pod/"+s.namespace+"/p", "--yes"), codes.ExitError, "",
		"error: no run keeps a copy of pod/NS/p; run unused-NS-SECONDS of cleaner unused-NS, 5h ago, touched it and kept no copy of it: "+
			"none is kept of Pod objects that a controller manages, because a controller creates them again\n"+
			"hint: apply its manifest again, or that of what creates it   [E-RST-001]\n")

	must(t, s.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "q", OwnerReferences: pod.OwnerReferences}, Spec: pod.Spec}))
	s.pastAt(metav1.NewTime(nominal.Add(time.Hour)), s.cleaner(func(c *v1alpha1.Cleaner) { c.Name += "-q" }), "pods/q")
	s.wants(s.call(t.Context(), later, "restore", "pod/"+s.namespace+"/q"), codes.ExitError, "",
		"error: no run keeps a copy of pod/NS/q; run unused-NS-q-1800003600 of cleaner unused-NS-q, 4h ago, touched it and kept no copy of it: "+
			"none is kept of Pod objects that a controller manages, because a controller creates them again\n"+
			"hint: apply its manifest again, or that of what creates it   [E-RST-001]\n")

	// An older run kept a copy, when no controller managed it. A newer one kept copies, but not of it.
	s.configMap("b", map[string]string{"unused": "true"})
	for n, owners := range [][]metav1.OwnerReference{nil, {owner}} {
		must(t, s.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "s", OwnerReferences: owners}, Spec: pod.Spec}))
		others := [][]string{{"pods/s"}, {"pods/s", "b"}}[n]
		s.pastAt(metav1.NewTime(nominal.Add(time.Duration(n+2)*time.Hour)), s.cleaner(func(c *v1alpha1.Cleaner) { c.Name += fmt.Sprint("-", n) }), others...)
	}
	s.wants(s.call(t.Context(), later, "restore", "pod/"+s.namespace+"/s", "--yes"), codes.ExitDone, restoreHeader+"NS   Pod   s   Restored   -\n",
		"note: the newest copy of pod/NS/s is that of run unused-NS-0-1800007200 of cleaner unused-NS-0, 3h ago\n"+
			"run unused-NS-0-1800007200 of cleaner unused-NS-0: 1 object was restored\n"+
			"hint: no Cleaner touches it until you allow it: kubectl annotate pods s -n NS "+v1alpha1.RestoredFromAnnotation+"-\n")
}

func TestRuns(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	c := s.cleaner()
	s.wants(s.call(t.Context(), nil, "runs", c.Name), codes.ExitDone, "", "note: there are no runs\n")
	run := s.past(c, "a")
	later := func(o *terminal.Options) { o.Now = func() time.Time { return nominal.Add(5 * time.Minute) } }
	const table = "NAME   CLEANER   ACTION   PHASE   WHEN   MATCHED   ACTED   FAILED   COPIES   KEPT UNTIL\n" +
		"unused-NS-SECONDS   unused-NS   Delete   Completed   5m ago   1   1   0   1   2027-01-22T08:00:01Z\n"
	s.wants(s.call(t.Context(), later, "runs", "cleaner/"+c.Name), codes.ExitDone, table, "")
	if got := s.call(t.Context(), later, "runs", c.Name, "-o", "wide"); !strings.Contains(s.plain(got.out), "KEPT UNTIL   TRIGGER   SKIPPED   STORAGE   SIZE   WHY\n") ||
		!strings.Contains(s.plain(got.out), "2027-01-22T08:00:01Z   Manual   0   Secret   ") || !strings.HasSuffix(got.out, "   Done.\n") {
		t.Errorf("%+v", got)
	}
	s.wants(s.call(t.Context(), nil, "runs", c.Name, "-o", "name"), codes.ExitDone, "cleanerrun/unused-NS-SECONDS\n", "")
	var list v1alpha1.CleanerRunList
	got := s.call(t.Context(), nil, "runs", c.Name, "-o", "json")
	if err := json.Unmarshal([]byte(got.out), &list); err != nil || len(list.Items) != 1 || list.Items[0].UID != run.UID || list.Items[0].Kind != "CleanerRun" {
		t.Errorf("%v: %s", err, got.out)
	}
	s.wants(s.call(t.Context(), nil, "runs", c.Name+"x"), codes.ExitError, "",
		"error: there is no cleaner \"unused-NSx\" in the cluster, and no run of it\nhint: did you mean \"unused-NS\"?   [E-CLU-002]\n")
	must(t, s.Delete(t.Context(), c)) // its records are there still
	s.wants(s.call(t.Context(), later, "runs", c.Name), codes.ExitDone, table, "")
	var out bytes.Buffer // not by call, which adds an argument behind the one to complete
	options := terminal.Options{Version: "v1.2.3", Now: time.Now, Getenv: func(string) string { return "" }}
	Execute(t.Context(), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}, options,
		[]string{"__complete", "restore", "--kubeconfig", s.kubeconfig, run.Name[:8]})
	if !strings.Contains(out.String(), run.Name+"\tDelete, copies of 1 object\n") {
		t.Errorf("completion: %s", out.String())
	}
	out.Reset()
	Execute(t.Context(), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}, options,
		[]string{"__complete", "restore", "--kubeconfig", s.kubeconfig, run.Name, "--only", ""})
	object := bytes.Buffer{}
	Execute(t.Context(), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &object, ErrOut: &object}, options,
		[]string{"__complete", "restore", "--kubeconfig", s.kubeconfig, "ConfigMap/"})
	if !strings.Contains(object.String(), "ConfigMap/"+s.namespace+"/"+run.Status.Objects[0].Name+"\n") {
		t.Errorf("completion of an object: %s", object.String())
	}
	if len(run.Status.Objects) == 0 || !strings.Contains(out.String(), "/"+run.Status.Objects[0].Name+"\n") {
		t.Errorf("completion of --only for %v: %s", run.Status.Objects, out.String())
	}
}
