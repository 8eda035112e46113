// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/test/testenv/seed"
)

var previews = flag.Int("previews", 30, "how many scenes are previewed, and then cleaned")

// said is what kubectl cleaner preview -o json says of a Cleaner.
type said struct {
	Considered, Matched, WouldAct, LeftAlone, Failed int64
	Incomplete, LimitExceeded                        string
	Objects                                          []v1alpha1.ObjectOutcome
}

// TestPreviewSaysWhatTheRunDoes, object by object, in small clusters and for Cleaners that are made by chance. What kubectl cleaner test says
// of the same objects agrees.
func TestPreviewSaysWhatTheRunDoes(t *testing.T) {
	t.Parallel()
	seen := &seenOutcomes{by: map[string]int{}}
	t.Run("scenes", func(t *testing.T) {
		scenes := func(from uint64, many int) {
			for n := range many {
				t.Run(fmt.Sprintf("SEED=%d-%d", from, n), func(t *testing.T) {
					t.Parallel()
					newScene(t, from, uint64(n)).compare(seen)
				})
			}
		}
		scenes(seed.New(), *previews)
		for _, failed := range seed.Failed {
			if failed != seed.New() {
				scenes(failed, *previews/3)
			}
		}
	})
	t.Logf("with SEED=%d: %v", seed.New(), seen.by)
	for _, outcome := range []v1alpha1.OutcomeResult{v1alpha1.OutcomeDeleted, v1alpha1.OutcomeTransformed, v1alpha1.OutcomeProtected, v1alpha1.OutcomeNotEvaluated, v1alpha1.OutcomeNotActed, v1alpha1.OutcomeMatched} {
		if *previews >= 30 && seen.by[string(outcome)] == 0 {
			t.Errorf("no object was %s in any scene: they try too little", outcome)
		}
	}
	if *previews >= 30 && seen.by[triedAsFiles] < 5 {
		t.Errorf("the objects of %d scenes were tried as files: too few", seen.by[triedAsFiles])
	}
}

// triedAsFiles is what seenOutcomes counts scenes as whose objects were given to kubectl cleaner test.
const triedAsFiles = "tried as files"

// seenOutcomes counts what became of objects.
type seenOutcomes struct {
	mu sync.Mutex
	by map[string]int
}

// compare previews a Cleaner of the scene, runs it, and compares what was said, what was recorded and what took place.
func (s *scene) compare(seen *seenOutcomes) {
	protection := guard.Protection{Operator: operatorNamespace, Namespaces: []string{"kube-system"}}
	if s.protected != "" {
		protection.Namespaces = append(protection.Namespaces, s.protected)
	}
	s.runner.Read.Protection, s.runner.Judge.Protection, s.runner.Act.Protection = protection, protection, protection
	s.runner.Judge.MaxActions = s.maxActions
	c := s.cleaner(v1alpha1.ActionScan, s.choose)
	s.t.Cleanup(func() { s.show(c) })
	counts := c.Spec.OccurrenceThreshold != nil && *c.Spec.OccurrenceThreshold > 1
	if counts { // a preview does not count: in the second run, all has matched often enough
		s.run(c)
	}
	before := s.versions()
	said := s.preview(c)
	if got := s.versions(); fmt.Sprint(got) != fmt.Sprint(before) {
		s.t.Error("the preview changed something")
	}
	tried := s.tryFiles(c, said)
	record := s.run(c)
	s.wantSame(said, record, counts)
	s.wantTrue(record, before)
	seen.mu.Lock()
	defer seen.mu.Unlock()
	for _, o := range record.Status.Objects {
		seen.by[string(o.Outcome)]++
	}
	seen.by[record.Status.Reason]++
	if tried {
		seen.by[triedAsFiles]++
	}
}

// preview runs kubectl cleaner preview NAME -o json.
func (s *scene) preview(c *v1alpha1.Cleaner) said {
	s.t.Helper()
	var out, errOut bytes.Buffer
	options := terminal.Options{Scripts: sandbox.Config{Command: child}, Now: s.clock.Now, Getenv: func(string) string { return "" }}
	args := []string{"preview", c.Name, "-o", "json", "--kubeconfig", env.Kubeconfig, "--operator-namespace", operatorNamespace, "--protected-namespaces", "kube-system," + s.protected, "--max-actions-per-run", fmt.Sprint(s.maxActions)}
	code := cli.Execute(s.t.Context(), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, options, args)
	var document struct{ Cleaners []said }
	if err := json.Unmarshal(out.Bytes(), &document); err != nil || len(document.Cleaners) != 1 {
		s.t.Fatalf("the preview exited with %d, %v: %s", code, err, errOut.String())
	}
	result := document.Cleaners[0]
	if stops := result.Failed > 0 || result.Incomplete != ""; code != map[bool]int{true: codes.ExitPartial}[stops] {
		s.t.Errorf("the preview exited with %d: %s", code, errOut.String())
	}
	return result
}

// wantSame compares what was said with what was recorded. Of a run that counts, an incomplete view leaves out what has not matched often enough.
func (s *scene) wantSame(said said, record *v1alpha1.CleanerRun, counts bool) {
	s.t.Helper()
	recorded := map[types.UID]v1alpha1.ObjectOutcome{}
	for _, o := range record.Status.Objects {
		recorded[o.UID] = o
	}
	for _, o := range said.Objects {
		got, found := recorded[o.UID]
		delete(recorded, o.UID)
		switch {
		case !found && counts && said.Incomplete != "":
		case !found:
			s.t.Errorf("the preview says of %s that it would be %s (%s), and the record nothing", nameOf(o), o.Outcome, o.Reason)
		case !agrees(said, o, got):
			s.t.Errorf("the preview says of %s that it would be %s (%s), and the record that it is %s (%s)", nameOf(o), o.Outcome, o.Reason, got.Outcome, got.Reason)
		case o.Message != got.Message && got.Outcome != v1alpha1.OutcomeNotActed:
			s.t.Errorf("the message of %s is %q, and then %q", nameOf(o), o.Message, got.Message)
		}
	}
	for _, o := range recorded {
		s.t.Errorf("the record says of %s that it is %s (%s), and the preview nothing", nameOf(o), o.Outcome, o.Reason)
	}
	want := v1alpha1.RunCounts{Considered: said.Considered, Matched: said.Matched, Acted: said.WouldAct, Skipped: said.LeftAlone, Failed: said.Failed}
	if said.Incomplete == "" && said.LimitExceeded == "" && record.Status.RunCounts != want {
		s.t.Errorf("the preview counts %+v, and the record %+v", want, record.Status.RunCounts)
	}
	limited := record.Status.Reason == v1alpha1.ReasonLimitExceeded
	incomplete := record.Status.Reason == v1alpha1.ReasonViewIncomplete
	if limited != (said.LimitExceeded != "") || incomplete != (said.Incomplete != "") {
		s.t.Errorf("the preview says %q, %q, and the record %s", said.Incomplete, said.LimitExceeded, record.Status.Reason)
	}
}

// agrees reports whether what was said of an object is what became of it. Of a run that touches nothing, a preview also shows what a
// Transform would not do otherwise: nothing to change, or a fault.
func agrees(said said, would, is v1alpha1.ObjectOutcome) bool {
	switch {
	case would.Outcome == v1alpha1.OutcomePlanned:
		return is.Outcome == v1alpha1.OutcomeDeleted || is.Outcome == v1alpha1.OutcomeTerminating || is.Outcome == v1alpha1.OutcomeTransformed
	case is.Outcome == v1alpha1.OutcomeNotActed:
		return said.Incomplete != "" || said.LimitExceeded != ""
	}
	return would.Outcome == is.Outcome && would.Reason == is.Reason
}

// wantTrue compares what was recorded with what took place.
func (s *scene) wantTrue(record *v1alpha1.CleanerRun, before map[types.UID]string) {
	s.t.Helper()
	after, touched := s.versions(), map[types.UID]bool{}
	for _, o := range record.Status.Objects {
		switch o.Outcome {
		case v1alpha1.OutcomeDeleted, v1alpha1.OutcomeTransformed:
			touched[o.UID] = true
		case v1alpha1.OutcomeTerminating: // it may have been so before
			delete(before, o.UID)
		}
	}
	for uid, version := range before {
		if changed := after[uid] != version; changed != touched[uid] {
			s.t.Errorf("the object %s, at first %s, is %q then, and the record says that it was touched: %t", uid, version, after[uid], touched[uid])
		}
	}
}

// versions are the resourceVersions of all objects of the scene.
func (s *scene) versions() map[types.UID]string {
	s.t.Helper()
	found := map[types.UID]string{}
	for _, o := range s.listed() {
		found[o.GetUID()] = o.GetResourceVersion()
	}
	return found
}

// show logs the Cleaner and the objects of a scene that failed.
func (s *scene) show(c *v1alpha1.Cleaner) {
	if !s.t.Failed() {
		return
	}
	text, _ := yaml.Marshal(c.Spec) // it was stored
	s.t.Logf("--protected-namespaces=%s --max-actions-per-run=%d\n%s", s.protected, s.maxActions, text)
	for _, o := range s.objects {
		s.t.Logf("%T %s/%s labels %v annotations %v finalizers %v owners %v deleted %v", o, o.GetNamespace(), o.GetName(), o.GetLabels(), o.GetAnnotations(), o.GetFinalizers(), o.GetOwnerReferences(), o.GetDeletionTimestamp())
	}
}

func nameOf(o v1alpha1.ObjectOutcome) string { return o.Kind + " " + o.Namespace + "/" + o.Name }
