// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// noon is when the tests judge.
var noon = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// watching is a preview in the middle of its work.
func watching(t *testing.T, out, errOut *bytes.Buffer) (*live, *clocktesting.FakeClock) {
	t.Helper()
	clk := clocktesting.NewFakeClock(noon)
	vault := strings.NewReader(`{apiVersion: v1, kind: Namespace, metadata: {name: vault, annotations: {cleaner/protect: "true"}}}`)
	s := &terminal.Session{IOStreams: genericiooptions.IOStreams{In: vault, Out: out, ErrOut: errOut}, Options: terminal.Options{Clock: clk, Getenv: func(string) string { return "" }}}
	job := &job{options: &options{Session: s, output: "table", progress: terminal.ProgressNone, protectedNamespaces: "kube-system"}, now: cluster.Instant(noon)}
	d, err := dump.Load(s, []string{"-"})
	noError(t, err)
	job.api, err = cluster.New(s, d.Config())
	job.self = job.api
	noError(t, err)
	action := v1alpha1.ActionDelete
	cleaner := &v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{Action: &action}}
	job.rows = job.newTable([]*v1alpha1.Cleaner{cleaner})
	return job.watch(job.runner(), cleaner), clk
}

func candidateOf(t *testing.T, namespace, name string) stage.Candidate {
	t.Helper()
	kind := object.Kind{Resource: "configmaps", Namespaced: true}
	kind.Version, kind.Kind = "v1", "ConfigMap"
	o, err := object.New(kind, []byte(`{"metadata":{"namespace":"`+namespace+`","name":"`+name+`","uid":"`+name+`","resourceVersion":"1"}}`))
	noError(t, err)
	return stage.Candidate{Object: o, Message: "unused"}
}

func planned(c stage.Candidate, result v1alpha1.OutcomeResult) run.PreviewItem {
	return run.PreviewItem{Outcome: stage.Outcome{Verdict: stage.Verdict{Candidate: c}, Result: result}}
}

// Rows are shown while the reading goes on, with protection told already.
func TestPreviewStreams(t *testing.T) {
	var out, errOut bytes.Buffer
	l, clk := watching(t, &out, &errOut)
	a, b, c := candidateOf(t, "x", "a"), candidateOf(t, "vault", "b"), candidateOf(t, "kube-system", "c")
	l.candidate(t.Context(), a)
	if out.Len() > 0 {
		t.Errorf("a row was shown at once, before its columns could be known: %s", out.String())
	}
	clk.Step(time.Second)
	l.candidate(t.Context(), b)
	const first = "NAMESPACE   KIND        NAME   WOULD           WHY\n" +
		"x           ConfigMap   a      be deleted      unused\n" +
		"vault       ConfigMap   b      stay as it is   namespace vault is annotated cleaner/protect: \"true\" (it matches: unused)\n"
	if out.String() != first {
		t.Errorf("got\n%s", out.String())
	}
	l.candidate(t.Context(), c)
	l.candidate(t.Context(), a) // a list that began anew tells it again
	found := &run.Preview{Items: []run.PreviewItem{
		planned(a, v1alpha1.OutcomePlanned), planned(b, v1alpha1.OutcomeProtected), planned(c, v1alpha1.OutcomeProtected), planned(candidateOf(t, "x", "d"), v1alpha1.OutcomeNotEvaluated),
	}}
	l.job.reportRest(l, found)
	want := first + "kube-system   ConfigMap   c      stay as it is   namespace kube-system is protected (--protected-namespaces) (it matches: unused)\n" +
		"x             ConfigMap   d      not be judged   unused\n"
	if out.String() != want || errOut.Len() > 0 {
		t.Errorf("got\n%s%s", out.String(), errOut.String())
	}
}

// When the list was read anew and an object is gone, what was shown is taken back.
func TestPreviewTakesBack(t *testing.T) {
	var out, errOut bytes.Buffer
	l, clk := watching(t, &out, &errOut)
	a, b := candidateOf(t, "x", "a"), candidateOf(t, "x", "b")
	l.candidate(t.Context(), a)
	clk.Step(time.Second)
	l.candidate(t.Context(), b)
	l.job.reportRest(l, &run.Preview{Items: []run.PreviewItem{planned(b, v1alpha1.OutcomePlanned)}})
	const row = "x           ConfigMap   "
	if want := "be deleted   unused\n"; out.String() != "NAMESPACE   KIND        NAME   WOULD        WHY\n"+row+"a      "+want+row+"b      "+want+row+"b      "+want {
		t.Errorf("got\n%s", out.String())
	}
	if want := "note: the cluster changed while it was read; what follows is correct, and replaces the text above\n"; errOut.String() != want {
		t.Errorf("got %s", errOut.String())
	}
}

// When nothing was shown yet, there is nothing to take back.
func TestPreviewTakesNothingBack(t *testing.T) {
	var out, errOut bytes.Buffer
	l, _ := watching(t, &out, &errOut)
	l.candidate(t.Context(), candidateOf(t, "x", "a"))
	b := candidateOf(t, "x", "b")
	l.candidate(t.Context(), b)
	l.job.reportRest(l, &run.Preview{Items: []run.PreviewItem{planned(b, v1alpha1.OutcomePlanned)}})
	want := "NAMESPACE   KIND        NAME   WOULD        WHY\nx           ConfigMap   b      be deleted   unused\n"
	if out.String() != want || errOut.Len() > 0 {
		t.Errorf("got\n%s%s", out.String(), errOut.String())
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
