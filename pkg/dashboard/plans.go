// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// approvalPath is where a CleanerApproval is; without a name, where all are.
func approvalPath(name string) string {
	kind := object.Kind{GroupVersionKind: v1alpha1.GroupVersion.WithKind("CleanerApproval"), Resource: "cleanerapprovals"}
	return kind.Path("", name)
}

// planOf is the plan of a run. It is false of a run that does not wait for a person.
func planOf(u *unstructured.Unstructured) (row PlanRow, run *v1alpha1.CleanerRun, waits bool) {
	run = &v1alpha1.CleanerRun{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, run); err != nil ||
		run.Status.Phase != phaseAwaiting {
		return row, run, false
	}
	row = PlanRow{RunRow: runRow(run)}
	row.PlanHash, _, _ = unstructured.NestedString(u.Object, "status", "planHash")
	if run.Status.Intent != nil {
		row.Planned = run.Status.Intent.Objects
	}
	if text, ok, _ := unstructured.NestedString(u.Object, "status", "approvalExpirationTime"); ok {
		if expires, err := time.Parse(time.RFC3339, text); err == nil {
			row.Expires = &expires
		}
	}
	return row, run, true
}

// mayDecide asks for exactly what an approval of the Cleaner's plans needs: to make the object, and the verb that the
// admission policy asks for.
func (p *person) mayDecide(ctx context.Context, cleaner string) Allowed {
	return p.may(ctx, ours("create", "cleanerapprovals", ""), ours("approve", "cleaners", cleaner))
}

func (s *Server) listPlans(r *http.Request, p *person) (int, any, error) {
	rows := []PlanRow{}
	err := eachOf[unstructured.UnstructuredList](r.Context(), p.api, cluster.RunPath(""), fewLarge,
		func(u *unstructured.Unstructured) {
			if row, _, waits := planOf(u); waits {
				rows = append(rows, row)
			}
		})
	slices.SortFunc(rows, func(a, b PlanRow) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Name, b.Name)) })
	page := pageOf(r, rows)
	for i := range page.Items {
		page.Items[i].Decide = p.mayDecide(r.Context(), page.Items[i].Cleaner)
	}
	return http.StatusOK, page, err
}

// readPlan reads the plan of a run that waits.
func readPlan(ctx context.Context, p *person, name string) (PlanRow, *v1alpha1.CleanerRun, error) {
	var u unstructured.Unstructured
	if err := p.api.Read(ctx, cluster.RunPath(name), &u); err != nil {
		return PlanRow{}, nil, err
	}
	row, run, waits := planOf(&u)
	if !waits {
		return row, run, failure(http.StatusConflict, "run %s does not wait for an approval any more", name)
	}
	return row, run, nil
}

func (s *Server) plan(r *http.Request, p *person) (int, any, error) {
	row, run, err := readPlan(r.Context(), p, r.PathValue("name"))
	if err != nil {
		return 0, nil, err
	}
	row.Decide = p.mayDecide(r.Context(), row.Cleaner)
	detail := PlanDetail{PlanRow: row, Outcomes: tally(run), Decisions: []PlanDecided{}}
	err = eachOf[unstructured.UnstructuredList](r.Context(), p.api, approvalPath(""), fewLarge,
		func(u *unstructured.Unstructured) {
			if decided := decidedOf(u); decided.Run == row.Name {
				detail.Decisions = append(detail.Decisions, decided)
			}
		})
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) { // they are worth showing, and no more
		err = nil
	}
	return http.StatusOK, detail, err
}

func decidedOf(u *unstructured.Unstructured) PlanDecided {
	text := func(field string) string {
		value, _, _ := unstructured.NestedString(u.Object, "spec", field)
		return value
	}
	return PlanDecided{
		Name: u.GetName(), Run: text("run"), By: text("by"), Decision: text("decision"), Reason: text("reason"),
		Time: u.GetCreationTimestamp().Time,
	}
}

// decidePlan writes the person's decision on exactly the plan that the person saw.
func (s *Server) decidePlan(r *http.Request, p *person) (int, any, error) {
	ctx, name := r.Context(), r.PathValue("name")
	var given PlanDecision
	if err := read(r, &given); err != nil {
		return 0, nil, err
	}
	if given.Decision != "Approve" && given.Decision != "Reject" {
		return 0, nil, badRequest("decision must be Approve or Reject")
	}
	row, run, err := readPlan(ctx, p, name)
	if err != nil {
		return 0, nil, err
	}
	if given.PlanHash == "" || given.PlanHash != row.PlanHash {
		return 0, nil, failure(http.StatusConflict, "the plan of run %s is another one than you saw: look at it again", name)
	}
	user, err := p.review(ctx)
	if err != nil {
		return 0, nil, err
	}
	spec := map[string]any{"run": name, "planHash": row.PlanHash, "by": user.Username, "decision": given.Decision}
	if given.Reason != "" {
		spec["reason"] = given.Reason
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "CleanerApproval",
		"metadata": map[string]any{"generateName": v1alpha1.ShortName(name, 56) + "-"}, "spec": spec,
	})
	if err != nil {
		return 0, nil, err
	}
	request := p.api.Raw.Post().AbsPath(approvalPath("")).Param("fieldManager", fieldManager).Body(body)
	answer, err := cluster.Send(ctx, request)
	if err != nil {
		return 0, nil, err
	}
	var saved unstructured.Unstructured
	if err := json.Unmarshal(answer, &saved); err != nil {
		return 0, nil, err
	}
	did := map[string]string{"Approve": "approved the plan of run ", "Reject": "rejected the plan of run "}[given.Decision]
	s.audit(ctx, p, runRef(run), "Plan"+given.Decision, did+name)
	return http.StatusCreated, decidedOf(&saved), nil
}
