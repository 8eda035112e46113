// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// TestSuspendAfterALoss: an edit of whatever field would say that the fields which got lost are not wanted.
func TestSuspendAfterALoss(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	o := &operator{site: s, cleaner: c}
	o.status(func(c *v1alpha1.Cleaner) { c.Status.ObservedSpec = v1alpha1.Stamp(c.Generation, "another") })
	for _, command := range []string{"suspend", "resume"} {
		s.wants(s.call(t.Context(), nil, command, c.Name), codes.ExitError, "",
			"error: cleaner \"unused-NS\" lost fields, so it does not run; spec.suspend was not changed, because the operator takes any edit as a sign that the spec is complete again\n"+
				"hint: apply its manifest again; how it is now: kubectl get cleaner unused-NS -o yaml   [E-RUN-001]\n")
	}
	generation := c.Generation
	must(t, s.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	if c.Generation != generation {
		t.Error("it was edited")
	}
}

func TestSuspendAndResumeOne(t *testing.T) {
	s := newSite(t)
	s.deployOperator(s.namespace)
	c := s.cleaner(func(c *v1alpha1.Cleaner) {
		c.Labels = map[string]string{"kustomize.toolkit.fluxcd.io/name": "cleaners", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
	})
	isSuspended := func(want bool) {
		t.Helper()
		must(t, s.Get(t.Context(), client.ObjectKeyFromObject(c), c))
		if c.IsSuspended() != want {
			t.Errorf("suspended is %v, want %v", c.IsSuspended(), want)
		}
	}
	o := &operator{site: s, cleaner: c}
	const fluxTakesItBack = "note: Flux Kustomization flux-system/cleaners manages cleaner \"unused-NS\" and may take this back: change spec.suspend where its manifest is, too\n"
	o.status(func(c *v1alpha1.Cleaner) {
		c.Status.ActiveRun = &v1alpha1.ActiveRun{Name: o.runName(), NominalTime: nominal, Trigger: v1alpha1.TriggerSchedule}
	})
	s.wants(s.call(t.Context(), nil, "suspend", c.Name), codes.ExitDone, "",
		"cleaner \"unused-NS\" is suspended: it does not run by its schedule\nnote: the run unused-NS-SECONDS stops before its next object\n"+fluxTakesItBack)
	isSuspended(true)
	o.status(func(c *v1alpha1.Cleaner) { c.Status.ActiveRun.WhileSuspended = true })
	s.wants(s.call(t.Context(), nil, "suspend", "cleaner/"+c.Name), codes.ExitDone, "", "cleaner \"unused-NS\" is suspended already: it does not run by its schedule\n"+
		"note: the run unused-NS-SECONDS goes on; to end it: kubectl cleaner cancel unused-NS-SECONDS\n")

	// To take a stop back is another thing, and says so.
	s.wants(s.call(t.Context(), nil, "resume"), codes.ExitDone, "", toResumeNothing+
		"note: 1 Cleaner is suspended, each by itself: unused-NS; to resume one: kubectl cleaner resume NAME\n")
	isSuspended(true)
	o.status(func(c *v1alpha1.Cleaner) { c.Status.DryRunReason = "all acting is stopped (incident 7)" })
	s.wants(s.call(t.Context(), o.examines(metav1.ConditionTrue, "Valid"), "resume", c.Name), codes.ExitDone, "",
		"cleaner \"unused-NS\" is not suspended any more: it runs when it is due; runs that were due in the meantime do not take place\n"+
			"note: Cleaners only report now, because all acting is stopped (incident 7); to let Cleaners act again: kubectl cleaner resume, without a name\n"+fluxTakesItBack)
	isSuspended(false)
	o.status(func(c *v1alpha1.Cleaner) {
		c.Status.DryRunReason = ""
		c.Status.Conditions = []metav1.Condition{{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonInvalidExpression,
			Message: "selector 0 is wrong.", ObservedGeneration: c.Generation, LastTransitionTime: metav1.Now(),
		}}
	})
	s.wants(s.call(t.Context(), nil, "resume", c.Name), codes.ExitDone, "", "cleaner \"unused-NS\" is not suspended, but it is not ready: "+
		"InvalidExpression: selector 0 is wrong\nnote: first correct the Cleaner: kubectl edit cleaner unused-NS\n")
	o.status(func(c *v1alpha1.Cleaner) { c.Status.Conditions = nil })
	s.wants(s.call(t.Context(), meanwhile(nothing), "resume", c.Name), codes.ExitDone, "", "cleaner \"unused-NS\" is not suspended\n"+
		"note: the operator has not looked at it yet; whether it is ready: kubectl get cleaner unused-NS\n")

	usage := func(err string, args ...string) {
		t.Helper()
		s.wants(s.call(t.Context(), nil, args...), codes.ExitUsage, "", "error: "+err+"\nhint: run: kubectl cleaner "+args[0]+" --help   [E-USE-001]\n")
	}
	usage("kubectl cleaner suspend: needs the name of a Cleaner, or labels of Cleaners (-l SELECTOR); to stop all acting: kubectl cleaner stop", "suspend")
	usage("kubectl cleaner stop: takes no arguments, because it stops all Cleaners; to stop one: kubectl cleaner suspend nightly", "stop", "nightly")
	usage("kubectl cleaner resume: -n, --operator-namespace can be used only for a resume without a name, which undoes a stop; Cleaners belong to no namespace", "resume", "nightly", "-n", "x")
	// One that fails does not keep the others from it.
	s.wants(s.call(t.Context(), nil, "suspend", c.Name+"s", c.Name), codes.ExitError, "",
		"cleaner \"unused-NS\" is suspended: it does not run by its schedule\nnote: the run unused-NS-SECONDS goes on; to end it: kubectl cleaner cancel unused-NS-SECONDS\n"+fluxTakesItBack+
			"error: there is no cleaner \"unused-NSs\" in the cluster\nhint: did you mean \"unused-NS\"?   [E-CLU-002]\n")
	isSuspended(true)
}

// examines is an operator that says whether the Cleaner is ready when somebody has waited once.
func (o *operator) examines(ready metav1.ConditionStatus, reason string) func(*terminal.Options) {
	return meanwhile(func(waited int) {
		if waited == 1 {
			o.status(func(c *v1alpha1.Cleaner) {
				c.Status.Conditions = []metav1.Condition{{
					Type: v1alpha1.ConditionReady, Status: ready, Reason: reason,
					Message: "why.", ObservedGeneration: c.Generation, LastTransitionTime: metav1.Now(),
				}}
			})
		}
	})
}

// TestResumeSaysWhetherItIsReady: while a Cleaner is suspended, its condition Ready says nothing of its kind and
// account.
func TestResumeSaysWhetherItIsReady(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	o := &operator{site: s, cleaner: c}
	s.call(t.Context(), nil, "suspend", c.Name)
	s.wants(s.call(t.Context(), o.examines(metav1.ConditionFalse, v1alpha1.ReasonUnknownKind), "resume", c.Name), codes.ExitDone, "",
		"cleaner \"unused-NS\" is not suspended any more, but it is not ready: UnknownKind: why\n"+
			"note: first correct the Cleaner: kubectl edit cleaner unused-NS\n")
	s.call(t.Context(), nil, "suspend", c.Name)
	s.wants(s.call(t.Context(), meanwhile(nothing), "resume", c.Name), codes.ExitDone, "", "cleaner \"unused-NS\" is not suspended any more\n"+
		"note: the operator has not looked at it yet; whether it is ready: kubectl get cleaner unused-NS\n")
}

func TestCancel(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	o := &operator{site: s, cleaner: c}
	run := o.runName()
	s.wants(s.call(t.Context(), nil, "cancel", c.Name), codes.ExitError, "",
		"error: cleaner \"unused-NS\" has no run that is active or waiting\nhint: its runs: kubectl cleaner runs unused-NS   [E-RUN-006]\n")
	busy := func(c *v1alpha1.Cleaner) {
		c.Status.ActiveRun = &v1alpha1.ActiveRun{Name: run, NominalTime: nominal, Trigger: v1alpha1.TriggerSchedule}
	}
	o.status(busy)
	const cancelled = "run unused-NS-SECONDS of cleaner \"unused-NS\" is cancelled: it ends before its next object\n"
	s.wants(s.call(t.Context(), meanwhile(nothing), "cancel", run), codes.ExitError, "", cancelled+
		"error: run unused-NS-SECONDS did not end within 10s; the annotation stays, and the run ends before its next object as soon as the operator sees it\n"+
		"hint: does the operator run? see: kubectl get cleaner unused-NS; to stop all acting: kubectl cleaner stop   [E-RUN-005]\n")
	must(t, s.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	if !c.Cancels(run) {
		t.Errorf("the annotations are %q", c.Annotations)
	}
	s.wants(s.call(t.Context(), nil, "cancel", run+"0"), codes.ExitError, "",
		"error: no active run has the name \"unused-NS-SECONDS0\"\nhint: did you mean \"unused-NS-SECONDS\"?   [E-RUN-006]\n")

	o.status(func(c *v1alpha1.Cleaner) {
		c.Status.ActiveRun = nil
		c.Status.Plan = &v1alpha1.WaitingPlan{PlanRef: v1alpha1.PlanRef{Run: run, Hash: "a"}, Objects: 1, ExpirationTime: nominal}
	})
	for _, name := range []string{run, c.Name} {
		s.wants(s.call(t.Context(), nil, "cancel", name), codes.ExitError, "",
			"error: run unused-NS-SECONDS is not active: its plan waits for approval, and it touched nothing\n"+
				"hint: to refuse the plan: kubectl cleaner reject unused-NS-SECONDS   [E-RUN-006]\n")
	}
	o.status(func(c *v1alpha1.Cleaner) {
		busy(c)
		c.Status.ActiveRun.Name += "1"
	})
	s.wants(s.call(t.Context(), nil, "cancel", run), codes.ExitError, "",
		"error: run unused-NS-SECONDS is not active: its plan waits for approval, and it touched nothing\n"+
			"hint: to refuse the plan: kubectl cleaner reject unused-NS-SECONDS   [E-RUN-006]\n")
	o.status(func(c *v1alpha1.Cleaner) { busy(c); c.Status.Plan = nil })

	// One that waits leaves no record.
	s.wants(s.call(t.Context(), meanwhile(func(waited int) {
		if waited == 1 {
			o.status(func(c *v1alpha1.Cleaner) { c.Status.ActiveRun = nil })
		}
	}), "cancel", c.Name), codes.ExitDone, "", cancelled+"the run ended; it has no record, so it touched nothing: kubectl describe cleaner unused-NS\n")

	o.status(busy)
	end := end(v1alpha1.RunInterrupted, v1alpha1.ReasonCancelled, "The run was stopped: it was cancelled. 16 deleted, 4 left alone.")
	s.wants(s.call(t.Context(), meanwhile(func(waited int) {
		if waited == 2 {
			end(o)
			record := &v1alpha1.CleanerRun{}
			must(t, s.Get(t.Context(), client.ObjectKey{Name: run}, record))
			record.Status.Acted, record.Status.Copies = 16, &v1alpha1.RunCopies{Objects: 16, Storage: v1alpha1.StorageSecret, ExpirationTime: metav1.NewTime(nominal.AddDate(0, 0, 7))}
			must(t, s.Status().Update(t.Context(), record))
		}
	}), "cancel", "cleanerrun/"+run), codes.ExitDone, "", cancelled+"it ended: The run was stopped: it was cancelled. 16 deleted, 4 left alone.\n"+
		"hint: to undo what it did: kubectl cleaner restore unused-NS-SECONDS\n")
	s.wants(s.call(t.Context(), nil, "cancel", run), codes.ExitError, "",
		"error: run unused-NS-SECONDS has ended: The run was stopped: it was cancelled. 16 deleted, 4 left alone.\n"+
			"hint: to undo what it did: kubectl cleaner restore unused-NS-SECONDS   [E-RUN-006]\n")
}

// TestResumeWithAnEmptySelector resumes nothing: somebody who names Cleaners by a variable that is empty does not mean a stop.
func TestResumeWithAnEmptySelector(t *testing.T) {
	s := newSite(t)
	s.wants(s.call(t.Context(), nil, "resume", "-l", ""), codes.ExitUsage, "",
		"error: kubectl cleaner resume: --selector is empty; give labels, or leave it out\nhint: run: kubectl cleaner resume --help   [E-USE-001]\n")
}

// TestNamesAsKubectlPrintsThem: kubectl get cleaners -o name.
func TestNamesAsKubectlPrintsThem(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	for prefix, code := range map[string]int{"cleaner.apps.projectsveltos.io/": codes.ExitDone, "cleaners/": codes.ExitDone, "cleaner.apps/": codes.ExitError, "pods/": codes.ExitError} {
		if got := s.call(t.Context(), nil, "suspend", prefix+c.Name); got.code != code {
			t.Errorf("%s: %+v", prefix, got)
		}
	}
}

// TestCancelWhoseRecordCannotBeRead does not say that nothing was touched.
func TestCancelWhoseRecordCannotBeRead(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	o := &operator{site: s, cleaner: c}
	run := o.runName()
	o.status(func(c *v1alpha1.Cleaner) {
		c.Status.ActiveRun = &v1alpha1.ActiveRun{Name: run, NominalTime: nominal, Trigger: v1alpha1.TriggerSchedule}
	})
	s.kubeconfig = s.proxied(func(w http.ResponseWriter, r *http.Request) bool {
		isRecord := strings.HasSuffix(r.URL.Path, "/cleanerruns/"+run)
		if isRecord {
			http.Error(w, "a fault", http.StatusBadRequest)
		}
		return isRecord
	})
	got := s.call(t.Context(), meanwhile(func(waited int) {
		if waited == 1 {
			o.status(func(c *v1alpha1.Cleaner) { c.Status.ActiveRun = nil })
		}
	}), "cancel", c.Name)
	if strings.Contains(got.errOut, "touched nothing") || !strings.Contains(got.errOut, "the run ended; its record cannot be read: ") ||
		!strings.HasSuffix(s.plain(got.errOut), "hint: to see what it did: kubectl cleaner runs unused-NS-SECONDS\n") {
		t.Errorf("%+v", got)
	}
}

// TestCancelRequest: a request that no run has answered yet begins a run as soon as it can, so who cancels the Cleaner
// means it, too. Who names a run means that one.
func TestCancelRequest(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	o := &operator{site: s, cleaner: c}
	ask := func(value string) {
		t.Helper()
		must(t, s.Get(t.Context(), client.ObjectKeyFromObject(c), c))
		c.Annotations = map[string]string{v1alpha1.RunRequestedAtAnnotation: value}
		must(t, s.Update(t.Context(), c))
	}
	wants := func(cancels string, asks bool) {
		t.Helper()
		must(t, s.Get(t.Context(), client.ObjectKeyFromObject(c), c))
		if _, got := c.Annotations[v1alpha1.RunRequestedAtAnnotation]; got != asks || c.Annotations[v1alpha1.CancelRunAnnotation] != cancels {
			t.Errorf("the annotations are %q", c.Annotations)
		}
	}
	const back = "the run of cleaner \"unused-NS\" that was asked for is taken back: it does not begin\n"
	const cancelled = "run unused-NS-SECONDS of cleaner \"unused-NS\" is cancelled: it ends before its next object\n"
	const ended = "the run ended; it has no record, so it touched nothing: kubectl describe cleaner unused-NS\n"
	ask("one")
	s.wants(s.call(t.Context(), nil, "runs", c.Name), codes.ExitDone, "", "note: there are no runs\n"+
		"note: a run of Cleaner unused-NS was asked for and has not begun; to take it back: kubectl cleaner cancel unused-NS\n")
	s.wants(s.call(t.Context(), nil, "cancel", c.Name), codes.ExitDone, "", back)
	wants("", false)

	busy := func(c *v1alpha1.Cleaner) {
		c.Status.ActiveRun = &v1alpha1.ActiveRun{Name: o.runName(), NominalTime: nominal, Trigger: v1alpha1.TriggerManual, RunRequest: "one"}
		c.Status.LastHandledRunRequest = "one"
	}
	ends := meanwhile(func(waited int) {
		if waited == 1 {
			o.status(func(c *v1alpha1.Cleaner) { c.Status.ActiveRun = nil })
		}
	})
	ask("two")
	o.status(busy)
	s.wants(s.call(t.Context(), ends, "cancel", o.runName()), codes.ExitDone, "", cancelled+
		"note: another run of cleaner \"unused-NS\" was asked for and has not begun; to take it back: kubectl cleaner cancel unused-NS\n"+ended)
	wants(o.runName(), true)

	ask("three")
	o.status(busy)
	s.wants(s.call(t.Context(), ends, "cancel", c.Name), codes.ExitDone, "", back+cancelled+ended)
	wants(o.runName(), false)

	// A run that begins meanwhile answers the request: then it is the one to end.
	ask("four")
	s.kubeconfig = s.proxied(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPatch && c.Status.ActiveRun == nil {
			o.status(func(c *v1alpha1.Cleaner) { busy(c); c.Status.LastHandledRunRequest = "four" })
		}
		return false
	})
	s.wants(s.call(t.Context(), ends, "cancel", c.Name), codes.ExitDone, "", cancelled+ended)
	wants(o.runName(), true)
}

// TestRunAsksFirst: a run that deletes or changes objects is asked for only after a yes.
func TestRunAsksFirst(t *testing.T) {
	s := newSite(t)
	c := s.cleaner(func(c *v1alpha1.Cleaner) { c.Spec.Suspend = new(true) })
	wantAsked := func(want bool) {
		t.Helper()
		must(t, s.Get(t.Context(), client.ObjectKeyFromObject(c), c))
		if got := c.Annotations[v1alpha1.RunRequestedAtAnnotation] != ""; got != want {
			t.Errorf("a run was asked for: %v, want %v", got, want)
		}
	}
	const question = "cleaner \"unused-NS\" deletes what matches now; it has not run yet, so the number of objects is not known. To see it: kubectl cleaner preview unused-NS\nnote: it is suspended; this request still runs it once, now\nGo on? [y/N] "
	s.wants(s.answering("", "run", c.Name), codes.ExitError, "", question+"\nerror: no run was asked for: nobody confirmed it\n"+
		"hint: without a terminal, use --yes; kubectl cleaner preview unused-NS shows what it would do   [E-RUN-008]\n")
	s.wants(s.answering("n\n", "run", c.Name), codes.ExitError, "", question+"error: no run was asked for: you did not confirm it   [E-RUN-008]\n")
	wantAsked(false)
	s.wants(s.answering("y\n", "run", c.Name), codes.ExitDone, "", question+asked+"hint: to see how it goes: kubectl get cleaner unused-NS -o wide --watch\n")
	wantAsked(true)

	// What gets no copy is said before the question, not after it.
	pods := s.cleaner(func(c *v1alpha1.Cleaner) {
		c.Name, c.Spec.ResourcePolicySet.ResourceSelectors = "pods-"+s.namespace, []v1alpha1.ResourceSelector{{Version: "v1", Kind: "Pod"}}
	})
	got := s.answering("n\n", "run", pods.Name)
	const uncopied = "note: no copy is kept of Pod objects that a controller manages, because a controller creates them again"
	if want := uncopied + "\ncleaner "; !strings.HasPrefix(got.errOut, want) {
		t.Errorf("%s\nwant first %s", got.errOut, want)
	}
	// Of those that its last run matched, a and b have a controller, c has none, and d is gone.
	pods.Status.LastRun = &v1alpha1.LastRun{Name: "r", NominalTime: nominal, Trigger: v1alpha1.TriggerSchedule, Action: v1alpha1.ActionScan}
	pods.Status.LastRun.Matched = 5
	for _, name := range []string{"a", "b", "c", "d"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
		pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
		if name < "c" {
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "1", Controller: new(true)}}
		}
		if name != "d" {
			must(t, s.Create(t.Context(), pod))
		}
		pods.Status.LastRun.Matches = append(pods.Status.LastRun.Matches,
			v1alpha1.ObjectOutcome{APIVersion: "v1", Kind: "Pod", Namespace: s.namespace, Name: name, Outcome: v1alpha1.OutcomeMatched})
	}
	pods.Status.LastRun.Matches = append(pods.Status.LastRun.Matches,
		v1alpha1.ObjectOutcome{APIVersion: "v1", Kind: "ConfigMap", Namespace: s.namespace, Name: "a", Outcome: v1alpha1.OutcomeMatched})
	must(t, s.Status().Update(t.Context(), pods))
	got = s.answering("n\n", "run", pods.Name)
	if want := uncopied + "; its last run matched some of these: 2 Pods (" + s.namespace + "/a, " + s.namespace + "/b)\n"; !strings.HasPrefix(got.errOut, want) {
		t.Errorf("%s\nwant first %s", got.errOut, want)
	}

	// A Scan does no harm.
	reports := s.cleaner(func(c *v1alpha1.Cleaner) {
		scan := v1alpha1.ActionScan
		c.Name, c.Spec.Action = "reports-"+s.namespace, &scan
	})
	s.wants(s.answering("", "run", reports.Name), codes.ExitDone, "", "asked for a run of cleaner \"reports-NS\"; it only reports what matches\n"+
		"hint: to see how it goes: kubectl get cleaner reports-NS -o wide --watch\n")
}
