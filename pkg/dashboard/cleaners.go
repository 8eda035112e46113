// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

// The states of CleanerRow.
const (
	stateReady     = "Ready"
	stateNotReady  = "NotReady"
	stateSuspended = "Suspended"
	stateRunning   = "Running"
	stateFailed    = "Failed"
)

// cleanerRows are all Cleaners, as rows.
func (s *Server) cleanerRows(ctx context.Context, p *person) ([]CleanerRow, error) {
	rows := []CleanerRow{}
	err := eachOf[v1alpha1.CleanerList](ctx, p, cluster.CleanerPath(""), manySmall, func(c *v1alpha1.Cleaner) {
		rows = append(rows, rowOf(c, s.Now()))
	})
	return rows, err
}

func rowOf(c *v1alpha1.Cleaner, now time.Time) CleanerRow {
	row := CleanerRow{
		Name: c.Name, Action: cmp.Or(c.Status.Action, c.EffectiveAction()), Suspended: c.IsSuspended(),
		Schedule: c.Spec.Schedule, Words: c.Status.Schedule, Next: timeOf(c.Status.NextScheduleTime),
		DryRunReason: c.Status.DryRunReason,
	}
	if observing := c.Observing(now); observing != "" {
		row.ScanUntil, row.ActsAs = timeOf(c.Spec.ScanUntil), c.EffectiveAction()
		if row.DryRunReason == observing { // ScanUntil says it
			row.DryRunReason = ""
		}
	}
	if last := c.Status.LastRun; last != nil {
		row.LastRun = &LastRun{last.Name, last.NominalTime.Time, last.RunCounts}
	}
	if active := c.Status.ActiveRun; active != nil {
		row.ActiveRun = active.Name
	}
	if plan := c.Status.Plan; plan != nil {
		row.Plan = &PlanWaits{plan.Run, plan.Objects, plan.ExpirationTime.Time}
	}
	if c.Status.FailureMessage != nil {
		row.Message = *c.Status.FailureMessage
	}
	row.State = stateOf(c)
	return row
}

// stateOf is the one word that matters most.
func stateOf(c *v1alpha1.Cleaner) string {
	ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	ran := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionRunSucceeded)
	switch {
	case c.Status.ActiveRun != nil:
		return stateRunning
	case c.IsSuspended():
		return stateSuspended
	case ready == nil || ready.Status != metav1.ConditionTrue:
		return stateNotReady
	case ran != nil && ran.Status == metav1.ConditionFalse:
		return stateFailed
	}
	return stateReady
}

func timeOf(t *metav1.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t.Time
}

func (s *Server) listCleaners(r *http.Request, p *person) (int, any, error) {
	rows, err := s.cleanerRows(r.Context(), p)
	if err != nil {
		return 0, nil, err
	}
	query := r.URL.Query()
	rows = slices.DeleteFunc(rows, func(row CleanerRow) bool {
		return !isOrAny(query.Get("action"), string(row.Action)) || !isOrAny(query.Get("state"), row.State) ||
			!matches(query.Get("q"), row.Name, row.Words, row.Message)
	})
	sortCleaners(rows, query.Get("sort"))
	return http.StatusOK, pageOf(r, rows), nil
}

// sortCleaners sorts by what is named, and then by name. A Cleaner that has no such value comes last.
func sortCleaners(rows []CleanerRow, by string) {
	by, turned := strings.CutPrefix(by, "-")
	value := map[string]func(CleanerRow) (n int64, has bool){
		"next": func(row CleanerRow) (int64, bool) { return unix(row.Next) },
		"last": func(row CleanerRow) (int64, bool) {
			if row.LastRun == nil {
				return 0, false
			}
			return row.LastRun.Time.Unix(), true
		},
		"matched": func(row CleanerRow) (int64, bool) {
			if row.LastRun == nil {
				return 0, false
			}
			return row.LastRun.Matched, true
		},
		"acted": func(row CleanerRow) (int64, bool) {
			if row.LastRun == nil {
				return 0, false
			}
			return row.LastRun.Acted, true
		},
	}[by]
	slices.SortFunc(rows, func(a, b CleanerRow) int {
		var order int
		if value != nil {
			of, hasA := value(a)
			other, hasB := value(b)
			if hasA != hasB {
				return map[bool]int{true: -1, false: 1}[hasA]
			}
			order = cmp.Compare(of, other)
		} else {
			order = strings.Compare(a.Name, b.Name)
		}
		if turned {
			order = -order
		}
		return cmp.Or(order, strings.Compare(a.Name, b.Name))
	})
}

func unix(t *time.Time) (int64, bool) {
	if t == nil {
		return 0, false
	}
	return t.Unix(), true
}
