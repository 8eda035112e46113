// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/engine"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// situation is a view of ConfigMaps a, b and c in namespace shop, all of which match, for a Delete. Each case changes it.
type situation struct {
	t       *testing.T
	judge   Judge
	spec    v1alpha1.CleanerSpec
	action  v1alpha1.Action
	view    view
	cascade guard.Cascade
	// own are the reasons for which objects are protected by what they are themselves, by name.
	own map[string]string
	// taken is how much memory the run has taken so far, in bytes.
	taken int
	// plan is the approved plan that the run carries out. Nil when it carries out none.
	plan *journal.Plan
}

var configMaps = schema.GroupKind{Kind: "ConfigMap"}

func newSituation(t *testing.T) *situation {
	s := &situation{t: t, action: v1alpha1.ActionDelete}
	s.view.namespaces = map[string]*metav1.ObjectMeta{"shop": {Name: "shop", Labels: map[string]string{"env": "test"}}}
	s.view.denied = func(object.Object) string { return "" }
	return s
}

func (s *situation) decide() *decision {
	s.t.Helper()
	s.spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{Version: "v1", Kind: "ConfigMap", NamespaceSelector: "env=test"}}
	s.spec.Action = &s.action
	cleaner := &v1alpha1.Cleaner{Spec: s.spec}
	sel, err := selector.New(0, cleaner.Spec.ResourcePolicySet.ResourceSelectors[0], selector.Judge{}, time.Time{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.view.selectors = []*selector.Selector{sel}
	s.view.matched = &stage.Verdicts{Bodies: true}
	for _, name := range []string{"a", "b", "c"} {
		v := stage.Verdict{Act: true}
		v.Kind = object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Resource: "configmaps", Namespaced: true}
		v.Namespace, v.Name, v.UID, v.Raw = "shop", name, types.UID(name), fmt.Appendf(nil, `{"metadata":{"name":%q},"data":{"k":%q}}`, name, name)
		if reason := s.own[name]; reason != "" {
			v.Act, v.Skip, v.Reason = false, v1alpha1.OutcomeProtected, reason
		}
		s.view.matched.Add(v)
	}
	memory := (*selector.Budget)(nil).Share()
	e, err := engine.Open(cleaner, sandbox.New(sandbox.Config{}), memory, nil, nil, sandbox.Options{})
	if err := errors.Join(err, memory.Take(s.taken)); err != nil {
		s.t.Fatal(err)
	}
	t := &task{cleaner: cleaner, action: s.action, record: &v1alpha1.CleanerRun{ObjectMeta: metav1.ObjectMeta{Name: "now"}}, engine: e, plan: s.plan}
	chosen := choice{view: &s.view, matched: s.view.matched, incomplete: s.view.whyIncomplete(cleaner), cascade: &s.cascade}
	return s.judge.judge(s.t.Context(), t, chosen)
}

func (s *situation) skips() { s.spec.OnPartialView = v1alpha1.PartialViewSkip }

// unjudged makes n of the considered objects, the first ones, such as could not be judged.
func (s *situation) unjudged(n int, considered int64, err error) {
	s.view.considered, s.view.unjudged = considered, err
	s.view.selections = []selector.Selection{{Considered: considered}}
	for i := range n {
		o := stage.Outcome{Result: v1alpha1.OutcomeNotEvaluated, Err: err}
		o.UID = types.UID(rune('a' + i))
		s.view.addNotEvaluated([]stage.Outcome{o, o})
	}
}

func (d *decision) words() string {
	var words []string
	for _, outcome := range d.outcomes(v1alpha1.OutcomePlanned) {
		words = append(words, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", outcome.Name, outcome.Result, outcome.Detail), ": "))
	}
	return strings.Join(words, "\n")
}

// TestJudge: what is decided follows from the view alone.
func TestJudge(t *testing.T) {
	const allPlanned = "a Planned\nb Planned\nc Planned"
	all := func(result, reason string) string {
		return fmt.Sprintf("a %[1]s: %[2]s\nb %[1]s: %[2]s\nc %[1]s: %[2]s", result, reason)
	}
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		edit              func(*situation)
		want              string
		incomplete, limit string
		waiting           int
	}{
		"all match":       {func(*situation) {}, allPlanned, "", "", 0},
		"nothing is read": {func(s *situation) { s.view.unread = boom }, all("NotActed", "the run could not read or judge everything"), "boom", "", 0},
		"nothing is read, for a Scan": {
			func(s *situation) { s.view.unread, s.action = boom, v1alpha1.ActionScan },
			allPlanned, "boom", "", 0,
		},
		"there is no memory for the outcomes": {
			func(s *situation) { s.taken = selector.DefaultMaxMemory },
			allPlanned, "", "", 0,
		},
		"there is no memory for the outcomes, nor for a small run": {
			func(s *situation) { s.taken = selector.DefaultMaxMemory + 1<<20 },
			all("NotActed", notActedDetail), "not enough memory for the 3 objects that it would touch: they take more than 256 MiB of memory", "", 0,
		},
		"one is protected": {
			func(s *situation) { s.own = map[string]string{"b": "it is precious"} },
			"a Planned\nb Protected: it is precious\nc Planned", "", "", 0,
		},
		"the namespace is protected": {
			func(s *situation) {
				s.view.namespaces["shop"].Annotations = map[string]string{v1alpha1.ProtectAnnotation: "true"}
				s.own = map[string]string{"b": "it is precious"}
			},
			"a Protected: namespace shop is annotated cleaner/protect: \"true\"\nb Protected: it is precious\nc Protected: namespace shop is annotated cleaner/protect: \"true\"", "", "", 0,
		},
		"a Scan notes what is protected": {
			func(s *situation) {
				s.action = v1alpha1.ActionScan
				s.view.namespaces["shop"].Annotations = map[string]string{v1alpha1.ProtectAnnotation: "true"}
			},
			all("Planned", "protected: namespace shop is annotated cleaner/protect: \"true\""), "", "", 0,
		},
		"the namespace is not selected any more": {
			func(s *situation) { s.view.namespaces["shop"].Labels = nil },
			all("Changed", "its namespace changed since it was judged, and is not selected any more"), "", "", 0,
		},
		"the namespace is gone": {
			func(s *situation) { delete(s.view.namespaces, "shop") },
			all("Changed", "its namespace changed since it was judged, and is not selected any more"), "", "", 0,
		},
		"the clock is wrong": {
			func(s *situation) { s.view.clock = boom },
			all("NotActed", "the run could not read or judge everything"), "boom", "", 0,
		},
		"the clock is wrong, for a Scan": {
			func(s *situation) { s.view.clock, s.action = boom, v1alpha1.ActionScan },
			allPlanned, "", "", 0,
		},
		"the kind is not seen whole": {
			func(s *situation) {
				s.view.hidden = map[schema.GroupVersionKind]error{corev1.SchemeGroupVersion.WithKind("ConfigMap"): boom}
			},
			all("NotActed", "the run could not read or judge everything"), "boom", "", 0,
		},
		"at the limit": {
			func(s *situation) {
				s.spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To[int32](2)}
				s.own = map[string]string{"b": "it is precious"}
			},
			"a Planned\nb Protected: it is precious\nc Planned", "", "", 0,
		},
		"over the limit": {
			func(s *situation) {
				s.spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To[int32](2)}
			},
			all("NotActed", "blast radius limit exceeded: 3 resources matched (max count 2)"), "", "blast radius limit exceeded: 3 resources matched (max count 2)", 0,
		},
		"over the limit in percent": {
			func(s *situation) {
				s.spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxPercentage: ptr.To[int32](29)}
				s.view.totals = map[schema.GroupKind]total{configMaps: {n: 10}}
			},
			all("NotActed", "blast radius limit exceeded: 30% of resources matched (max percentage 29%)"), "", "blast radius limit exceeded: 30% of resources matched (max percentage 29%)", 0,
		},
		"a share of nobody knows what": {
			func(s *situation) {
				s.spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxPercentage: ptr.To[int32](99)}
				s.view.totals = map[schema.GroupKind]total{configMaps: {err: boom}}
			},
			all("NotActed", "the run could not read or judge everything"), "counting for blastRadiusLimit: boom", "", 0,
		},
		"not often enough": {
			func(s *situation) {
				s.spec.OccurrenceThreshold = ptr.To[int32](2)
				s.view.counts = guard.Counts{"ConfigMap__b": 1}
			},
			"b Planned", "", "", 2,
		},
		"counted before it was cut off": {
			func(s *situation) {
				s.spec.OccurrenceThreshold = ptr.To[int32](2)
				s.view.counts, s.view.counted = guard.Counts{"ConfigMap__b": 1, "ConfigMap__c": 2}, "now"
			},
			"c Planned", "", "", 2,
		},
		"counts that cannot be read": {
			func(s *situation) {
				s.spec.OccurrenceThreshold = ptr.To[int32](2)
				s.view.countsFault, s.view.unread = boom, boom
			},
			"", "boom", "", 3,
		},
		"no memory for the counts": {
			func(s *situation) {
				s.spec.OccurrenceThreshold = ptr.To[int32](2)
				s.taken = selector.DefaultMaxMemory + 1<<20 - 100
			},
			"", "not enough memory for the counts of 3 objects: they take more than 256 MiB of memory", "", 3,
		},
		"denied a moment ago": {
			func(s *situation) {
				s.view.denied = func(o object.Object) string {
					return map[string]string{"c": "not so soon"}[o.Name]
				}
			},
			"a Planned\nb Planned\nc Denied: not so soon", "", "", 0,
		},
		"one would take a protected object along": {
			func(s *situation) {
				b := object.Object{Namespace: "shop", Name: "b", UID: "b"}
				b.Kind.GroupVersionKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "App"} // which may own something
				s.cascade.Add(b, nil)
				pod := object.Object{Namespace: "shop", Name: "web"}
				pod.Kind.Kind = "Pod"
				s.cascade.Found(pod, "is annotated cleaner/protect", []types.UID{"b"})
			},
			"a Planned\nb Protected: Pod shop/web would be deleted with it, and is annotated cleaner/protect\nc Planned", "", "", 0,
		},
		"what a Transform does not change": {
			func(s *situation) {
				s.action = v1alpha1.ActionTransform
				s.spec.MergePatch = &runtime.RawExtension{Raw: []byte(`{"data":{"k":"b"}}`)}
			},
			"a Planned\nb Unchanged: there is nothing to change\nc Planned", "", "", 0,
		},
		"what a Transform needs consent for": {
			func(s *situation) {
				s.action = v1alpha1.ActionTransform
				s.spec.MergePatch = &runtime.RawExtension{Raw: []byte(`{"metadata":{"finalizers":["example.com/x"]}}`)}
			},
			all("Protected", "the Cleaner would change its metadata.finalizers; to allow it, set spec.transformOptions.allow: [Finalizers]"), "", "", 0,
		},
		"one that another selector could not judge": {
			func(s *situation) { s.unjudged(1, 3, boom) },
			"b NotActed: the run could not read or judge everything\nc NotActed: the run could not read or judge everything", "boom", "", 0,
		},
		"one that another selector could not judge is skipped": {
			func(s *situation) { s.skips(); s.unjudged(1, 3, boom) },
			"b Planned\nc Planned", "", "", 0,
		},
		"a Scan skips it too": {
			func(s *situation) { s.skips(); s.unjudged(1, 3, boom); s.action = v1alpha1.ActionScan },
			"b Planned\nc Planned", "", "", 0,
		},
		"protected, and not judged": {
			func(s *situation) {
				s.skips()
				s.unjudged(1, 3, boom)
				s.own = map[string]string{"a": "it is precious"}
			},
			"b Planned\nc Planned", "", "", 0,
		},
		"what could not be judged does not count for a limit": {
			func(s *situation) {
				s.skips()
				s.unjudged(1, 3, boom)
				s.spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To[int32](2)}
			},
			"b Planned\nc Planned", "", "", 0,
		},
		"what could not be judged does not wait": {
			func(s *situation) {
				s.skips()
				s.unjudged(1, 3, boom)
				s.spec.OccurrenceThreshold = ptr.To[int32](2)
				s.view.counts = guard.Counts{"ConfigMap__a": 1, "ConfigMap__b": 1}
			},
			"b Planned", "", "", 1,
		},
		"ten that could not be judged, of few": {
			func(s *situation) { s.skips(); s.unjudged(10, 13, boom) },
			"", "", "", 0,
		},
		"eleven, of few": {
			func(s *situation) { s.skips(); s.unjudged(11, 1099, boom) },
			"", "11 of 1099 objects could not be judged, which is more than onPartialView: Skip leaves alone (10 objects, or 1 % of those that one selector considered)\nboom", "", 0,
		},
		"eleven, of many": {
			func(s *situation) { s.skips(); s.unjudged(11, 1100, boom) },
			"", "", "", 0,
		},
		"eleven, of few of one selector and many of another": {
			func(s *situation) {
				s.skips()
				s.unjudged(11, 1300, boom)
				few := selector.Selection{Considered: 40, NotEvaluated: make([]stage.Outcome, 11)}
				s.view.selections = append(s.view.selections, few)
			},
			"", "11 of 40 objects could not be judged, which is more than onPartialView: Skip leaves alone (10 objects, or 1 % of those that one selector considered)\nboom", "", 0,
		},
		"a right that is missing is not skipped": {
			func(s *situation) {
				s.skips()
				s.unjudged(1, 3, fmt.Errorf("logSource: %w", apierrors.NewForbidden(schema.GroupResource{Resource: "pods/log"}, "a", boom)))
			},
			"b NotActed: the run could not read or judge everything\nc NotActed: the run could not read or judge everything", "pods/log", "", 0,
		},
		"a list that did not come is not skipped": {
			func(s *situation) { s.skips(); s.unjudged(1, 3, errors.New("bang")); s.view.unread = boom },
			"b NotActed: the run could not read or judge everything\nc NotActed: the run could not read or judge everything", "boom", "", 0,
		},
		"an aggregated script misses none": {
			func(s *situation) {
				s.skips()
				s.unjudged(1, 3, boom)
				s.spec.ResourcePolicySet.AggregatedSelection = "function evaluate() end"
			},
			"b NotActed: the run could not read or judge everything\nc NotActed: the run could not read or judge everything", "boom", "", 0,
		},
		"more than the operator allows": {
			func(s *situation) { s.judge.MaxActions = 2 },
			all("NotActed", notActedDetail), "", "the run would act on 3 objects, and the operator allows 2 in one run", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSituation(t)
			c.edit(s)
			d := s.decide()
			if diff := cmp.Diff(c.want, d.words()); diff != "" {
				t.Errorf("decided (-want +got):\n%s", diff)
			}
			if again := s.decide(); again.words() != d.words() {
				t.Errorf("the second time, it decided\n%s", again.words())
			}
			for what, got := range map[string]struct {
				want string
				err  error
			}{"incomplete": {c.incomplete, d.incomplete}, "limit": {c.limit, d.limit}} {
				if (got.err == nil) != (got.want == "") || got.err != nil && !strings.Contains(got.err.Error(), got.want) {
					t.Errorf("%s: %v, want %q", what, got.err, got.want)
				}
			}
			if d.waiting != c.waiting {
				t.Errorf("%d objects wait, want %d", d.waiting, c.waiting)
			}
		})
	}
}

// TestWhatIsCounted: an incomplete view and a wrong clock leave the counts as they were. A run that was counted already ends
// the counts of what it does not find again.
func TestWhatIsCounted(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		edit func(*view)
		want guard.Counts
	}{
		"a complete view":    {func(*view) {}, guard.Counts{"ConfigMap__a": 1, "ConfigMap__b": 2, "ConfigMap__c": 1}},
		"an incomplete view": {func(v *view) { v.unread = boom }, nil},
		"a wrong clock":      {func(v *view) { v.clock = boom }, nil},
		"counted already":    {func(v *view) { v.counted = "now" }, guard.Counts{"ConfigMap__b": 3}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &situation{t: t, action: v1alpha1.ActionScan, spec: v1alpha1.CleanerSpec{OccurrenceThreshold: ptr.To[int32](2)}}
			s.view.counts = guard.Counts{"ConfigMap__b": 3, "ConfigMap__gone": 7}
			c.edit(&s.view)
			if diff := cmp.Diff(c.want, s.decide().counts); diff != "" {
				t.Errorf("counted (-want +got):\n%s", diff)
			}
		})
	}
}
