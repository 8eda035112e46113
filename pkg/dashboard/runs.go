// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/runs"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// phaseRunning is the phase of a run that reads and judges: its record has none yet.
const phaseRunning = "Running"

// runRows are the runs that are wanted, the latest first.
func runRows(ctx context.Context, p *person, wanted func(RunRow) bool) ([]RunRow, error) {
	rows := []RunRow{}
	err := eachOf[v1alpha1.CleanerRunList](ctx, p, cluster.RunPath(""), fewLarge, func(run *v1alpha1.CleanerRun) {
		if row := runRow(run); wanted(row) {
			rows = append(rows, row)
		}
	})
	sortRuns(rows)
	return rows, err
}

func sortRuns(rows []RunRow) {
	slices.SortFunc(rows, func(a, b RunRow) int { return cmp.Or(b.Time.Compare(a.Time), strings.Compare(a.Name, b.Name)) })
}

func runRow(run *v1alpha1.CleanerRun) RunRow {
	status := &run.Status
	row := RunRow{
		Name: run.Name, Cleaner: run.Spec.Cleaner, Time: run.Spec.NominalTime.Time, Trigger: run.Spec.Trigger,
		Action: run.Spec.Action, DryRun: run.Spec.DryRun, Phase: cmp.Or(string(status.Phase), phaseRunning),
		Reason: status.Reason, Message: status.Message, RunCounts: status.RunCounts,
	}
	if status.Plan != nil {
		row.CarriedOutBy = status.Plan.CarriedOutBy
	}
	if status.Duration != nil {
		row.DurationSeconds = status.Duration.Seconds()
	}
	if kept := status.Copies; kept != nil && kept.Dropped == "" {
		row.Copies, row.CopiesUntil = kept.Objects, timeOf(&kept.ExpirationTime)
	}
	return row
}

func (s *Server) listRuns(r *http.Request, p *person) (int, any, error) {
	query := r.URL.Query()
	rows, err := runRows(r.Context(), p, func(row RunRow) bool {
		return isOrAny(query.Get("cleaner"), row.Cleaner) && isOrAny(query.Get("phase"), row.Phase) &&
			matches(query.Get("q"), row.Name, row.Message)
	})
	return http.StatusOK, pageOf(r, rows), err
}

// readRun reads one run. One that does not exist is 404.
func readRun(ctx context.Context, p *person, name string) (*v1alpha1.CleanerRun, error) {
	var run v1alpha1.CleanerRun
	return &run, p.api.Read(ctx, cluster.RunPath(name), &run)
}

func (s *Server) run(r *http.Request, p *person) (int, any, error) {
	ctx := r.Context()
	run, err := readRun(ctx, p, r.PathValue("name"))
	if err != nil {
		return 0, nil, err
	}
	detail := RunDetail{
		RunRow: runRow(run), Progress: run.Status.Progress,
		Stages:     append(p.approvalOf(ctx, run), stagesOf(run, p.said(ctx, run))...),
		Conditions: conditionsOf(run.Status.Conditions),
		Outcomes:   tally(run), Notifications: run.Status.Notifications, Ending: cluster.Ending(run),
	}
	if plan := run.Spec.Plan; plan != nil {
		detail.Plan, detail.ApprovedBy = plan.Run, plan.By
	}
	if detail.Notifications == nil {
		detail.Notifications = []v1alpha1.NotificationStatus{}
	}
	of, err := runRows(ctx, p, func(row RunRow) bool { return row.Cleaner == run.Spec.Cleaner })
	if i := slices.IndexFunc(of, func(row RunRow) bool { return row.Name == run.Name }); i > 0 {
		detail.After = of[i-1].Name
	}
	if i := slices.IndexFunc(of, isBefore(run)); i >= 0 {
		detail.Before = of[i].Name
	}
	if namespace := cluster.PartsNamespace(run); namespace != "" {
		detail.Restore = p.may(ctx, call{Verb: "get", Version: "v1", Resource: "secrets", Namespace: namespace})
	}
	return http.StatusOK, detail, err
}

// isBefore reports whether a run can be compared with the given one, as that which was before it.
func isBefore(run *v1alpha1.CleanerRun) func(RunRow) bool {
	since := runs.Since(run)
	return func(row RunRow) bool {
		return row.Cleaner == run.Spec.Cleaner && row.Time.Before(since) && v1alpha1.RunPhase(row.Phase).Final()
	}
}

// tally is how many objects had which outcome, of the objects that the record lists, or else of its tallies.
func tally(run *v1alpha1.CleanerRun) []OutcomeCount {
	counts := map[v1alpha1.OutcomeResult]int64{}
	for _, t := range run.Status.Tallies {
		counts[t.Outcome] += t.Count
	}
	if len(run.Status.Tallies) == 0 {
		for i := range run.Status.Objects {
			counts[run.Status.Objects[i].Outcome]++
		}
	}
	all := make([]OutcomeCount, 0, len(counts))
	for outcome, n := range counts {
		all = append(all, OutcomeCount{outcome, n})
	}
	slices.SortFunc(all, func(a, b OutcomeCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Outcome, b.Outcome))
	})
	return all
}

// outcomes lists the objects of a run, also those that its record has no room for.
func (s *Server) outcomes(r *http.Request, p *person) (int, any, error) {
	ctx := r.Context()
	leave, err := s.enter(ctx, p)
	if err != nil {
		return 0, nil, err
	}
	defer leave()
	run, err := readRun(ctx, p, r.PathValue("name"))
	if err != nil {
		return 0, nil, err
	}
	query := r.URL.Query()
	answer, listed := Outcomes{Page: newPage[v1alpha1.ObjectOutcome](r)}, int64(0)
	keep := func(o v1alpha1.ObjectOutcome) {
		listed++
		if isOrAny(query.Get("outcome"), string(o.Outcome)) && isOrAny(query.Get("kind"), o.Kind) &&
			isOrAny(query.Get("namespace"), o.Namespace) &&
			matches(query.Get("q"), o.Name, o.Namespace, o.Reason, o.Message) {
			answer.add(o)
		}
	}
	err = p.api.EachObject(ctx, run, keep)
	if ctx.Err() != nil {
		return 0, nil, err
	}
	if err != nil { // some may have been added: here are those that the record lists
		answer = Outcomes{Page: newPage[v1alpha1.ObjectOutcome](r), Unread: &failureOf(err).Body}
		for i := range run.Status.Objects {
			keep(run.Status.Objects[i])
		}
	} else {
		answer.Unread = notKept(run, listed)
	}
	return http.StatusOK, answer, nil
}

// notKept says why a run has more objects than are listed. Nil when it has no more.
func notKept(run *v1alpha1.CleanerRun, listed int64) *Error {
	all := int64(len(run.Status.Objects)) + run.Status.ObjectsOmitted
	if listed >= all {
		return nil
	}
	why := "The record of a run lists 256 KiB of objects. A run that touches nothing stores up to 8 MiB more, which are kept " +
		"for the latest two such runs of a Cleaner."
	if run.Status.Intent != nil {
		why = "Of the objects that the run left alone, the record lists as many as fit into 256 KiB."
	}
	return &Error{
		Error: fmt.Sprintf("%s of %s are listed", terminal.Thousands(listed), terminal.Grouped(all, "object")), Hint: why,
	}
}

// diff compares a run with the one before.
func (s *Server) diff(r *http.Request, p *person) (int, any, error) {
	ctx := r.Context()
	leave, err := s.enter(ctx, p)
	if err != nil {
		return 0, nil, err
	}
	defer leave()
	run, err := readRun(ctx, p, r.PathValue("name"))
	if err != nil {
		return 0, nil, err
	}
	earlier, err := runRows(ctx, p, isBefore(run))
	switch {
	case err != nil:
		return 0, nil, err
	case len(earlier) == 0:
		return 0, nil, notFound("there is no run of cleaner %q before run %s on record", run.Spec.Cleaner, run.Name)
	}
	before, err := readRun(ctx, p, earlier[0].Name)
	if err = firstOf(err, p.api.Fill(ctx, run)); err == nil {
		err = p.api.Fill(ctx, before)
	}
	if err != nil {
		return 0, nil, err
	}
	compared := runs.Compare(before, run, func(*v1alpha1.ObjectOutcome) bool { return true })
	answer := Diff{Before: before.Name, Same: compared.Same, Unknown: compared.Unknown}
	all := make([]Change, 0, len(compared.Changes))
	for _, c := range compared.Changes {
		all = append(all, answer.add(c))
	}
	answer.Page = pageOf(r, all)
	return http.StatusOK, answer, nil
}

func (d *Diff) add(c runs.Change) Change {
	switch {
	case c.Before == nil:
		d.New++
		return Change{Change: "new", ObjectOutcome: *c.Now}
	case c.Now == nil:
		d.Gone++
		return Change{Change: "gone", ObjectOutcome: *c.Before, Was: c.Before.Outcome}
	}
	d.Changed++
	return Change{Change: "changed", ObjectOutcome: *c.Now, Was: c.Before.Outcome}
}
