// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// words are all the words for what becomes of an object, as the API package has them.
func words(t *testing.T) []v1alpha1.OutcomeResult {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "api", "v1alpha1", "outcome.go"), nil, 0)
	must(t, err)
	var all []v1alpha1.OutcomeResult
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Outcome") {
			return true
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
			text, err := strconv.Unquote(literal.Value)
			must(t, err)
			all = append(all, v1alpha1.OutcomeResult(text))
		}
		return true
	})
	if len(all) < 19 {
		t.Fatalf("only %d words were found", len(all))
	}
	return all
}

// notInTheEnd are the words that no object has, of those that match, after a Delete or a Transform.
var notInTheEnd = []v1alpha1.OutcomeResult{v1alpha1.OutcomePlanned, v1alpha1.OutcomeMatched, v1alpha1.OutcomeDryRun}

// Every word is explained, with what it counts as, and counted so.
func TestEveryWordIsExplainedAndCounted(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "outcomes.md"))
	must(t, err)
	for _, word := range words(t) {
		row := regexp.MustCompile("(?m)^\\| `" + string(word) + "` \\| ([^|]*) \\|").FindSubmatch(raw)
		if row == nil {
			t.Errorf("docs/reference/outcomes.md has no row on %s", word)
			continue
		}
		for _, action := range []v1alpha1.Action{v1alpha1.ActionDelete, v1alpha1.ActionTransform} {
			said, of, _ := strings.Cut(string(row[1]), "; ")
			if other, found := strings.CutSuffix(of, " in a Transform"); found && action == v1alpha1.ActionTransform {
				said = other
			}
			want := map[string]v1alpha1.RunCounts{
				"acted": {Considered: 1, Matched: 1, Acted: 1}, "skipped": {Considered: 1, Matched: 1, Skipped: 1}, "failed": {Considered: 1, Matched: 1, Failed: 1},
				"failed, but not matched": {Considered: 1, Failed: 1}, "skipped, but not matched": {Considered: 1, Skipped: 1}, "matched": {Considered: 1, Matched: 1},
			}
			run := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: action}}
			journal.Describe(run, 1, []stage.Outcome{{Result: word}})
			if got, known := want[said]; !known || run.Status.RunCounts != got {
				t.Errorf("%s in a %s counts as %+v; docs/reference/outcomes.md says %q", word, action, run.Status.RunCounts, said)
			}
		}
	}
}

// F23: whatever becomes of the objects, the counts add up; also of a run that was cut off and taken over.
func TestCountsAddUp(t *testing.T) {
	t.Parallel()
	all := words(t)
	last := slices.DeleteFunc(slices.Clone(all), func(r v1alpha1.OutcomeResult) bool { return slices.Contains(notInTheEnd, r) })
	random := rand.New(rand.NewPCG(4, 7))
	for range 5000 {
		run := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: []v1alpha1.Action{v1alpha1.ActionDelete, v1alpha1.ActionTransform}[random.IntN(2)]}}
		outcomes := make([]stage.Outcome, random.IntN(40))
		var left, planned, victims []stage.Outcome
		var notJudged int64
		for i := range outcomes {
			outcomes[i].UID = types.UID(fmt.Sprint(i))
			if random.IntN(2) == 0 { // it was planned, and then became something
				outcomes[i].Result = v1alpha1.OutcomePlanned
				planned = append(planned, outcomes[i])
				victim := outcomes[i]
				for victim.Result == v1alpha1.OutcomePlanned || !victim.Result.IsMatch() {
					victim.Result = last[random.IntN(len(last))]
				}
				victims = append(victims, victim)
				continue
			}
			outcomes[i].Result = last[random.IntN(len(last))]
			left = append(left, outcomes[i])
			if !outcomes[i].Result.IsMatch() {
				notJudged++
			}
		}
		journal.Describe(run, 100, left, slices.Values(planned)) // as the record of a run that acts
		journal.Settle(run, victims)
		c := run.Status.RunCounts
		if c.Acted+c.Skipped+c.Failed-notJudged != c.Matched || c.Matched != int64(len(outcomes))-notJudged || c.Considered != 100 {
			t.Fatalf("%d objects, %d of them not known to match, are counted as %+v", len(outcomes), notJudged, c)
		}
		for _, o := range run.Status.Objects {
			if o.Outcome == v1alpha1.OutcomePlanned {
				t.Fatalf("%s is still %s", o.UID, o.Outcome)
			}
		}
	}
}

// kubectl shows the phase, the counts, and why each object was left alone.
func TestKubectlShowsWhyObjectsWereLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", stale)
	b.configMap("held", stale, b.finalized)
	b.configMap("kept", stale, func(cm *corev1.ConfigMap) { cm.Annotations = map[string]string{v1alpha1.ProtectAnnotation: "true"} })
	b.configMap("edited", stale)
	b.configMap("refused", stale)
	b.denyDelete("refused", "the audit needs it")
	b.beforeFirst(http.MethodDelete, "/edited", func() { edit(b, b.named("edited"), func(cm *corev1.ConfigMap) { cm.Data["stale"] = "no" }) })
	run := b.run(b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale)))
	wantTable(t, kubectl(t, "", "get", "cleanerruns", run.Name),
		"NAME CLEANER ACTION PHASE REASON CONSIDERED MATCHED ACTED SKIPPED FAILED COPIES AGE",
		regexp.QuoteMeta(run.Name), regexp.QuoteMeta(run.Spec.Cleaner), "Delete", "Failed", "PartiallyFailed", "5", "5", "2", "2", "1", "4", `\d+s`)
	described := strings.Join(strings.Fields(kubectl(t, "", "describe", "cleanerrun", run.Name)), " ")
	for _, want := range []string{
		"Phase: Failed", "Matched: 5", "Acted: 2", "Skipped: 2", "Failed: 1",
		"Message: 5 of 5 objects matched; 1 deleted, 1 being deleted, 2 left alone, 1 denied. The first failure was on ConfigMap " + b.namespace + "/refused",
		`Name: kept Namespace: ` + b.namespace + ` Outcome: Protected Reason: it is annotated cleaner/protect: "true"`,
		"Outcome: Changed Reason: it changed since it was judged, and does not match any more",
		"Outcome: Denied Reason: ValidatingAdmissionPolicy 'deny-delete-" + b.namespace + "' with binding",
		"Outcome: Terminating Reason: finalizers hold it: integration.kubecleaner.dev/hold",
	} {
		if !strings.Contains(described, want) {
			t.Errorf("kubectl describe does not show %q:\n%s", want, described)
		}
	}
}
