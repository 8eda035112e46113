// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// declares answers the operator with the references that users declared. It is not a ConfigMap of the operator's
// namespace, because all tests share that.
func (b *bench) declares(references string) {
	b.t.Helper()
	const path = "/api/v1/namespaces/" + operatorNamespace + "/configmaps/" + survey.DeclaredIn
	cm := corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: survey.DeclaredIn, UID: "declared", ResourceVersion: "1"},
		Data:       map[string]string{"shop.yaml": references},
	}
	text, err := json.Marshal(cm)
	must(b.t, err)
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet && r.URL.Path == path {
			return answer(r, http.StatusOK, text), nil
		}
		return nil, nil
	})
}

// TestFindingHeedsDeclaredReferences: what users declared to be used is used for runs, too. Nothing else knows the field
// of the Widget: without the declaration, the finding is Weak, and the Cleaner takes those.
func TestFindingHeedsDeclaredReferences(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("declared-theme")
	b.configMap("unused")
	b.widget("shop", `{"theme":"declared-theme"}`)
	b.declares("- kind: Widget." + widgetGroup + "\n  references:\n  - {path: spec.theme, to: ConfigMap}\n")
	run := b.run(b.deletesUnused(func(c *v1alpha1.Cleaner) {
		selectors(c)[0].Finding.MinConfidence = v1alpha1.ConfidenceWeak
	}))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 2 objects matched; 1 deleted.")
	wantOutcome(t, run, "unused", v1alpha1.OutcomeDeleted)
	b.wantNames("declared-theme")
}

// TestFindingOfWhatIsInUseElsewhere: the second decision reads other namespaces and cluster-scoped objects again, too.
func TestFindingOfWhatIsInUseElsewhere(t *testing.T) {
	t.Parallel()
	const changed = "before it acted, the run read everything again, and then the object was not Unused any more"
	t.Run("a RoleBinding of another namespace", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		for _, name := range []string{"late-account", "unused-account"} {
			account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name}}
			must(t, b.user.Create(t.Context(), account))
		}
		elsewhere := b.newNamespace(nil)
		b.beforeFirst(http.MethodPost, "/secrets", func() { // the copies, with the intent
			must(t, b.user.Create(t.Context(), &rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: "late"},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
				Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: b.namespace, Name: "late-account"}},
			}))
		})
		run := b.run(b.deletesUnused(selecting(kind("", "v1", "ServiceAccount", b.namespace)), finds(v1alpha1.FindingUnused)))
		wantOutcome(t, run, "unused-account", v1alpha1.OutcomeDeleted)
		wantOutcome(t, run, "late-account", v1alpha1.OutcomeChanged, changed)
	})
	t.Run("a Pod that names a cluster-scoped object", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.serviceAccount()
		class := func(name string) string {
			name += "-" + b.namespace
			b.thing(schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"), name, map[string]any{
				"value": int64(1), "metadata": map[string]any{"labels": map[string]any{"test": b.namespace}},
			})
			return name
		}
		late, unused := class("late"), class("unused")
		b.beforeFirst(http.MethodPost, "/secrets", func() {
			b.pod("web", "none", func(pod *corev1.Pod) { pod.Spec.PriorityClassName = late })
		})
		classes := kind(schedulingv1.GroupName, "v1", "PriorityClass", "")
		classes.LabelFilters = equal("test", b.namespace)
		run := b.run(b.deletesUnused(selecting(classes), finds(v1alpha1.FindingUnused)))
		wantOutcome(t, run, unused, v1alpha1.OutcomeDeleted)
		wantOutcome(t, run, late, v1alpha1.OutcomeChanged, changed)
	})
}

// TestTransformByAFindingIsDecidedTwice, as a Delete is.
func TestTransformByAFindingIsDecidedTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.configMap("late")
	b.configMap("unused")
	b.beforeFirst(http.MethodPost, "/secrets", func() { b.pod("web", "late") })
	run := b.run(b.cleaner(v1alpha1.ActionTransform, finds(v1alpha1.FindingUnused), transform(touch)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "2 of 2 objects matched; 1 changed, 1 left alone.")
	wantOutcome(t, run, "late", v1alpha1.OutcomeChanged,
		"before it acted, the run read everything again, and then the object was not Unused any more")
	if touched := b.named("late").Data["touched"]; touched != "" {
		t.Errorf("what is used was changed: %q", touched)
	}
	if touched := b.named("unused").Data["touched"]; touched == "" {
		t.Error("what is unused was not changed")
	}
}

// TestFindingOfWhatIsNeverUnused: an unhealthy object that a person wants to keep is reported, and left alone.
func TestFindingOfWhatIsNeverUnused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	for name, label := range map[string]string{"kept": "true", "broken": "false"} {
		b.pod(name, "none", func(pod *corev1.Pod) {
			pod.Labels = map[string]string{"kor/used": label}
		})
	}
	b.clock.Step(time.Hour) // there is no scheduler, and so they have been pending since
	pods := selecting(kind("", "v1", "Pod", b.namespace))
	const why = `it is labelled kor/used: "true"`
	run := b.run(b.cleaner(v1alpha1.ActionScan, pods, finds(v1alpha1.FindingUnhealthy)))
	wantOutcome(t, run, "kept", v1alpha1.OutcomeMatched, "protected: "+why)
	run = b.run(b.cleaner(v1alpha1.ActionDelete, pods, finds(v1alpha1.FindingUnhealthy), maxCount(10)))
	wantOutcome(t, run, "kept", v1alpha1.OutcomeProtected, why)
	wantOutcome(t, run, "broken", v1alpha1.OutcomeDeleted)
}

// TestFindingsThatAreDueTogetherShareLists: 30 Cleaners that are due at once look for users in a few lists of Pods.
func TestFindingsThatAreDueTogetherShareLists(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	b.configMap("used")
	b.configMap("unused")
	b.pod("web", "used")
	cleaners := make([]*v1alpha1.Cleaner, 30)
	for i := range cleaners {
		cleaners[i] = b.cleaner(v1alpha1.ActionScan, finds(v1alpha1.FindingUnused), holding(fmt.Sprintf("%d >= 0", i)))
	}
	runs, s := b.dueTogether("/"+b.namespace+"/pods", cleaners)
	for _, run := range runs {
		wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 2 objects matched.")
	}
	s.wantFew(t, "")
}
