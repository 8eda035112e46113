// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/approval"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

// activity is what people did with a Cleaner or about a run, as far as it is known: the Events of this page, which the
// API server keeps for an hour unless configured otherwise, the CleanerApprovals, and the runs that somebody asked for.
func activity(r *http.Request, p *person) (int, any, error) {
	query := r.URL.Query()
	found := activities{
		person: p, cleaner: query.Get("cleaner"), asked: map[string]Activity{}, approved: map[string]Activity{},
		refused: map[string]bool{},
	}
	ofRun := query.Get("run")
	if ofRun != "" {
		run, err := readRun(r.Context(), p, ofRun)
		if err != nil {
			return 0, nil, err
		}
		found.cleaner = run.Spec.Cleaner
		found.runs = append(found.runs, run.Name)
		if run.Spec.Plan != nil {
			found.runs = append(found.runs, run.Spec.Plan.Run)
		}
	}
	if len(validation.IsDNS1123Subdomain(found.cleaner)) > 0 {
		return 0, nil, badRequest("give the name of a cleaner or of a run")
	}
	if err := found.read(r.Context()); err != nil {
		return 0, nil, err
	}
	answer := Activities{Page: newPage[Activity](r), Missing: append([]Right{}, found.missing...)}
	slices.SortStableFunc(found.all, func(a, b Activity) int { return b.Time.Compare(a.Time) })
	for _, each := range found.all {
		if matches(query.Get("q"), each.By, each.Text, each.Run) {
			answer.add(each)
		}
	}
	return http.StatusOK, answer, nil
}

// activities are read as the person.
type activities struct {
	*person
	cleaner string
	// runs are those whose activities are wanted. Nil means all of the Cleaner.
	runs    []string
	all     []Activity
	missing []Right
	// asked are the runs that somebody asked for, by how they were asked for, as long as no Event says by whom.
	asked map[string]Activity
	// approved are the plans that runs carry out, by the run that made them, as long as no CleanerApproval says more.
	approved map[string]Activity
	// refused are the runs of whose plan somebody said what does not count.
	refused map[string]bool
}

// read reads all sources. What the person may not read is missing.
func (a *activities) read(ctx context.Context) error {
	err := eachOf[v1alpha1.CleanerRunList](ctx, a.person, cluster.RunPath(""), fewLarge, a.addRun,
		fields.OneTermEqualSelector("spec.cleaner", a.cleaner).String())
	if err = a.lack(err, RightRunsRead, "see which runs somebody asked for"); err != nil {
		return err
	}
	err = eachOf[corev1.EventList](ctx, a.person, "/api/v1/namespaces/default/events", manySmall, a.addEvent,
		fields.OneTermEqualSelector("reportingComponent", auditor).String())
	if err = a.lack(err, RightEventsRead, "see what people did on this page"); err != nil {
		return err
	}
	err = eachOf[v1alpha1.CleanerApprovalList](ctx, a.person, approval.Path(""), manySmall, a.addApproval)
	if err = a.lack(err, RightApprovalsRead, "see who approved and rejected plans"); err != nil {
		return err
	}
	a.addMeans(ctx)
	for _, each := range a.asked {
		a.add(each)
	}
	for _, each := range a.approved {
		a.add(each)
	}
	return nil
}

// lack takes the error for a right that is missing, if it is one.
func (a *activities) lack(err error, id, text string) error {
	if apierrors.IsForbidden(err) {
		a.missing = append(a.missing, missingRight(id, text, err))
		return nil
	}
	return err
}

func (a *activities) add(did Activity) {
	if a.runs == nil || slices.Contains(a.runs, did.Run) {
		a.all = append(a.all, did)
	}
}

func (a *activities) addRun(run *v1alpha1.CleanerRun) {
	if run.Spec.Trigger == v1alpha1.TriggerManual {
		a.asked[cmp.Or(run.Spec.RunRequest, run.Name)] = Activity{
			Time: run.Spec.NominalTime.Time, Text: "asked for the run", Run: run.Name,
		}
	}
	a.refused[run.Name] = run.Status.Plan != nil && run.Status.Reason == v1alpha1.ReasonPlanNotApproved
	if plan := run.Spec.Plan; plan != nil {
		a.approved[plan.Run] = Activity{
			Time: run.Spec.NominalTime.Time, By: plan.By, Text: "approved the plan", Run: run.Name,
		}
	}
}

// addEvent adds what an Event says that this page made.
func (a *activities) addEvent(event *corev1.Event) {
	did := Activity{Time: event.EventTime.Time, By: event.Annotations[byAnnotation]}
	did.Text = strings.TrimPrefix(event.Message, did.By+" ")
	switch about := event.InvolvedObject; {
	case about.Kind == "CleanerRun" && isRunOf(a.cleaner, about.Name):
		did.Run = about.Name
	case about.Kind == "Cleaner" && about.Name == a.cleaner:
		request := v1alpha1.CutRunRequest(event.Annotations[v1alpha1.RunRequestedAtAnnotation])
		did.Run = cmp.Or(event.Annotations[v1alpha1.CancelRunAnnotation], a.asked[request].Run)
		delete(a.asked, request)
	default:
		return
	}
	a.add(did)
}

// addMeans says of the last request, which the Cleaner still has, that it was made with kubectl cleaner, if it was. The
// API server knows the program, and not the person.
func (a *activities) addMeans(ctx context.Context) {
	var c v1alpha1.Cleaner
	if len(a.asked) == 0 || a.api.Read(ctx, cluster.CleanerPath(a.cleaner), &c) != nil {
		return
	}
	field := `"f:` + v1alpha1.RunRequestedAtAnnotation + `"`
	did, asked := a.asked[c.RunRequest()]
	for _, by := range c.ManagedFields {
		if asked && by.Manager == cluster.FieldManager && strings.Contains(by.FieldsV1.GetRawString(), field) {
			did.Text += " with kubectl cleaner"
			a.asked[c.RunRequest()] = did
		}
	}
}

// isRunOf reports whether a run is one of the Cleaner, which may have no record any more.
func isRunOf(cleaner, run string) bool {
	at, ok := v1alpha1.RunTime(run)
	return ok && v1alpha1.RunName(cleaner, at) == run
}

func (a *activities) addApproval(said *v1alpha1.CleanerApproval) {
	if said.Spec.Cleaner != a.cleaner {
		return
	}
	delete(a.approved, said.Spec.Run)
	did := Activity{Time: said.CreationTimestamp.Time, By: said.Spec.By, Text: "approved the plan", Run: said.Spec.Run}
	if said.Spec.Decision == v1alpha1.DecisionReject {
		did.Text = "rejected the plan"
	}
	if said.Spec.Reason != "" {
		did.Text += ": " + said.Spec.Reason
	}
	if a.refused[said.Spec.Run] {
		did.Text += " (this does not count, and somebody else may have said it in that name)"
	}
	a.add(did)
}
