// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// operator answers a request as the operator would, step by step.
type operator struct {
	*site
	cleaner *v1alpha1.Cleaner
	done    chan struct{}
}

// answer begins to do what the operator does, in the order of the steps, once the annotation is there.
func (s *site) answer(c *v1alpha1.Cleaner, steps ...func(*operator)) *operator {
	o := &operator{site: s, cleaner: c.DeepCopy(), done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.eventually(func(ctx context.Context) (bool, error) {
			err := o.Get(ctx, client.ObjectKeyFromObject(c), o.cleaner)
			return o.cleaner.Annotations[v1alpha1.RunRequestedAtAnnotation] != "", err
		})
		for _, step := range steps {
			step(o)
		}
	}()
	s.Cleanup(func() { <-o.done })
	return o
}

// status changes the Cleaner's status.
func (o *operator) status(edit func(*v1alpha1.Cleaner)) {
	o.eventually(func(ctx context.Context) (bool, error) {
		if err := o.Get(ctx, client.ObjectKeyFromObject(o.cleaner), o.cleaner); err != nil {
			return false, err
		}
		edit(o.cleaner)
		err := o.Status().Update(ctx, o.cleaner)
		return err == nil, ignoreConflict(err)
	})
}

func ignoreConflict(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

var nominal = metav1.NewTime(time.Unix(1_800_000_000, 0))

func (o *operator) runName() string { return v1alpha1.RunName(o.cleaner.Name, nominal.Time) }

// begin takes the request up.
func begin(o *operator) {
	o.status(func(c *v1alpha1.Cleaner) { taken(c, o.runName()) })
}

// taken is a Cleaner whose request was taken up.
func taken(c *v1alpha1.Cleaner, run string) {
	c.Status.LastHandledRunRequest = c.Annotations[v1alpha1.RunRequestedAtAnnotation]
	c.Status.ActiveRun = &v1alpha1.ActiveRun{Name: run, NominalTime: nominal, Trigger: v1alpha1.TriggerManual, RunRequest: c.RunRequest()}
}

// record writes the record of the run.
func (o *operator) record() *v1alpha1.CleanerRun {
	record := &v1alpha1.CleanerRun{ObjectMeta: metav1.ObjectMeta{Name: o.runName()}, Spec: v1alpha1.CleanerRunSpec{
		Cleaner: o.cleaner.Name, CleanerUID: o.cleaner.UID, NominalTime: nominal, Trigger: v1alpha1.TriggerManual, Action: v1alpha1.ActionDelete,
	}}
	must(o.T, o.Create(context.Background(), record))
	o.Cleanup(func() { _ = o.Delete(context.Background(), record) })
	return record
}

// start takes the request up and writes the record.
func start(o *operator) {
	o.record()
	begin(o)
}

// end writes the record, and ends the run.
func end(phase v1alpha1.RunPhase, reason, message string, objects ...v1alpha1.ObjectOutcome) func(*operator) {
	return func(o *operator) {
		record := o.record()
		record.Status = v1alpha1.CleanerRunStatus{
			Phase: phase, Reason: reason, Message: message, Objects: objects, Duration: &metav1.Duration{Duration: 1234 * time.Millisecond},
		}
		must(o.T, o.Status().Update(context.Background(), record))
		endStatus(phase, reason, message, objects...)(o)
	}
}

// endStatus ends the run in the Cleaner's status only.
func endStatus(phase v1alpha1.RunPhase, reason, message string, objects ...v1alpha1.ObjectOutcome) func(*operator) {
	return func(o *operator) {
		o.status(func(c *v1alpha1.Cleaner) {
			c.Status.LastHandledRunRequest = c.Annotations[v1alpha1.RunRequestedAtAnnotation]
			c.Status.ActiveRun = nil
			c.Status.LastRun = &v1alpha1.LastRun{
				Name: o.runName(), NominalTime: nominal, Trigger: v1alpha1.TriggerManual, RunRequest: c.RunRequest(), Action: v1alpha1.ActionDelete, Matches: objects,
			}
			c.Status.LastRun.Matched = int64(len(objects))
			condition := metav1.Condition{Type: v1alpha1.ConditionRunSucceeded, Status: metav1.ConditionFalse, Reason: reason, Message: message}
			if phase == v1alpha1.RunCompleted {
				condition.Status = metav1.ConditionTrue
			}
			meta.SetStatusCondition(&c.Status.Conditions, condition)
		})
	}
}

var deletedObject = v1alpha1.ObjectOutcome{APIVersion: "v1", Kind: "ConfigMap", Namespace: "x", Name: "a", Outcome: v1alpha1.OutcomeDeleted, Message: "unused"}

const asked = "asked for a run of cleaner \"unused-NS\"; it deletes what matches\n"

func TestRunAsks(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	s.wants(s.call(t.Context(), nil, "run", c.Name, "--yes"), codes.ExitDone, "", asked+"hint: to see how it goes: kubectl get cleaner unused-NS -o wide --watch\n")
	var first, second v1alpha1.Cleaner
	must(t, s.Get(t.Context(), client.ObjectKeyFromObject(c), &first))
	value := first.Annotations[v1alpha1.RunRequestedAtAnnotation]
	at, err := time.Parse(time.RFC3339Nano, value)
	if err != nil || time.Since(at) > time.Minute {
		t.Errorf("the annotation is %q: %v", value, err)
	}
	if manager := first.ManagedFields[len(first.ManagedFields)-1].Manager; manager != cluster.FieldManager {
		t.Errorf("the annotation is %s's", manager)
	}
	// A clock that is behind must not make the request look older than the Cleaner.
	s.call(t.Context(), func(o *terminal.Options) { o.Now = func() time.Time { return time.Unix(1_000_000_000, 7) } }, "run", c.Name, "--yes")
	must(t, s.Get(t.Context(), client.ObjectKeyFromObject(c), &second))
	at, err = time.Parse(time.RFC3339Nano, second.Annotations[v1alpha1.RunRequestedAtAnnotation])
	if err != nil || at.Before(c.CreationTimestamp.Time) {
		t.Errorf("the annotation is %q, the Cleaner is of %s: %v", at, c.CreationTimestamp, err)
	}
}

// typing is somebody who types an answer, and what happens before.
type typing struct {
	answer io.Reader
	before func()
}

func (t typing) Read(p []byte) (int, error) {
	t.before()
	return t.answer.Read(p)
}

// TestRunOfACleanerThatChangesMeanwhile: the user confirmed the Cleaner as it was before the change.
func TestRunOfACleanerThatChangesMeanwhile(t *testing.T) {
	for name, change := range map[string]func(s *site, c *v1alpha1.Cleaner){
		"changed": func(s *site, c *v1alpha1.Cleaner) {
			must(s.T, s.Patch(s.Context(), c, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"schedule":"1 1 * * *"}}`))))
		},
		"another": func(s *site, c *v1alpha1.Cleaner) {
			must(s.T, s.Delete(s.Context(), c.DeepCopy()))
			c.ResourceVersion, c.UID = "", ""
			must(s.T, s.Create(s.Context(), c))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			c := s.cleaner()
			var errOut bytes.Buffer
			streams := genericiooptions.IOStreams{In: typing{strings.NewReader("y\n"), sync.OnceFunc(func() { change(s, c) })}, Out: io.Discard, ErrOut: &errOut}
			options := terminal.Options{Version: "v1.2.3", Now: time.Now, Getenv: func(string) string { return "" }}
			code := Execute(t.Context(), streams, options, []string{"run", c.Name, "--kubeconfig", s.kubeconfig})
			if code == codes.ExitDone || !strings.Contains(errOut.String(), "somebody has just changed cleaner") {
				t.Errorf("exit %d: %s", code, errOut.String())
			}
			var now v1alpha1.Cleaner
			must(t, s.Get(t.Context(), client.ObjectKeyFromObject(c), &now))
			if now.IsRunRequested() {
				t.Error("a run was asked for")
			}
		})
	}
}

// A request for an operator that is not there is a surprise when it comes: none is left.
func TestRunWithoutAnOperator(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	elsewhere := func(o *terminal.Options) {
		o.Getenv = func(name string) string { return map[string]string{"NAMESPACE": s.namespace}[name] }
	}
	const refused = "error: no operator is running: there is no leader, and no Pod of the operator is available\n" +
		"hint: no run was asked for; to see what is missing: kubectl cleaner doctor. If the operator runs outside the cluster " +
		"without leader election, set the annotation apps.projectsveltos.io/run-requested-at of the Cleaner to the current time (RFC 3339)   [E-RUN-002]\n"
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: cluster.LeaseName}}
	s.wants(s.call(t.Context(), elsewhere, "run", c.Name, "--yes"), codes.ExitError, "", refused)
	lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: ptr.To("gone"), RenewTime: &metav1.MicroTime{Time: time.Now().Add(-2 * time.Minute)}}
	must(t, s.Create(t.Context(), lease))
	s.wants(s.call(t.Context(), elsewhere, "run", c.Name, "--yes", "--wait"), codes.ExitError, "", refused)
	must(t, s.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	if c.Annotations[v1alpha1.RunRequestedAtAnnotation] != "" {
		t.Error("a run was asked for")
	}
	lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
	must(t, s.Update(t.Context(), lease))
	if got := s.call(t.Context(), elsewhere, "run", c.Name, "--yes"); got.code != codes.ExitDone {
		t.Errorf("with a leader: %+v", got)
	}
}

// A run whose plan must be approved deletes nothing: nobody is asked before it, and nobody is told that it deletes.
func TestRunOfAPlan(t *testing.T) {
	s := newSite(t)
	c := s.cleaner(func(c *v1alpha1.Cleaner) { c.Spec.Approval = &v1alpha1.Approval{Mode: v1alpha1.ApprovalRequired} })
	s.wants(s.call(t.Context(), nil, "run", c.Name), codes.ExitDone, "", "asked for a run of cleaner \"unused-NS\"; it touches nothing, and makes a plan that waits for approval: kubectl cleaner approve unused-NS\n"+
		"hint: to see how it goes: kubectl get cleaner unused-NS -o wide --watch\n")
	s.configMap("a", map[string]string{"unused": "true"})
	s.wants(s.call(t.Context(), nil, "preview", c.Name, "-o", "name"), codes.ExitDone, "ConfigMap/NS/a\n", "1 of 1 object matches; 1 would be deleted\n")
	got := s.call(t.Context(), nil, "preview", c.Name)
	if want := "hint: a run only makes a plan of this, which waits for approval: kubectl cleaner run unused-NS\n"; !strings.HasSuffix(s.plain(got.errOut), want) {
		t.Errorf("%q is missing in %s", want, got.errOut)
	}
}

// What became of a plan is told apart.
func TestRunsOfPlans(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	for i, reason := range []string{v1alpha1.ReasonCompleted, v1alpha1.ReasonApproved, v1alpha1.ReasonRejected, v1alpha1.ReasonExpired} {
		s.recordOf(c, time.Duration(i)*time.Hour, v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted, Reason: reason})
	}
	got := s.call(t.Context(), nil, "runs", c.Name)
	for _, want := range []string{"Completed   ", "Completed: Approved", "Completed: Rejected", "Completed: Expired"} {
		if !strings.Contains(s.plain(got.out), want) {
			t.Errorf("%q is missing in %s", want, got.out)
		}
	}
}

func TestRunWait(t *testing.T) {
	failed := v1alpha1.ObjectOutcome{APIVersion: "v1", Kind: "ConfigMap", Namespace: "x", Name: "b", Outcome: v1alpha1.OutcomeFailed, Reason: "a webhook said no", Message: "unused"}
	const table = "NAMESPACE   KIND   NAME   OUTCOME   WHY\nx   ConfigMap   a   Deleted   unused\n"
	tests := map[string]struct {
		steps       []func(*operator)
		code        int
		out, errOut string
	}{
		"it succeeds": {
			[]func(*operator){begin, end(v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "1 of 2 objects matched; 1 deleted.", deletedObject)},
			codes.ExitDone, table,
			"run unused-NS-SECONDS ended after 1.2s: 1 of 2 objects matched; 1 deleted.\n",
		},
		"it ends before anybody looks": {
			[]func(*operator){end(v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "Done.", deletedObject)},
			codes.ExitDone, table,
			"run unused-NS-SECONDS ended after 1.2s: Done.\n",
		},
		"its record is pruned": {
			[]func(*operator){begin, endStatus(v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "Done.", deletedObject)},
			codes.ExitDone, table,
			"run unused-NS-SECONDS ended: Done.\n",
		},
		"nothing matched": {
			[]func(*operator){begin, end(v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "0 of 2 objects matched.")},
			codes.ExitDone, "",
			"run unused-NS-SECONDS ended after 1.2s: 0 of 2 objects matched.\n",
		},
		"it fails in part": {
			[]func(*operator){begin, end(v1alpha1.RunFailed, v1alpha1.ReasonPartiallyFailed, "2 of 2 objects matched; 1 deleted, 1 failed.", deletedObject, failed)},
			codes.ExitPartial,
			"NAMESPACE   KIND   NAME   OUTCOME   WHY\nx   ConfigMap   b   Failed   a webhook said no\nx   ConfigMap   a   Deleted   unused\n",
			"error: run unused-NS-SECONDS ended after 1.2s: PartiallyFailed: 2 of 2 objects matched; 1 deleted, 1 failed.\nhint: to see each object: kubectl cleaner runs unused-NS-SECONDS   [E-RUN-004]\n",
		},
		"its view is not complete": {
			[]func(*operator){begin, end(v1alpha1.RunFailed, v1alpha1.ReasonViewIncomplete, "Nothing was touched.")},
			codes.ExitPartial, "",
			"error: run unused-NS-SECONDS ended after 1.2s: ViewIncomplete: Nothing was touched.\nhint: to see each object: kubectl cleaner runs unused-NS-SECONDS   [E-RUN-004]\n",
		},
		"it exceeds a limit": {
			[]func(*operator){begin, endStatus(v1alpha1.RunFailed, v1alpha1.ReasonLimitExceeded, "Nothing was touched.")},
			codes.ExitError, "",
			"error: run unused-NS-SECONDS ended: LimitExceeded: Nothing was touched.\nhint: to see each object: kubectl cleaner runs unused-NS-SECONDS   [E-RUN-004]\n",
		},
		"it is interrupted": {
			[]func(*operator){begin, end(v1alpha1.RunInterrupted, v1alpha1.ReasonFailed, "The run was stopped.")},
			codes.ExitError, "",
			"error: run unused-NS-SECONDS ended after 1.2s: Failed: The run was stopped.\nhint: the next run starts from the beginning. To start one now: kubectl cleaner run unused-NS   [E-RUN-004]\n",
		},
		"it does not begin": {
			[]func(*operator){func(o *operator) {
				o.status(func(c *v1alpha1.Cleaner) {
					c.Status.LastHandledRunRequest = c.Annotations[v1alpha1.RunRequestedAtAnnotation]
					meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
						Type: v1alpha1.ConditionRunSucceeded, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonFailed, Message: "The run that was asked for did not begin: why.",
					})
				})
			}},
			codes.ExitError, "",
			"error: cleaner \"unused-NS\" did not run: The run that was asked for did not begin: why.\nhint: see: kubectl describe cleaner unused-NS   [E-RUN-003]\n",
		},
		"the Cleaner is deleted": {
			[]func(*operator){begin, func(o *operator) { must(o.T, o.Delete(context.Background(), o.cleaner)) }},
			codes.ExitError, "",
			"error: cleaner \"unused-NS\" was deleted   [E-RUN-003]\n",
		},
		"the request is taken back": {
			[]func(*operator){func(o *operator) {
				o.cleaner.Annotations = nil
				must(o.T, o.Update(context.Background(), o.cleaner))
			}},
			codes.ExitError, "",
			"error: the request was taken back: cleaner \"unused-NS\" does not have the annotation apps.projectsveltos.io/run-requested-at any more   [E-RUN-003]\n",
		},
		"somebody else asks too": {
			[]func(*operator){func(o *operator) {
				o.cleaner.Annotations[v1alpha1.RunRequestedAtAnnotation] = "another"
				must(o.T, o.Update(context.Background(), o.cleaner))
			}, begin, end(v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "Done.")},
			codes.ExitDone, "",
			"run unused-NS-SECONDS ended after 1.2s: Done.\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			c := s.cleaner()
			s.answer(c, test.steps...)
			s.wants(s.call(t.Context(), nil, "run", c.Name, "--yes", "--wait", "--timeout", "60s"), test.code, test.out, asked+test.errOut)
		})
	}
}

// While a run is going on, the new one waits for it, and the result is not the old one's.
func TestRunWaitsForTheRunBefore(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	old := &operator{site: s, cleaner: c}
	old.status(func(c *v1alpha1.Cleaner) {
		c.Status.ActiveRun = &v1alpha1.ActiveRun{Name: "old-run", NominalTime: nominal, Trigger: v1alpha1.TriggerSchedule}
	})
	s.answer(c, func(o *operator) {
		o.status(func(c *v1alpha1.Cleaner) {
			c.Status.ActiveRun = nil
			c.Status.LastRun = &v1alpha1.LastRun{Name: "old-run", NominalTime: nominal, Trigger: v1alpha1.TriggerSchedule, Action: v1alpha1.ActionDelete}
		})
	}, begin, end(v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "Done."))
	s.wants(s.call(t.Context(), nil, "run", c.Name, "--yes", "--wait"), codes.ExitDone, "",
		asked+"note: the run old-run is active; the new one begins after it\nrun unused-NS-SECONDS ended after 1.2s: Done.\n")
}

// Without the right to watch, it asks now and then.
func TestRunWaitWithoutWatch(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	user := s.user(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}})
	var role rbacv1.ClusterRole
	must(t, s.Get(t.Context(), client.ObjectKey{Name: user}, &role))
	role.Rules[0].Verbs = []string{"get", "patch"}
	must(t, s.Update(t.Context(), &role))
	s.answer(c, begin, end(v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "Done.", deletedObject))
	var got session
	s.eventually(func(ctx context.Context) (bool, error) { // until the API server knows of the right
		got = s.call(ctx, nil, "run", c.Name, "--yes", "--wait", "--as", user)
		return !strings.Contains(got.errOut, "cannot patch"), nil
	})
	if got.code != codes.ExitDone || !strings.Contains(got.out, "Deleted") || !strings.Contains(s.plain(got.errOut), "note: the CleanerRun cannot be read, so only what status.lastRun holds is shown: ") {
		t.Errorf("%+v", got)
	}
}

func TestRunOfACleanerThatCannot(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	o := &operator{site: s, cleaner: c}
	o.status(func(c *v1alpha1.Cleaner) {
		meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonUnknownKind, Message: "resourceSelectors[0]: no such kind", ObservedGeneration: c.Generation,
		})
	})
	s.wants(s.call(t.Context(), nil, "run", c.Name, "--yes", "--wait"), codes.ExitError, "",
		"error: cleaner \"unused-NS\" cannot run: UnknownKind: resourceSelectors[0]: no such kind\nhint: no run was asked for; first correct the Cleaner: kubectl edit cleaner unused-NS   [E-RUN-001]\n")
	must(t, s.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	if c.Annotations[v1alpha1.RunRequestedAtAnnotation] != "" {
		t.Error("a run was asked for")
	}
	// What it says of an older generation does not count, and a suspended Cleaner runs.
	o.status(func(c *v1alpha1.Cleaner) {
		c.Status.Action, c.Status.ObservedGeneration = v1alpha1.ActionScan, c.Generation
		c.Status.Conditions[0].Reason = v1alpha1.ReasonSuspended
	})
	s.wants(s.call(t.Context(), nil, "run", c.Name, "--yes"), codes.ExitDone, "", "asked for a run of cleaner \"unused-NS\"; it only reports what matches, because the operator runs with --dry-run\n"+
		"hint: to see how it goes: kubectl get cleaner unused-NS -o wide --watch\n")
}

// TestRunWhileFieldsGetLost: to ask for a run is to write to the Cleaner, which makes the loss of its fields last.
func TestRunWhileFieldsGetLost(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	const path = "/openapi/v3/apis/apps.projectsveltos.io/v1alpha1"
	transport, err := rest.TransportFor(realCluster(t).Config)
	must(t, err)
	s.through(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != path {
			return true
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(realCluster(t).Config.Host, "/")+path, nil)
		must(t, err)
		request.Header.Set("Accept", "application/json")
		whole, err := (&http.Client{Transport: transport}).Do(request)
		must(t, err)
		defer func() { _ = whole.Body.Close() }()
		text, err := io.ReadAll(whole.Body)
		must(t, err)
		w.WriteHeader(whole.StatusCode)
		_, err = w.Write(bytes.ReplaceAll(text, []byte(`"minAgeSeconds"`), []byte(`"other"`)))
		must(t, err)
		return false
	})
	got := s.call(t.Context(), nil, "run", c.Name, "--yes")
	if got.code != codes.ExitError || !strings.Contains(got.errOut, "lack fields of this version of KubeCleaner: Cleaner.spec.resourcePolicySet.resourceSelectors[].minAgeSeconds") ||
		!strings.Contains(got.errOut, "no run was asked for") {
		t.Errorf("it exits with %d and says %q", got.code, got.errOut)
	}
	must(t, s.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	if c.Annotations[v1alpha1.RunRequestedAtAnnotation] != "" {
		t.Error("a run was asked for")
	}
	got = s.call(t.Context(), nil, "preview", c.Name)
	if got.code != codes.ExitDone || !strings.Contains(got.errOut, "note: a run would do nothing at present") || !strings.Contains(got.errOut, "resourceSelectors[].minAgeSeconds") {
		t.Errorf("preview exits with %d and says %q", got.code, got.errOut)
	}
}

// stepping makes a clock that goes on by itself as soon as somebody waits for it, and so fast that no test waits.
func stepping(t *testing.T, step time.Duration) *clocktesting.FakeClock {
	clk := clocktesting.NewFakeClock(time.Unix(1_700_000_000, 0))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				clk.Step(step)
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })
	return clk
}

// Without an operator, the user learns so after a while, and what becomes of his request when he goes.
func TestRunUnanswered(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	ctx, cancel := context.WithCancel(t.Context())
	var looks atomic.Int32
	edit := func(o *terminal.Options) {
		o.Clock = stepping(t, 20*time.Millisecond)
		o.Getenv = func(name string) string {
			if name == "NAMESPACE" && looks.Add(1) == 2 { // after the look for an operator, it is about to say so
				time.AfterFunc(100*time.Millisecond, cancel)
			}
			return ""
		}
	}
	got := s.call(ctx, edit, "run", c.Name, "--yes", "--wait", "--progress=none")
	s.wants(got, codes.ExitInterrupted, "", asked+
		"note: the operator has not seen the request yet; is it running? see: kubectl -n projectsveltos get deployments\n"+
		"note: the request stays, and the run begins as soon as the operator sees it; to follow it: kubectl get cleaner unused-NS -o wide --watch; to take it back: kubectl cleaner cancel unused-NS\nerror: interrupted\n")
	got = s.call(t.Context(), nil, "run", c.Name, "--yes", "--wait", "--timeout", "300ms")
	s.wants(got, codes.ExitError, "", asked+
		"error: the run did not end within 300ms (--timeout); the request stays, and the run begins as soon as the operator sees it\n"+
		"hint: to follow it: kubectl get cleaner unused-NS -o wide --watch; to take it back: kubectl cleaner cancel unused-NS   [E-RUN-002]\n")
}

func TestRunTimeoutWhileItGoesOn(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	s.answer(c, start)
	got := s.call(t.Context(), nil, "run", c.Name, "--yes", "--wait", "--timeout", "6s")
	s.wants(got, codes.ExitError, "", asked+"error: the run did not end within 6s (--timeout); the run unused-NS-SECONDS goes on\n"+
		"hint: to follow it: kubectl get cleanerrun unused-NS-SECONDS -o wide --watch; to stop it before its next object: kubectl cleaner cancel unused-NS-SECONDS   [E-RUN-005]\n")
}

// A run that waits for its turn has no record yet: the user is not told to look at one.
func TestRunTimeoutWhileItWaits(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	s.answer(c, begin)
	edit := func(o *terminal.Options) { o.Clock = stepping(t, 20*time.Millisecond) }
	got := s.call(t.Context(), edit, "run", c.Name, "--yes", "--wait", "--timeout", "5s", "--progress", "none")
	s.wants(got, codes.ExitError, "", asked+"error: the run did not end within 5s (--timeout); the run unused-NS-SECONDS has not begun yet, and begins without you when its turn comes\n"+
		"hint: to follow it: kubectl get cleaner unused-NS -o wide --watch; to keep it from beginning: kubectl cleaner cancel unused-NS-SECONDS   [E-RUN-005]\n")
}

func TestRunUsage(t *testing.T) {
	for line, want := range map[string]string{
		"run":                 "kubectl cleaner run: needs the name of one Cleaner, and was given 0",
		"run a b":             "kubectl cleaner run: needs the name of one Cleaner, and was given 2",
		"run a --timeout 0s":  "kubectl cleaner run: --timeout must be more than 0",
		"run a --progress=ab": `kubectl cleaner run: --progress "ab" cannot be read; write auto, plain, json or none`,
	} {
		got := call(t.Context(), t, "", nil, strings.Fields(line)...)
		if want = fmt.Sprintf("error: %s\nhint: run: kubectl cleaner run --help   [E-USE-001]\n", want); got.code != codes.ExitUsage || got.errOut != want {
			t.Errorf("%s: %d %s", line, got.code, got.errOut)
		}
	}
}
