// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// finds lets the first selector take only what was found.
func finds(typ v1alpha1.FindingType, edit ...func(*v1alpha1.FindingSelector)) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) {
		finding := &v1alpha1.FindingSelector{Type: typ}
		for _, e := range edit {
			e(finding)
		}
		c.Spec.ResourcePolicySet.ResourceSelectors[0].Finding = finding
	}
}

// deletesUnused deletes unused ConfigMaps.
func (b *bench) deletesUnused(edit ...func(*v1alpha1.Cleaner)) *v1alpha1.Cleaner {
	b.t.Helper()
	return b.cleaner(v1alpha1.ActionDelete, append([]func(*v1alpha1.Cleaner){finds(v1alpha1.FindingUnused), maxCount(10)}, edit...)...)
}

func holding(expression string) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) {
		selectors(c)[0].MatchConditions = []v1alpha1.MatchCondition{{Name: "c", Expression: expression, Message: "the condition"}}
	}
}

// TestFindingDeletesWhatIsUnused and nothing else, and calls it Deleted (kor#38, kor#520, kor#322, kor#412). The reason of the finding is the
// message, before those of conditions and scripts, which see the finding. The preview says the same.
func TestFindingDeletesWhatIsUnused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.configMap("used")
	b.configMap("unused")
	b.configMap("other")
	b.pod("web", "used")
	c := b.deletesUnused(holding(`finding.type == "Unused" && finding.confidence == "Likely" && timestamp(finding.since) <= now && object.metadata.name != "other"`),
		evaluate(`function evaluate() return {matching = finding.type == "Unused", message = "the script: " .. finding.confidence} end`))
	preview, err := b.runner.Preview(t.Context(), c, selector.Observer{})
	must(t, err)
	if preview.Incomplete != nil || len(preview.Items) != 1 || preview.Items[0].Name != "unused" || preview.Items[0].Result != v1alpha1.OutcomePlanned {
		t.Fatalf("the preview is %+v", preview)
	}
	run := b.run(c)
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 3 objects matched; 1 deleted.")
	b.wantNames("other", "used")
	wantOutcome(t, run, "unused", v1alpha1.OutcomeDeleted)
	wantTexts(t, "the message", messagesOf(run)["unused"], "kinds names it; the condition; the script: Likely")
}

// TestFindingAfterItsOwnRun: that a Cleaner names in its status what it found makes nobody use it.
func TestFindingAfterItsOwnRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.secret("left-over")
	c := b.cleaner(v1alpha1.ActionScan, selecting(kind("", "v1", "Secret", b.namespace)), finds(v1alpha1.FindingUnused))
	const found = "1 of 1 object matched."
	first := b.run(c)
	wantRun(t, first, v1alpha1.ReasonCompleted, found)
	c.Status.LastRun = &v1alpha1.LastRun{
		Name: first.Name, NominalTime: first.Spec.NominalTime, Trigger: first.Spec.Trigger, Action: first.Spec.Action,
		Matches: first.Status.Objects,
	}
	must(t, b.live.Status().Update(t.Context(), c, client.FieldOwner(v1alpha1.StatusManager)))
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, found)
}

// TestFindingIsDecidedTwice: a Pod that starts after the intent was written uses its ConfigMap.
func TestFindingIsDecidedTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.configMap("late")
	b.configMap("unused")
	c := b.deletesUnused()
	b.beforeFirst(http.MethodPost, "/secrets", func() { b.pod("web", "late") }) // the copies, with the intent
	run := b.run(c)
	wantRun(t, run, v1alpha1.ReasonCompleted, "2 of 2 objects matched; 1 deleted, 1 left alone.")
	wantOutcome(t, run, "late", v1alpha1.OutcomeChanged, "before it acted, the run read everything again, and then the object was not Unused any more")
	b.wantNames("late")
}

// TestConditionOfAFindingIsAskedTwice: a script that begins to name the object makes the finding Weak, and the condition
// does not take those.
func TestConditionOfAFindingIsAskedTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.configMap("late-name")
	b.configMap("unused")
	c := b.deletesUnused(holding(`finding.confidence != "Weak"`), func(c *v1alpha1.Cleaner) {
		selectors(c)[0].Finding.MinConfidence = v1alpha1.ConfidenceWeak
	})
	b.beforeFirst(http.MethodPost, "/secrets", func() {
		b.configMap("naming", func(cm *corev1.ConfigMap) {
			cm.Labels, cm.Data = nil, map[string]string{"script": "kubectl get cm late-name"}
		})
	})
	run := b.run(c)
	wantOutcome(t, run, "late-name", v1alpha1.OutcomeChanged, "before it acted, the run read everything again, and then the object was Unused for another reason, or with another confidence")
	wantOutcome(t, run, "unused", v1alpha1.OutcomeDeleted)
	b.wantNames("late-name", "naming")
}

// TestFindingIsReadAgainAfterAMinute: acting pauses when the second reading is too old for the next object.
func TestFindingIsReadAgainAfterAMinute(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.configMaps(b.namespace, "old", 2*inHand, labelled)
	c := b.deletesUnused(maxCount(100))
	const late = "old-9" // the last one; the first inHand objects are under way, and wait for each other
	var once sync.Once
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodDelete {
			once.Do(func() {
				b.pod("web", late)
				b.clock.Step(61 * time.Second)
			})
		}
		return nil, nil
	})
	run := b.run(c)
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 2 * inHand, Matched: 2 * inHand, Acted: 2*inHand - 1, Skipped: 1})
	wantOutcome(t, run, late, v1alpha1.OutcomeChanged, "the object was not Unused any more")
	b.wantNames(late)
}

// TestFindingThatCannotBeReadAgain ends the run before the next object.
func TestFindingThatCannotBeReadAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("unused")
	c := b.deletesUnused()
	lists := 0
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/"+b.namespace+"/pods") {
			if lists++; lists > 1 {
				return answer(r, http.StatusInternalServerError, []byte(`{"kind":"Status","code":500,"message":"not today"}`)), nil
			}
		}
		return nil, nil
	})
	run := b.run(c)
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, "reading everything a second time: looking for findings: ")
	wantOutcome(t, run, "unused", v1alpha1.OutcomeNotActed)
	b.wantNames("unused")
}

// labelled makes the Cleaners of the tests select it.
func labelled(cm *corev1.ConfigMap) { cm.Labels = map[string]string{"test": "x"} }

// TestFindingThatIsUnknown is reported, is never acted on, and does not stop the others.
func TestFindingThatIsUnknown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("perhaps")
	b.configMap("plain", func(cm *corev1.ConfigMap) { cm.Labels = map[string]string{"plain": "x"} })
	account := b.account(may("configmaps", "list", "get", "delete"), may("pods", "list"))
	c := b.deletesUnused(account, func(c *v1alpha1.Cleaner) {
		plain := kind("", "v1", "ConfigMap", b.namespace)
		plain.LabelFilters = has("plain")
		c.Spec.ResourcePolicySet.ResourceSelectors = append(selectors(c), plain)
	})
	run := b.run(c)
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 2 objects matched; 1 deleted, 1 left alone.",
		" Left alone as Unknown, because something that could use them could not be read: 1 object; for example listing ", "is forbidden: ", "Grant ServiceAccount "+b.namespace+"/cleaner the right: ")
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 2, Matched: 1, Acted: 1, Skipped: 1})
	wantOutcome(t, run, "perhaps", v1alpha1.OutcomeUnknown, "no user found in ", "; not readable: ClusterRole.rbac.authorization.k8s.io, ", " more")
	wantOutcome(t, run, "plain", v1alpha1.OutcomeDeleted)
	b.wantNames("perhaps")
}

// TestFindingForSeconds waits until an object was found so in each of three runs, and for as long, however old it is (janitor#43). A run that
// does not find it so begins anew, also where a condition asks since when.
func TestFindingForSeconds(t *testing.T) {
	t.Parallel()
	const hour = 3600
	for name, test := range map[string]struct {
		forSeconds int64
		condition  string
		// steps are the seconds between the runs, and used is in which of them a Pod uses it.
		steps []int64
		used  int
		// acts is the run that deletes it. 0 means none.
		acts int
	}{
		"long enough at the third":   {hour, "true", []int64{hour, hour, hour}, 0, 3},
		"long before three":          {hour, "true", []int64{10 * hour, 10 * hour}, 0, 0},
		"three runs before long":     {hour, "true", []int64{600, 600, 600, 600, 600, 1800, 1800}, 0, 6},
		"used in between":            {hour, "true", []int64{hour, hour, hour, hour, hour, hour}, 2, 5},
		"a condition on since":       {0, "now - timestamp(finding.since) >= duration('2h')", []int64{hour, hour, hour}, 0, 3},
		"since, and used in between": {0, "now - timestamp(finding.since) >= duration('2h')", []int64{hour, hour, hour, hour, hour}, 2, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.serviceAccount()
			b.configMap("unused")
			c := b.deletesUnused(finds(v1alpha1.FindingUnused, func(f *v1alpha1.FindingSelector) { f.ForSeconds = &test.forSeconds }), holding(test.condition))
			for i, step := range test.steps {
				if i+1 == test.used {
					b.pod("web", "unused")
				}
				b.clock.Step(time.Duration(step-1) * time.Second)
				run := b.run(c)
				wantRun(t, run, v1alpha1.ReasonCompleted)
				if gone := !b.exists("unused"); gone != (i+1 == test.acts) {
					t.Fatalf("after run %d it is gone: %t: %s", i+1, gone, run.Status.Message)
				}
				if i+1 == test.used {
					pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "web"}}
					must(t, b.user.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
				}
				if i+1 == test.acts {
					break
				}
				b.reconcile(c)
			}
		})
	}
}

// TestFindingOfWhatIsManaged is protected, unless the selector takes that, too. A Scan reports it with the mark.
func TestFindingOfWhatIsManaged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("chart", func(cm *corev1.ConfigMap) {
		cm.Annotations = map[string]string{"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": b.namespace}
	})
	wantOutcome(t, b.run(b.cleaner(v1alpha1.ActionScan, finds(v1alpha1.FindingUnused))), "chart", v1alpha1.OutcomeMatched, "protected: it is managed by Helm release "+b.namespace+"/web")
	wantOutcome(t, b.run(b.deletesUnused()), "chart", v1alpha1.OutcomeProtected, "it is managed by Helm release "+b.namespace+"/web (finding.includeManaged)")
	run := b.run(b.deletesUnused(finds(v1alpha1.FindingUnused, func(f *v1alpha1.FindingSelector) { f.IncludeManaged = ptr.To(true) })))
	wantOutcome(t, run, "chart", v1alpha1.OutcomeDeleted)
}

// TestFindingsThatAreNone: a type that the kind does not have, and one that may not be acted on, are said at once.
func TestFindingsThatAreNone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		typ    v1alpha1.FindingType
		action v1alpha1.Action
		want   string
	}{
		"not of the kind":    {v1alpha1.FindingUnhealthy, v1alpha1.ActionScan, "resourceSelectors[0].finding.type: kind ConfigMap has no finding Unhealthy; it has Cascading, "},
		"not to be acted on": {v1alpha1.FindingCascading, v1alpha1.ActionDelete, "resourceSelectors[0].finding.type: a Cleaner with the finding Cascading may only report ConfigMap objects: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMap("unused")
			c := b.cleaner(test.action, finds(test.typ), maxCount(3))
			wantCondition(t, b.reconcile(c), v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidExpression, test.want)
			wantRun(t, b.run(c), v1alpha1.ReasonFailed, "The Cleaner cannot run, nothing was touched: "+test.want)
			b.wantNames("unused")
		})
	}
}

// TestRecoveryLooksForFindingsAgain: what was unused may be used when the next operator goes on with the run.
func TestRecoveryLooksForFindingsAgain(t *testing.T) {
	t.Parallel()
	l, next := cutOffRun(t, 3, http.MethodDelete, finds(v1alpha1.FindingUnused), maxCount(10), func(c *v1alpha1.Cleaner) { selectors(c)[0].LabelFilters = nil })
	l.serviceAccount()
	l.pod("web", "old-1")
	record := next.goOn(l.first().Add(time.Minute))
	wantOutcome(t, record, "old-0", v1alpha1.OutcomeDeleted)
	wantOutcome(t, record, "old-1", v1alpha1.OutcomeChanged, "the object was not Unused any more")
	l.wantNames("old-1")
}

// TestRecoveryAsksTheConditionsOfFindingsAgain: nobody knows what the run before knew of the finding.
func TestRecoveryAsksTheConditionsOfFindingsAgain(t *testing.T) {
	t.Parallel()
	t.Run("one selector", func(t *testing.T) {
		recoveryAsksTheConditions(t, "the object did not match any more", func(*v1alpha1.Cleaner) {})
	})
	t.Run("and one that waits", func(t *testing.T) {
		recoveryAsksTheConditions(t, "another selector matched the object", func(c *v1alpha1.Cleaner) {
			waiting := *selectors(c)[0].DeepCopy()
			waiting.MatchConditions, waiting.Finding.ForSeconds = nil, ptr.To[int64](90*24*3600)
			c.Spec.ResourcePolicySet.ResourceSelectors = append(c.Spec.ResourcePolicySet.ResourceSelectors, waiting)
		})
	})
}

func recoveryAsksTheConditions(t *testing.T, want string, edit func(*v1alpha1.Cleaner)) {
	t.Helper()
	t.Parallel()
	l, next := cutOffRun(t, 3, http.MethodDelete, finds(v1alpha1.FindingUnused), maxCount(10), holding(`finding.confidence != "Weak"`), func(c *v1alpha1.Cleaner) {
		selectors(c)[0].LabelFilters, selectors(c)[0].Finding.MinConfidence = nil, v1alpha1.ConfidenceWeak
	}, edit)
	l.configMap("naming", func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"script": "kubectl get cm old-1"} })
	record := next.goOn(l.first().Add(time.Minute))
	wantOutcome(t, record, "old-0", v1alpha1.OutcomeDeleted)
	wantOutcome(t, record, "old-1", v1alpha1.OutcomeChanged, want)
	l.wantNames("naming", "old-1")
}

// TestFindingAndAnAggregatedScript go together: the script has only what was found, and all is decided twice.
func TestFindingAndAnAggregatedScript(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.configMap("late")
	b.configMap("unused")
	b.configMap("used")
	b.pod("web", "used")
	b.beforeFirst(http.MethodPost, "/secrets", func() { b.pod("new", "late") })
	run := b.run(b.deletesUnused(aggregated(`function evaluate()
  local all = {}
  for _, r in ipairs(resources) do table.insert(all, {resource = r}) end
  return {resources = all}
end`)))
	wantOutcome(t, run, "late", v1alpha1.OutcomeChanged)
	b.wantNames("late", "used")
}

// TestSchemaWithoutFindings: an API server that drops the field would let everything match. Nothing runs.
func TestSchemaWithoutFindings(t *testing.T) {
	b := newBench(t) // it changes what all tests share, so that it does not run beside others
	b.configMap("used")
	c := b.deletesUnused()
	b.install(true, lacking(t, "finding"))
	nominal := b.clock.Now().Truncate(time.Second)
	b.wantNoRecord(run.Request{Cleaner: c.Name, Nominal: nominal, Trigger: v1alpha1.TriggerSchedule}, "Cleaner.spec.resourcePolicySet.resourceSelectors[].finding")
	b.wantNames("used")
}
