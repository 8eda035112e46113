// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

// doings are what people did, without the times, the latest first.
func (v *visitor) doings(query string) (doings string, missing []string) {
	v.Helper()
	var got Activities
	v.wants(http.StatusOK, http.MethodGet, "activity?"+query, nil, &got)
	var lines []string
	for i, each := range got.Items {
		if each.Time.IsZero() || i > 0 && each.Time.After(got.Items[i-1].Time) {
			v.Errorf("%s: %q has the time %s", query, each.Text, each.Time)
		}
		lines = append(lines, strings.TrimSpace(each.By+"|"+each.Text+"|"+each.Run))
	}
	for _, right := range got.Missing {
		missing = append(missing, right.Missing)
	}
	return strings.Join(lines, "\n"), missing
}

// TestActivity: who did what is shown beside the Cleaner and beside the run, in whatever way it was done.
func TestActivity(t *testing.T) {
	c := admin(t)
	team := namespace(t, c)
	of, other := cleaner(t, c, team, nil), cleaner(t, c, namespace(t, c), nil)
	settings := create(t, c, settingsIn(team))
	copies := ran(t, c, of, map[string]client.Object{"ConfigMap": settings.DeepCopy()}) // somebody asked for it with kubectl
	plan := planned(t, c, of, time.Hour)
	v := visit(t, env.Config)
	path := "cleaners/" + of.Name
	v.wants(http.StatusAccepted, http.MethodPost, path+"/trigger", nil, nil)
	must(t, c.Get(t.Context(), client.ObjectKeyFromObject(of), of))
	asked := create(t, c, &v1alpha1.CleanerRun{
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.RunName(of.Name, nominal.Add(2*time.Hour))},
		Spec: v1alpha1.CleanerRunSpec{
			Cleaner: of.Name, CleanerUID: of.UID, NominalTime: metav1.NewTime(nominal.Add(2 * time.Hour)),
			Trigger: v1alpha1.TriggerManual, Action: v1alpha1.ActionScan, RunRequest: of.RunRequest(),
		},
	})
	of.Status.ActiveRun = &v1alpha1.ActiveRun{Name: asked.Name, NominalTime: asked.Spec.NominalTime, Trigger: v1alpha1.TriggerManual}
	must(t, c.Status().Update(t.Context(), of))
	v.wants(http.StatusAccepted, http.MethodPost, path+"/cancel", nil, nil)
	v.wants(http.StatusOK, http.MethodPost, path+"/suspend", nil, nil)
	v.wants(http.StatusOK, http.MethodPost, "cleaners/"+other.Name+"/suspend", nil, nil)
	v.wants(http.StatusOK, http.MethodPost, "plans/"+plan.Name+"/reject", PlanDecision{Hash: "1234", Reason: "in use"}, nil)
	must(t, c.Delete(t.Context(), settings))
	v.wants(http.StatusOK, http.MethodPost, "runs/"+copies.Name+"/restore", RestoreRequest{}, nil)

	names := strings.NewReplacer(asked.Name, "ASKED", plan.Name, "PLAN", copies.Name, "COPIES", of.Name, "NAME", team+"/", "TEAM/")
	got := func(query string) string { doings, _ := v.doings(query); return names.Replace(doings) }
	all := got("cleaner=" + of.Name)
	for _, want := range []string{
		"admin|asked for a run of Cleaner NAME|ASKED", "admin|cancelled run ASKED|ASKED", "admin|suspended Cleaner NAME|",
		"admin|rejected the plan: in use|PLAN", "admin|restored 1 object of run COPIES: ConfigMap TEAM/" + settings.Name + "|COPIES", "|asked for the run|COPIES",
	} {
		if strings.Count(all+"\n", want+"\n") != 1 {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
	if n := strings.Count(all, "\n") + 1; n != 6 {
		t.Errorf("%d lines, not 6:\n%s", n, all)
	}
	for query, want := range map[string]string{
		"run=" + copies.Name:                  "|asked for the run|COPIES\nadmin|restored 1 object of run COPIES: ConfigMap TEAM/" + settings.Name + "|COPIES",
		"run=" + plan.Name:                    "admin|rejected the plan: in use|PLAN",
		"cleaner=" + of.Name + "&q=SUSPENDED": "admin|suspended Cleaner NAME|",
	} {
		if got := got(query); got != want {
			t.Errorf("%s:\n%s, want\n%s", query, got, want)
		}
	}
	must(t, c.Get(t.Context(), client.ObjectKeyFromObject(plan), plan))
	plan.Status.Phase, plan.Status.Reason = v1alpha1.RunCompleted, v1alpha1.ReasonPlanNotApproved
	must(t, c.Status().Update(t.Context(), plan))
	if got := got("run=" + plan.Name); !strings.Contains(got, "rejected the plan: in use (this does not count") {
		t.Errorf("of a decision that does not count: %s", got)
	}
	v.wants(http.StatusBadRequest, http.MethodGet, "activity", nil, nil)
	v.wants(http.StatusBadRequest, http.MethodGet, "activity?cleaner=a,metadata.name=b", nil, nil)
}

// TestWhoApprovedStays: the run that carried out a plan names who approved it, also when the plan and the approval are pruned.
func TestWhoApprovedStays(t *testing.T) {
	c := admin(t)
	of := cleaner(t, c, namespace(t, c), nil)
	run := &v1alpha1.CleanerRun{
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.RunName(of.Name, nominal.Time)},
		Spec: v1alpha1.CleanerRunSpec{
			Cleaner: of.Name, CleanerUID: of.UID, NominalTime: nominal,
			Trigger: v1alpha1.TriggerApproval, Action: v1alpha1.ActionDelete,
			Plan: &v1alpha1.ApprovedPlan{PlanRef: v1alpha1.PlanRef{Run: of.Name + "-1", Hash: "1234"}, By: "ann"},
		},
	}
	create(t, c, run)
	v := visit(t, env.Config)
	for _, query := range []string{"run=" + run.Name, "cleaner=" + of.Name} {
		if got, _ := v.doings(query); got != "ann|approved the plan|"+run.Name {
			t.Errorf("%s: %q", query, got)
		}
	}
	var detail RunDetail
	v.wants(http.StatusOK, http.MethodGet, "runs/"+run.Name, nil, &detail)
	if detail.ApprovedBy != "ann" {
		t.Errorf("approved by %q", detail.ApprovedBy)
	}
	create(t, c, &v1alpha1.CleanerApproval{ObjectMeta: metav1.ObjectMeta{Name: of.Name + "-1"}, Spec: v1alpha1.CleanerApprovalSpec{
		Cleaner: of.Name, Run: of.Name + "-1", PlanHash: "1234", By: "admin", Decision: v1alpha1.DecisionApprove,
	}})
	if got, _ := v.doings("run=" + run.Name); got != "admin|approved the plan|"+of.Name+"-1" {
		t.Errorf("with the approval: %q", got)
	}
}

// TestActivityNamesMissingRights: an editor may read who approved, but not the Events in default.
func TestActivityNamesMissingRights(t *testing.T) {
	c := admin(t)
	team := namespace(t, c)
	of := cleaner(t, c, team, nil)
	editor := people(t, c, team)["editor"]
	editor.wants(http.StatusOK, http.MethodPost, "cleaners/"+of.Name+"/suspend", nil, nil)
	doings, missing := editor.doings("cleaner=" + of.Name)
	want := "list events in namespace default"
	if doings != "" || strings.Join(missing, "\n") != want {
		t.Errorf("%q, and %q is missing", doings, missing)
	}
}

// TestAskedForWithThePlugin: who asked in a terminal is not known, but with what is, for as long as the Cleaner has the request.
func TestAskedForWithThePlugin(t *testing.T) {
	c := admin(t)
	of := cleaner(t, c, namespace(t, c), nil)
	asks := func(request string, due time.Time) *v1alpha1.CleanerRun {
		before := of.DeepCopy()
		of.Annotations = map[string]string{v1alpha1.RunRequestedAtAnnotation: request}
		must(t, c.Patch(t.Context(), of, client.MergeFrom(before), client.FieldOwner(cluster.FieldManager)))
		return create(t, c, &v1alpha1.CleanerRun{
			ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.RunName(of.Name, due)},
			Spec: v1alpha1.CleanerRunSpec{
				Cleaner: of.Name, CleanerUID: of.UID, NominalTime: metav1.NewTime(due),
				Trigger: v1alpha1.TriggerManual, Action: v1alpha1.ActionScan, RunRequest: request,
			},
		})
	}
	first, second := asks("once", nominal.Time), asks("twice", nominal.Add(time.Hour))
	want := "|asked for the run with kubectl cleaner|" + second.Name + "\n|asked for the run|" + first.Name
	if got, _ := visit(t, env.Config).doings("cleaner=" + of.Name); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
