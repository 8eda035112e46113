// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// in makes the first selector select by namespaceSelector, beside what its namespace says.
func in(namespace, selector string) func(*v1alpha1.Cleaner) {
	return edited(func(s *v1alpha1.ResourceSelector) { s.Namespace, s.NamespaceSelector = namespace, selector })
}

// Upstream: namespaceSelector matching no namespace selects the whole cluster. Required: an empty match selects nothing.
// Test: label typo with Delete: zero lists outside, zero deletes.
func TestNamespaceSelectorMatchingNothingSelectsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("mine", stale)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, in("", "env=prdo")))
	wantRun(t, run, v1alpha1.ReasonCompleted, "0 of 0 objects matched; 0 deleted")
	wantCounts(t, run, v1alpha1.RunCounts{})
	if diff := cmp.Diff([]string{"/api/v1/namespaces"}, b.requests.paths("GET")); diff != "" {
		t.Fatalf("what was read besides the kind and the Cleaner (-want +got):\n%s", diff)
	}
	b.wantUntouched()
	b.wantNames("mine")
}

// namespaceSelector is united with namespace, duplicates are removed, terminating namespaces are skipped.
func TestNamespaceSelectorIsUnitedWithNamespace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	team := fmt.Sprintf("team-%d", serial.Add(1))
	labels := map[string]string{"team": team}
	labelled, ending := b.newNamespace(labels), b.newNamespace(labels)
	both := b.newNamespace(labels)
	for _, namespace := range []string{b.namespace, labelled, ending, both} {
		b.configMaps(namespace, "cm", 1)
	}
	must(t, b.user.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ending}}))
	tests := map[string]struct {
		namespace, selector string
		want                []string
	}{
		"a namespace besides":           {b.namespace, "team=" + team, []string{b.namespace, both, labelled}},
		"a namespace that is in both":   {both, "team=" + team, []string{both, labelled}},
		"the namespaceSelector alone":   {"", "team in (" + team + ")", []string{both, labelled}},
		"by name, with notin":           {"", "team=" + team + ",kubernetes.io/metadata.name notin (" + both + ")", []string{labelled}},
		"one namespace and no selector": {labelled, "", []string{labelled}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			run := b.run(b.cleaner(v1alpha1.ActionScan, in(test.namespace, test.selector)))
			wantRun(t, run, v1alpha1.ReasonCompleted)
			got := map[string]int{}
			for _, o := range run.Status.Objects {
				got[o.Namespace]++
			}
			want := map[string]int{}
			for _, namespace := range test.want {
				want[namespace] = 1
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("objects by namespace (-want +got):\n%s", diff)
			}
			wantCounts(t, run, v1alpha1.RunCounts{Considered: int64(len(want)), Matched: int64(len(want))})
		})
	}
}

// A namespaceSelector that is no label selector keeps the Cleaner from running, and the run from reading anything.
func TestNamespaceSelectorThatIsNone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("mine")
	c := b.cleaner(v1alpha1.ActionDelete, in("", "env==prod in"))
	wantCondition(t, b.reconcile(c), v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidExpression,
		`resourceSelectors[0]: namespaceSelector "env==prod in" is not a label selector such as "env=prod"`)
	run := b.run(c)
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, `namespaceSelector "env==prod in" is not a label selector`)
	b.wantUntouched()
}

// A blank selector would select every namespace: it is refused, also beside a namespace.
func TestBlankNamespaceSelectorSelectsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("mine")
	c := b.cleaner(v1alpha1.ActionDelete, in(b.namespace, " "))
	wantCondition(t, b.reconcile(c), v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidExpression, "it contains only spaces; to select every namespace, remove the field")
	wantRun(t, b.run(c), v1alpha1.ReasonViewIncomplete, "it contains only spaces")
	b.wantUntouched()
}

// Upstream: a cluster-wide list per namespace. Required: namespaced endpoints, or one list of all where there are many namespaces
// (TestManyNamespacesAreListedTogether). Test: request log of a run over a few.
func TestRunOverAFewNamespacesListsEachOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const few = 19
	team := fmt.Sprintf("team-%d", serial.Add(1))
	prefix := fmt.Sprintf("many-%d", serial.Add(1))
	b.together(few, func(i int) client.Object {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", prefix, i), Labels: map[string]string{"team": team}}}
	})
	b.together(few, func(i int) client.Object {
		cm := &corev1.ConfigMap{}
		cm.Namespace, cm.Name, cm.Labels = fmt.Sprintf("%s-%d", prefix, i), "cm", map[string]string{"test": "x"}
		return cm
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete, in("", "team="+team)))
	wantCounts(t, run, v1alpha1.RunCounts{Considered: few, Matched: few, Acted: few})
	lists := map[string]int{}
	for _, path := range b.requests.paths("GET") {
		if strings.HasSuffix(path, "/configmaps") {
			lists[path]++
		}
	}
	for i := range few {
		path := fmt.Sprintf("/api/v1/namespaces/%s-%d/configmaps", prefix, i)
		if lists[path] != 1 {
			t.Errorf("%s was listed %d times, want once", path, lists[path])
		}
		delete(lists, path)
	}
	if len(lists) > 0 {
		t.Errorf("these were listed too: %v", lists)
	}
	// By label, for protection, and once more after the intent; in a few pages each when other tests have left many.
	if n := b.requests.count("GET", "/namespaces"); n < 3 || n > 10 {
		t.Errorf("the namespaces were listed in %d requests, want 3 or a few more", n)
	}
}

// A run that is stopped before it has read everything touches nothing, and says so.
func TestRunStoppedWhileReadingTouchesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("mine")
	c := b.cleaner(v1alpha1.ActionDelete)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	b.beforeFirst("GET", "/configmaps", func() { cancel(errors.New("somebody stopped it")) })
	run := b.runWith(ctx, c)
	wantRun(t, run, v1alpha1.ReasonFailed, "The run was stopped: somebody stopped it")
	if run.Status.Phase != v1alpha1.RunInterrupted {
		t.Fatalf("the phase is %s", run.Status.Phase)
	}
	b.wantUntouched()
	b.wantNames("mine")
}

// TestNamespaceThatIsNotThere reads as an empty one: an aggregated script would take everything for unused.
func TestNamespaceThatIsNotThere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.configMap("used")
	b.pod("user", "used")
	absent := b.namespace + "x"
	both := selecting(kind("", "v1", "ConfigMap", b.namespace), kind("", "v1", "Pod", absent))
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionScan, both, aggregated(unusedConfigMaps))), v1alpha1.ReasonCompleted,
		"1 of 1 object matched. resourceSelectors[1]: there is no namespace "+absent+": correct it, or remove the selector.")
	run := b.run(b.cleaner(v1alpha1.ActionDelete, both, aggregated(unusedConfigMaps)))
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, "Nothing was touched, because the run could not read or judge everything: resourceSelectors[1]: there is no namespace "+absent+": correct it, or remove the selector")
	b.wantUntouched()
	run = b.run(b.cleaner(v1alpha1.ActionDelete, selecting(kind("", "v1", "ConfigMap", absent))))
	wantRun(t, run, v1alpha1.ReasonCompleted, "0 of 0 objects matched; 0 deleted. resourceSelectors[0]: there is no namespace "+absent+": correct it, or remove the selector.")
}

// TestNamespaceSelectorThatMatchesNothing hides the users of what an aggregated script chooses. That is no matter where it chooses nothing.
func TestNamespaceSelectorThatMatchesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.configMap("used")
	b.pod("user", "used")
	inNone := kind("", "v1", "Pod", "")
	inNone.NamespaceSelector = "kubernetes.io/metadata.name=" + b.namespace + "x"
	both := selecting(kind("", "v1", "ConfigMap", b.namespace), inNone)
	const words = "resourceSelectors[1].namespaceSelector matches no namespace"
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionScan, both, aggregated(unusedConfigMaps))), v1alpha1.ReasonCompleted, "1 of 1 object matched. "+words+".")
	run := b.run(b.cleaner(v1alpha1.ActionDelete, both, aggregated(unusedConfigMaps)))
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, "Nothing was touched, because the run could not read or judge everything: "+words)
	b.wantUntouched()
	run = b.run(b.cleaner(v1alpha1.ActionDelete, both, aggregated(`function evaluate() return {resources = {}} end`)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "0 of 1 object matched; 0 deleted. "+words+".")
}

// TestNamespaceThatCannotBeLookedFor is not taken for one that is there: nothing is touched, and a Scan says it.
func TestNamespaceThatCannotBeLookedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.configMap("used")
	other := b.newNamespace(nil)
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/namespaces/"+other) {
			return answer(r, http.StatusInternalServerError, []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":500}`)), nil
		}
		return nil, nil
	})
	both := selecting(kind("", "v1", "ConfigMap", b.namespace), kind("", "v1", "Pod", other))
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionDelete, both, aggregated(unusedConfigMaps))), v1alpha1.ReasonViewIncomplete,
		"resourceSelectors[1]: whether there is a namespace "+other+" could not be found out: ")
	b.wantUntouched()
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionScan, both, aggregated(unusedConfigMaps))), v1alpha1.ReasonCompleted,
		"resourceSelectors[1]: whether there is a namespace "+other+" could not be found out: ")
}
