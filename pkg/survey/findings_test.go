// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/mark"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

var secretKind = object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}}

// TestFound: what is said of a candidate that was found unused, managed, unknown, not surely enough, or not at all.
func TestFound(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	const unread = "nobody knows; not readable: Secret"
	for name, test := range map[string]struct {
		found                    *finding.Finding
		takesManaged             bool
		judged                   bool
		unknown, protected, lost string
	}{
		"unused":      {found: &finding.Finding{Reason: "unused"}, judged: true},
		"not found":   {lost: "before it acted, the run read everything again, and then the object was not Unused any more"},
		"not so sure": {found: &finding.Finding{Confidence: v1alpha1.ConfidenceWeak}, lost: "before it acted, the run read everything again, and then the object was not Unused any more"},
		"managed":     {found: &finding.Finding{Managed: "Helm"}, judged: true, protected: "it is managed by Helm (finding.includeManaged)"},
		"managed, and wanted": {
			found: &finding.Finding{Managed: "Helm"}, takesManaged: true, judged: true,
		},
		"protected": {
			found: &finding.Finding{Protected: "it is a hook", Managed: "Helm"}, takesManaged: true, judged: true, protected: "it is a hook",
		},
		"unknown": {
			found: &finding.Finding{Reason: "nobody knows", Unknown: []finding.Unread{{}, {Kind: secretKind.GroupKind(), Err: boom}}}, judged: true,
			unknown: unread, lost: "before it acted, the run read everything again, and then it was not known whether it is Unused: " + unread,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &v1alpha1.Cleaner{}
			asked := &v1alpha1.FindingSelector{Type: v1alpha1.FindingUnused, IncludeManaged: ptr.To(test.takesManaged)}
			c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Secret", Finding: asked}}
			var all []*finding.Finding
			if f := test.found; f != nil {
				f.UID, f.Type = "a", v1alpha1.FindingUnused
				if f.Confidence == "" {
					f.Confidence = v1alpha1.ConfidenceCertain
				}
				all = append(all, f)
			}
			f := newFindings(c, slices.Values(all), nil, time.Unix(0, 0))
			candidate := stage.Candidate{Object: object.Object{UID: "a"}, Selector: 1}
			if _, judged := f.Judge(1)(candidate.Object); judged != test.judged {
				t.Errorf("selected: %t", judged)
			}
			why, is := f.Unknown(candidate)
			if err := f.Unread(candidate); why != test.unknown || is != (why != "") || is != errors.Is(err, boom) {
				t.Errorf("unknown: %t %q %v, want %q", is, why, err, test.unknown)
			}
			if got := f.Protects(candidate); got != test.protected {
				t.Errorf("protected: %q, want %q", got, test.protected)
			}
			if got := f.Lost(candidate, nil); got != test.lost {
				t.Errorf("lost: %q, want %q", got, test.lost)
			}
			if got := f.Lost(candidate, f); got != test.lost {
				t.Errorf("lost since the same survey: %q, want %q", got, test.lost)
			}
			other := stage.Candidate{Object: candidate.Object} // of a selector that asks for no finding
			if _, is := f.Unknown(other); f.Judge(0) != nil || is || f.Unread(other) != nil || f.Protects(other)+f.Lost(other, nil) != "" {
				t.Error("something is said of an object of another selector")
			}
		})
	}
}

// TestLostByWhatIsSaid: where a condition or script asks what was found, it must be found in the same way again.
func TestLostByWhatIsSaid(t *testing.T) {
	t.Parallel()
	asks := []v1alpha1.MatchCondition{{Expression: `finding.confidence != "Weak"`}}
	of := func(selector v1alpha1.ResourceSelector, confidence v1alpha1.FindingConfidence, reason string) *Findings {
		c := &v1alpha1.Cleaner{}
		selector.Kind, selector.Finding = "Secret", &v1alpha1.FindingSelector{Type: v1alpha1.FindingUnused, MinConfidence: v1alpha1.ConfidenceWeak}
		c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{selector}
		found := &finding.Finding{UID: "a", Type: v1alpha1.FindingUnused, Confidence: confidence, Reason: reason}
		return newFindings(c, slices.Values([]*finding.Finding{found}), nil, time.Unix(0, 0))
	}
	for name, test := range map[string]struct {
		selector   v1alpha1.ResourceSelector
		confidence v1alpha1.FindingConfidence
		reason     string
		lost       bool
	}{
		"the same":                   {v1alpha1.ResourceSelector{MatchConditions: asks}, v1alpha1.ConfidenceLikely, "nobody names it", false},
		"another confidence":         {v1alpha1.ResourceSelector{MatchConditions: asks}, v1alpha1.ConfidenceWeak, "nobody names it", true},
		"another reason":             {v1alpha1.ResourceSelector{MatchConditions: asks}, v1alpha1.ConfidenceLikely, "it is odd", true},
		"another reason to a script": {v1alpha1.ResourceSelector{Evaluate: "x"}, v1alpha1.ConfidenceLikely, "it is odd", true},
		"nobody asks":                {v1alpha1.ResourceSelector{MatchConditions: []v1alpha1.MatchCondition{{Expression: "true"}}}, v1alpha1.ConfidenceWeak, "it is odd", false},
	} {
		first, now := of(test.selector, v1alpha1.ConfidenceLikely, "nobody names it"), of(test.selector, test.confidence, test.reason)
		if why := now.Lost(stage.Candidate{Object: object.Object{UID: "a"}}, first); (why != "") != test.lost {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestLostByProtection: what was free when it was decided on may be protected since. What was protected then is not lost.
func TestLostByProtection(t *testing.T) {
	t.Parallel()
	of := func(protected string) *Findings {
		c := &v1alpha1.Cleaner{}
		asked := &v1alpha1.FindingSelector{Type: v1alpha1.FindingUnhealthy}
		c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{Kind: "Pod", Finding: asked}}
		found := &finding.Finding{
			UID: "a", Type: v1alpha1.FindingUnhealthy, Confidence: v1alpha1.ConfidenceCertain, Protected: protected,
		}
		return newFindings(c, slices.Values([]*finding.Finding{found}), nil, time.Unix(0, 0))
	}
	const now = "it is a hook"
	for then, want := range map[string]string{
		"":               "before it acted, the run read everything again, and then the object was protected: " + now,
		"it is labelled": "",
	} {
		if why := of(now).Lost(stage.Candidate{Object: object.Object{UID: "a"}}, of(then)); why != want {
			t.Errorf("after %q: %q, want %q", then, why, want)
		}
	}
}

// TestAmong: of objects that are all that there are, those that nobody names are found.
func TestAmong(t *testing.T) {
	t.Parallel()
	c := &v1alpha1.Cleaner{}
	c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{Version: "v1", Kind: "Secret", Finding: &v1alpha1.FindingSelector{Type: v1alpha1.FindingUnused}}}
	of := func(kind, plural, name, text string) object.Object {
		return object.Object{
			Kind:      object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: kind}, Resource: plural, Namespaced: true},
			Namespace: "a", Name: name, UID: types.UID(name), Raw: []byte(`{"metadata":{"namespace":"a","name":"` + name + `","uid":"` + name + `"}` + text + `}`),
		}
	}
	used, unused := of("Secret", "secrets", "used", ""), of("Secret", "secrets", "unused", "")
	pod := of("Pod", "pods", "pod", `,"spec":{"volumes":[{"name":"v","secret":{"secretName":"used"}}]}`)
	found, err := Among(c, []object.Object{used, unused, pod}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []object.Object{used, unused} {
		if _, is := found(0)(o); is != (o.Name == "unused") {
			t.Errorf("%s is found: %t", o.Name, is)
		}
	}
}

// TestDialects: each selector reads the time marks of its own dialects.
func TestDialects(t *testing.T) {
	t.Parallel()
	over, later := mark.Mark{Dialect: "KubeJanitor", Ends: time.Unix(10, 0)}, mark.Mark{Dialect: "KubeCleaner", Ends: time.Unix(1000, 0)}
	odd := mark.Mark{Dialect: "Mayfly", Err: errors.New("odd")}
	for name, test := range map[string]struct {
		dialects       []v1alpha1.MarkDialect
		marks          []mark.Mark
		found, unknown bool
	}{
		"one keeps it":                {nil, []mark.Mark{over, later}, false, false},
		"that one is not asked for":   {[]v1alpha1.MarkDialect{v1alpha1.MarkKubeJanitor}, []mark.Mark{over, later}, true, false},
		"only that one is asked for":  {[]v1alpha1.MarkDialect{v1alpha1.MarkKubeCleaner}, []mark.Mark{over, later}, false, false},
		"one cannot be read":          {nil, []mark.Mark{over, odd}, true, true},
		"that one is not asked for, ": {[]v1alpha1.MarkDialect{v1alpha1.MarkKubeJanitor}, []mark.Mark{over, odd}, true, false},
	} {
		c := &v1alpha1.Cleaner{}
		asked := &v1alpha1.FindingSelector{Type: v1alpha1.FindingExpired, Dialects: test.dialects, ForSeconds: ptr.To[int64](1)}
		c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{Version: "v1", Kind: "Secret", Finding: asked}}
		if namesDialects(c) != (test.dialects != nil) {
			t.Errorf("%s: whether dialects are named: %t", name, namesDialects(c))
		}
		all := []*finding.Finding{{UID: "a", Type: v1alpha1.FindingExpired, Marks: test.marks}}
		f := newFindings(c, slices.Values(all), nil, time.Unix(100, 0))
		o := object.Object{UID: "a"}
		_, found := f.Judge(0)(o)
		_, unknown := f.Unknown(stage.Candidate{Object: o})
		if found != test.found || unknown != test.unknown {
			t.Errorf("%s: found %t, unknown %t", name, found, unknown)
		}
		counts := map[string]int64{}
		f.Count(counts)
		ended := f.Ended(newFindings(c, slices.Values(all), nil, time.Unix(100, 0)))
		if counted := len(counts) > 0; counted != (found && !unknown) || len(ended) > 0 {
			t.Errorf("%s: %d counts, and of what is as it was, these ended: %v", name, len(counts), ended)
		}
		f.onlyKnown = true
		if _, found := f.Judge(0)(o); found != (test.found && !test.unknown) {
			t.Errorf("%s: found %t, where only what is known counts", name, found)
		}
	}
}

// TestCascadingLooksForUsers: a Cleaner that asks only for Cascading Secrets looks for the unused accounts that name them.
func TestCascadingLooksForUsers(t *testing.T) {
	t.Parallel()
	account := object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}, Resource: "serviceaccounts", Namespaced: true}
	parse := func(kind object.Kind, raw string) object.Object {
		o, err := object.New(kind, []byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	pull := parse(secretKind, `{"metadata":{"namespace":"shop","name":"pull","uid":"1","resourceVersion":"1"}}`)
	old := parse(account, `{"metadata":{"namespace":"shop","name":"old","uid":"2","resourceVersion":"2"},"imagePullSecrets":[{"name":"pull"}]}`)
	cleaner := &v1alpha1.Cleaner{}
	cleaner.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{
		{Version: "v1", Kind: "Secret", Finding: &v1alpha1.FindingSelector{Type: v1alpha1.FindingCascading, MinConfidence: v1alpha1.ConfidenceWeak}},
	}
	found, err := Among(cleaner, []object.Object{pull, old}, time.Unix(1_800_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	if one, is := found(0)(pull); !is || !strings.HasPrefix(one.Reason, "only unused or idle objects use it: ServiceAccount shop/old") {
		t.Errorf("it is %t found: %s", is, one.Reason)
	}
}
