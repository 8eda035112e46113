// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestDefaults are all that the CRD fills in. action has no default: code resolves it.
func TestDefaults(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	u := manifest(t)
	must(t, b.apply(u))
	want := put(manifest(t).Object["spec"], steps("resourcePolicySet.resourceSelectors[0].excludeDeleted"), true)
	for path, value := range map[string]any{"occurrenceThreshold": int64(1), "successfulRunsHistoryLimit": int64(3), "failedRunsHistoryLimit": int64(1)} {
		want = put(want, steps(path), value)
	}
	if diff := cmp.Diff(want, u.Object["spec"]); diff != "" {
		t.Fatalf("the spec that is stored (-want +got):\n%s", diff)
	}
	must(t, b.apply(manifest(t, around(sel+".excludeDeleted", false), around("spec.successfulRunsHistoryLimit", 0))))
}

// TestActionThatIsNotSet is Scan, and stays unset.
func TestActionThatIsNotSet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		action, alias *v1alpha1.Action
		want          v1alpha1.Action
	}{
		"neither": {want: v1alpha1.ActionScan},
		"alias":   {alias: new(v1alpha1.ActionDelete), want: v1alpha1.ActionDelete},
		"action":  {action: new(v1alpha1.ActionDelete), want: v1alpha1.ActionDelete},
		"both":    {action: new(v1alpha1.ActionDelete), alias: new(v1alpha1.ActionDelete), want: v1alpha1.ActionDelete},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			l := b.follow(b.cleaner(v1alpha1.ActionScan, func(cleaner *v1alpha1.Cleaner) {
				cleaner.Spec.Action, cleaner.Spec.ResourcePolicySet.Action = c.action, c.alias
			}))
			l.step()
			if l.now.Status.Action != c.want {
				t.Errorf("status.action is %s, want %s", l.now.Status.Action, c.want)
			}
			if diff := cmp.Diff([]*v1alpha1.Action{c.action, c.alias}, []*v1alpha1.Action{l.now.Spec.Action, l.now.Spec.ResourcePolicySet.Action}); diff != "" {
				t.Errorf("the actions that are stored (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEveryFieldIsExplained: kubectl explain has a text for each.
func TestEveryFieldIsExplained(t *testing.T) {
	t.Parallel()
	for _, plural := range []string{"cleaners", "cleanerruns", "reports"} {
		root := rootOf(crd(t, plural))
		if root.Description == "" {
			t.Errorf("%s has no description", plural)
		}
		properties(root, "", func(path string, p *apiextensionsv1.JSONSchemaProps) {
			isItem := strings.HasSuffix(path, "]") // explained with its list, unless it has fields of its own
			if path == "metadata" || (isItem && len(p.Properties) == 0) {
				return // the API server publishes its own text for metadata
			}
			if len(strings.TrimSpace(p.Description)) < 10 {
				t.Errorf("%s: %s has the description %q", plural, path, p.Description)
			}
			// A text begins with the name that users write.
			name := path[strings.LastIndex(path, ".")+1:]
			own := !isItem && path != "kind" && path != "apiVersion" && !strings.HasPrefix(path, "status.conditions[0]") && !strings.HasPrefix(path, "spec.resourceInfo[0].resource.")
			if own && !strings.HasPrefix(p.Description, name+" ") {
				t.Errorf("%s: the description of %s begins with %.30q", plural, path, p.Description)
			}
		})
	}
}

func TestNamesAndScope(t *testing.T) {
	t.Parallel()
	for plural, shortName := range map[string]string{"cleaners": "cln", "cleanerruns": "clr", "reports": "clrep"} {
		definition := crd(t, plural)
		names := definition.Spec.Names
		if !slices.Equal(names.ShortNames, []string{shortName}) || !slices.Equal(names.Categories, []string{"kubecleaner"}) {
			t.Errorf("%s has the short names %v and categories %v", plural, names.ShortNames, names.Categories)
		}
		if definition.Spec.Scope != apiextensionsv1.ClusterScoped || definition.Spec.Group != "apps.projectsveltos.io" || definition.Spec.Versions[0].Name != "v1alpha1" {
			t.Errorf("%s is %s of %s/%s", plural, definition.Spec.Scope, definition.Spec.Group, definition.Spec.Versions[0].Name)
		}
		hasStatus := definition.Spec.Versions[0].Subresources != nil && definition.Spec.Versions[0].Subresources.Status != nil
		if hasStatus == (plural == "reports") {
			t.Errorf("%s has a status subresource: %v", plural, hasStatus)
		}
	}
}

// TestCleanerRunIsARecord: what a run was is written once.
func TestCleanerRunIsARecord(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionScan)
	run := &v1alpha1.CleanerRun{ObjectMeta: metav1.ObjectMeta{Name: c.Name + "-1"}, Spec: v1alpha1.CleanerRunSpec{
		Cleaner: c.Name, CleanerUID: c.UID, NominalTime: metav1.NewTime(time.Unix(1, 0)), Trigger: v1alpha1.TriggerManual, Action: v1alpha1.ActionScan,
	}}
	refused := func(err error, want string) {
		t.Helper()
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("the API server says %v, want %q", err, want)
		}
	}
	changed := func(change func(*v1alpha1.CleanerRun)) *v1alpha1.CleanerRun {
		other := run.DeepCopy()
		change(other)
		return other
	}
	whim := changed(func(r *v1alpha1.CleanerRun) { r.Spec.Trigger = "Whim" })
	refused(b.user.Create(t.Context(), whim), `spec.trigger: Unsupported value: "Whim": supported values: "Schedule", "Manual"`)
	erase := changed(func(r *v1alpha1.CleanerRun) { r.Spec.Action = "Erase" })
	refused(b.user.Create(t.Context(), erase), `spec.action: Unsupported value: "Erase"`)
	long := changed(func(r *v1alpha1.CleanerRun) { r.Spec.Cleaner = letters(254) })
	refused(b.user.Create(t.Context(), long), "spec.cleaner: Too long")

	must(t, b.user.Create(t.Context(), run))
	other := changed(func(r *v1alpha1.CleanerRun) { r.Spec.Action = v1alpha1.ActionDelete })
	refused(b.user.Update(t.Context(), other), "a CleanerRun is a record; to run a Cleaner again, annotate the Cleaner with apps.projectsveltos.io/run-requested-at")
	resting := changed(func(r *v1alpha1.CleanerRun) { r.Status.Phase = "Resting" })
	refused(b.user.Status().Update(t.Context(), resting), `status.phase: Unsupported value: "Resting"`)
	misreported := changed(func(r *v1alpha1.CleanerRun) {
		r.Status.Objects = []v1alpha1.ObjectOutcome{{Name: "a", Outcome: "Vanished"}}
	})
	refused(b.user.Status().Update(t.Context(), misreported), `status.objects[0].outcome: Unsupported value: "Vanished"`)
	counted := changed(func(r *v1alpha1.CleanerRun) { r.Status.Tallies = []v1alpha1.ObjectTally{{Outcome: "Vanished"}} })
	refused(b.user.Status().Update(t.Context(), counted), `status.tallies[0].outcome: Unsupported value: "Vanished"`)
	lost := changed(func(r *v1alpha1.CleanerRun) {
		r.Status.Notifications = []v1alpha1.NotificationStatus{{Type: "Event", State: "Lost"}}
	})
	refused(b.user.Status().Update(t.Context(), lost), `status.notifications[0].state: Unsupported value: "Lost"`)
	run.Status.Phase = v1alpha1.RunCompleted
	for _, word := range words(t) {
		run.Status.Objects = append(run.Status.Objects, v1alpha1.ObjectOutcome{Name: "a", Outcome: word})
	}
	must(t, b.user.Status().Update(t.Context(), run))
}

// TestReportOfK8sCleaner is one with fields that this version does not write: it stays readable.
func TestReportOfK8sCleaner(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	u := &unstructured.Unstructured{}
	must(t, u.UnmarshalJSON([]byte(`{"apiVersion":"apps.projectsveltos.io/v1alpha1","kind":"Report","metadata":{"name":"crd-report"},"spec":{"action":"Delete",
		"resourceInfo":[{"resource":{"apiVersion":"v1","kind":"Secret","namespace":"a","name":"b"},"message":"m"}]}}`)))
	must(t, b.apply(u))
	u.Object = put(u.Object, steps("spec.action"), "Erase").(map[string]any)
	if err := b.apply(u); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `spec.action: Unsupported value: "Erase"`) {
		t.Fatalf("the API server says %v", err)
	}
	u.Object = put(u.Object, steps("spec.action"), nil).(map[string]any)
	if err := b.apply(u); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.action: Required value") {
		t.Fatalf("the API server says %v", err)
	}
}
