// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// much is how many objects large touched, and protects how many more it left alone.
const much, protects = 3000, 1500

// large writes the record of a run with more objects than a CleanerRun has room for, without the objects themselves. It returns what
// became of them, by name.
func (s *site) large() (*v1alpha1.CleanerRun, map[string]v1alpha1.ObjectOutcome) {
	s.Helper()
	return s.recorded(much, protects)
}

// recorded is large for other numbers of objects.
func (s *site) recorded(much, protects int) (*v1alpha1.CleanerRun, map[string]v1alpha1.ObjectOutcome) {
	s.Helper()
	run, want, end := s.acting(much, protects)
	end()
	return run, want
}

// acting is recorded before the run has ended, and what ends it.
func (s *site) acting(much, protects int) (*v1alpha1.CleanerRun, map[string]v1alpha1.ObjectOutcome, func()) {
	s.Helper()
	ctx := s.Context()
	if err := s.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.DefaultOperatorNamespace}}); !apierrors.IsAlreadyExists(err) {
		must(s.T, err)
	}
	c := s.cleaner(func(c *v1alpha1.Cleaner) { c.Spec.Rollback = &v1alpha1.Rollback{Storage: v1alpha1.StorageNone} })
	book := journal.New(s.Client, cluster.DefaultOperatorNamespace, clocktesting.NewFakePassiveClock(nominal.Add(time.Second)))
	run, err := book.Begin(ctx, c, v1alpha1.CleanerRunSpec{Cleaner: c.Name, CleanerUID: c.UID, NominalTime: nominal, Trigger: v1alpha1.TriggerManual, Action: v1alpha1.ActionDelete})
	must(s.T, err)
	s.Cleanup(func() { _ = s.Delete(context.Background(), run) })
	want := map[string]v1alpha1.ObjectOutcome{}
	kind := object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Resource: "deployments", Namespaced: true}
	var victims []journal.Victim
	var planned, ended []stage.Outcome
	for i := range much + protects {
		name := fmt.Sprintf("object-%04d", i)
		candidate := stage.Candidate{Object: object.Object{Kind: kind, Namespace: "x", Name: name, UID: types.UID("uid-of-" + name), ResourceVersion: "1"}}
		candidate.Message = fmt.Sprintf("%d: %s", i, strings.Repeat("unused ", 50))
		outcome := stage.Outcome{Verdict: stage.Verdict{Candidate: candidate, Act: i < much}, Result: v1alpha1.OutcomeProtected, Detail: "it must stay"}
		if i < much {
			victims = append(victims, journal.Victim{Candidate: candidate})
			outcome.Result, outcome.Detail = v1alpha1.OutcomePlanned, ""
		}
		planned = append(planned, outcome)
		switch {
		case i >= much:
		case i%1000 == 7:
			outcome.Result, outcome.Detail = v1alpha1.OutcomeDenied, "a webhook said no"
		case i%1000 == 8:
			outcome.Result, outcome.Message = v1alpha1.OutcomeTerminating, "judged again"
		default:
			outcome.Result = v1alpha1.OutcomeDeleted
		}
		ended = append(ended, outcome)
		want[name] = v1alpha1.ObjectOutcome{
			APIVersion: "apps/v1", Kind: "Deployment", Namespace: "x", Name: name, UID: candidate.UID, Outcome: outcome.Result, Reason: outcome.Detail, Message: outcome.Message,
		}
	}
	ledger, err := book.Intend(ctx, c, run, int64(much+protects), planned, victims)
	must(s.T, err)
	for i := range much {
		must(s.T, ledger.Record(ctx, i, ended[i]))
	}
	must(s.T, ledger.Flush(ctx))
	return run, want, func() {
		journal.Describe(run, int64(much+protects), ended)
		book.End(run, v1alpha1.RunFailed, v1alpha1.ReasonPartiallyFailed, "Done.")
		must(s.T, book.Save(ctx, run, v1alpha1.RunExecuting))
	}
}

// A program gets all the objects that a run touched, however many they are.
func TestRunWithAllItsObjects(t *testing.T) {
	s := newSite(t)
	record, want := s.large()
	if len(record.Status.Objects) > 1500 || record.Status.ObjectsOmitted < 3000 {
		t.Fatalf("%d objects are listed, %d omitted: this proves nothing", len(record.Status.Objects), record.Status.ObjectsOmitted)
	}
	for _, name := range []string{record.Name, "cleanerrun/" + record.Name, "cleanerrun.apps.projectsveltos.io/" + record.Name} {
		for _, output := range []string{"json", "yaml"} {
			got := s.call(t.Context(), nil, "runs", name, "-o", output)
			var run v1alpha1.CleanerRun
			if err := yaml.Unmarshal([]byte(got.out), &run); err != nil || got.code != codes.ExitDone {
				t.Fatalf("%s -o %s: %v: exit code %d: %s", name, output, err, got.code, got.errOut)
			}
			seen := map[string]v1alpha1.ObjectOutcome{}
			for _, o := range run.Status.Objects {
				if _, twice := seen[o.Name]; twice {
					t.Errorf("%s is listed twice", o.Name)
				}
				if seen[o.Name] = o; o != want[o.Name] {
					t.Fatalf("%s -o %s (-want +got):\n%s", name, output, cmp.Diff(want[o.Name], o))
				}
			}
			for i := range much {
				if object := fmt.Sprintf("object-%04d", i); seen[object].Name == "" {
					t.Fatalf("%s -o %s does not list %s", name, output, object)
				}
			}
			left := int64(much + protects - len(seen))
			if run.Kind != "CleanerRun" || run.UID != record.UID || run.Status.ObjectsOmitted != left || cmp.Diff(record.Status.Tallies, run.Status.Tallies) != "" {
				t.Errorf("the record is %s %s with %d omitted, want %d, and the tallies %v", run.Kind, run.UID, run.Status.ObjectsOmitted, left, run.Status.Tallies)
			}
			if note := fmt.Sprintf("note: %s of %s are listed: all that the run was going to touch, ", terminal.Thousands(int64(len(seen))), terminal.Grouped(much+protects, "object")); !strings.HasPrefix(got.errOut, note) {
				t.Errorf("it says %q, want %q", got.errOut, note)
			}
		}
	}
	for output, want := range map[string]string{"table": record.Name, "name": "cleanerrun/" + record.Name} {
		if got := s.call(t.Context(), nil, "runs", record.Name, "-o", output); got.code != codes.ExitDone || !strings.Contains(got.out, want) {
			t.Errorf("-o %s: %+v", output, got)
		}
	}
}

// docs/reference/run-parts.md shows how other programs can read the parts.
func TestPartsAreAsDocumented(t *testing.T) {
	s := newSite(t)
	record, want := s.large()
	intent := record.Status.Intent
	part := func(stream string, n int) []byte {
		name, key := fmt.Sprintf("%s-%s-%s-%d", record.Name, intent.Attempt, stream, n), "part.gz"
		if n == 0 && intent.Bundled {
			name, key = fmt.Sprintf("%s-%s-bundle-0", record.Name, intent.Attempt), stream+".gz"
		}
		var secret corev1.Secret
		must(t, s.Get(t.Context(), client.ObjectKey{Namespace: intent.Namespace, Name: name}, &secret))
		if secret.Type != "apps.projectsveltos.io/cleaner-run-part" || secret.Labels["apps.projectsveltos.io/run-uid"] != string(record.UID) {
			t.Errorf("Secret %s is of type %s, with the labels %v", name, secret.Type, secret.Labels)
		}
		return secret.Data[key]
	}
	lines := func(data []byte) *json.Decoder {
		zip, err := gzip.NewReader(bytes.NewReader(data))
		must(t, err)
		return json.NewDecoder(zip)
	}
	var all []byte
	head := ""
	for n := range int(intent.Parts) {
		data := part("intent", n)
		head = fmt.Sprintf("%x", sha256.Sum256(append(fmt.Appendf(nil, "%s\n%s\nintent\n%d\n", head, record.UID, n), data...)))
		all = append(all, data...)
	}
	if head != intent.Head {
		t.Errorf("the hash is %s, status.intent.head %s", head, intent.Head)
	}
	type line struct {
		Group, Version, Kind, Resource, Namespace, Name, UID, ResourceVersion, Message string

		I               int
		Outcome, Reason string
	}
	var victims []line
	for decoder := lines(all); decoder.More(); {
		victims = append(victims, line{})
		must(t, decoder.Decode(&victims[len(victims)-1]))
	}
	if len(victims) != much {
		t.Fatalf("the intent has %d objects", len(victims))
	}
	told := 0
	for n := range much / 500 {
		for decoder := lines(part("outcomes", n)); decoder.More(); told++ {
			var l line
			must(t, decoder.Decode(&l))
			victim := victims[l.I]
			if w := want[victim.Name]; l.I/500 != n || l.Outcome != string(w.Outcome) || l.Reason != w.Reason || len(l.Message) > 256 || victim.UID != string(w.UID) || victim.Group != "apps" {
				t.Fatalf("part %d of the outcomes has %+v for %+v, want %+v", n, l, victim, w)
			}
		}
	}
	if told != much {
		t.Errorf("the outcomes are of %d objects", told)
	}
}

// While a run acts, its record only counts what it was going to touch: what it did by now is told.
func TestRunWithItsObjectsSoFar(t *testing.T) {
	for name, numbers := range map[string][2]int{"many objects": {much, protects}, "as many as the record has room for": {20, 2}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			record, want, _ := s.acting(numbers[0], numbers[1])
			got := s.call(t.Context(), nil, "runs", record.Name, "-o", "json")
			var run v1alpha1.CleanerRun
			must(t, json.Unmarshal([]byte(got.out), &run))
			for _, o := range run.Status.Objects {
				if w := want[o.Name]; o.Outcome != w.Outcome {
					t.Fatalf("%s is %s, want %s", o.Name, o.Outcome, w.Outcome)
				}
			}
			if n := len(run.Status.Objects); n < min(numbers[0]+numbers[1], numbers[0]+20) {
				t.Errorf("%d objects are listed", n)
			}
			must(t, s.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace(cluster.DefaultOperatorNamespace), client.MatchingLabels{v1alpha1.RunLabel: string(record.UID)}))
			if got = s.call(t.Context(), nil, "runs", record.Name, "-o", "json"); got.code != codes.ExitPartial || !strings.Contains(got.errOut, " of run "+record.Name+" cannot be ") {
				t.Errorf("without its parts: exit code %d: %s", got.code, got.errOut)
			}
		})
	}
}

// Who may not read the rest, or finds it dropped, gets the record, and learns that it is not all.
func TestRunWithoutAllItsObjects(t *testing.T) {
	s := newSite(t)
	record, _ := s.large()
	user := s.user(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}})
	var role rbacv1.ClusterRole
	must(t, s.Get(t.Context(), client.ObjectKey{Name: user}, &role))
	role.Rules[0].Resources = append(role.Rules[0].Resources, "cleanerruns")
	must(t, s.Update(t.Context(), &role))
	var got session
	s.eventually(func(ctx context.Context) (bool, error) { // until the API server knows of the right
		got = s.call(ctx, nil, "runs", record.Name, "-o", "json", "--as", user)
		return !strings.Contains(got.errOut, "cleanerruns"), nil
	})
	wants := func(text, hint string) {
		t.Helper()
		var run v1alpha1.CleanerRun
		if err := json.Unmarshal([]byte(got.out), &run); err != nil || len(run.Status.Objects) != len(record.Status.Objects) || run.Status.ObjectsOmitted != record.Status.ObjectsOmitted {
			t.Errorf("%v: it lists %d objects", err, len(run.Status.Objects))
		}
		begin := fmt.Sprintf("error: %s objects of run %s cannot be listed: ", terminal.Thousands(record.Status.ObjectsOmitted), record.Name)
		if got.code != codes.ExitPartial || !strings.HasPrefix(got.errOut, begin) || !strings.Contains(got.errOut, text) || !strings.HasSuffix(got.errOut, "\nhint: "+hint+"   [E-RUN-007]\n") {
			t.Errorf("exit code %d: %s", got.code, got.errOut)
		}
	}
	wants("is forbidden: ", "they are Secrets in namespace projectsveltos, and you need the right to get them: the Role kubecleaner-cleaner-restore-role (your installation may have another name than kubecleaner); an administrator can give it to you: "+
		"kubectl -n projectsveltos create rolebinding restore --role=kubecleaner-cleaner-restore-role --user=YOU")

	must(t, s.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace(cluster.DefaultOperatorNamespace), client.MatchingLabels{v1alpha1.RunLabel: string(record.UID)}))
	got = s.call(t.Context(), nil, "runs", record.Name, "-o", "json")
	wants("it is not there", "they are kept no longer than the run's copies; status.tallies counts them")
}
