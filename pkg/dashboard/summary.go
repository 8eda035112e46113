// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

const (
	maxAttention = 50
	maxNext      = 10
	daysBack     = 30
	dayForm      = "2006-01-02"
)

// The levels of Attention.
const (
	levelWaiting = "waiting"
	levelError   = "error"
	levelWarning = "warning"
)

// summary is the overview. A person who may not read Cleaners or runs gets what is left, and the missing right.
func (s *Server) summary(r *http.Request, p *person) (int, any, error) {
	answer := Summary{Attention: []Attention{}, Next: []NextRun{}, Days: []Day{}, Missing: []Right{}}
	cleaners, err := s.cleanerRows(r.Context(), p)
	switch {
	case apierrors.IsForbidden(err):
		answer.Missing = append(answer.Missing, missingRight(RightCleanersRead, "see Cleaners", err))
	case err != nil:
		return 0, nil, err
	}
	runs, err := runRows(r.Context(), p, func(RunRow) bool { return true })
	switch {
	case apierrors.IsForbidden(err):
		answer.Missing = append(answer.Missing, missingRight(RightRunsRead, "see runs", err))
	case err != nil:
		return 0, nil, err
	}
	for i := range cleaners {
		answer.count(&cleaners[i])
	}
	answer.arrange()
	answer.Days = daysOf(runs, s.Now())
	return http.StatusOK, answer, nil
}

// count adds a Cleaner.
func (s *Summary) count(row *CleanerRow) {
	s.TotalCleaners++
	s.attend(row)
	switch row.State {
	case stateReady:
		s.Ready++
	case stateSuspended:
		s.Suspended++
	case stateRunning:
		s.Running++
	case stateFailed, stateNotReady:
		s.Failing++
	}
	if row.Next != nil {
		s.Next = append(s.Next, NextRun{row.Name, row.Action, *row.Next})
	}
	if last := row.LastRun; last != nil && (s.LastRun == nil || last.Time.After(*s.LastRun)) {
		s.LastRun = &last.Time
	}
}

// attend adds what a person should look at of a Cleaner.
func (s *Summary) attend(row *CleanerRow) {
	if plan := row.Plan; plan != nil {
		objects, until := terminal.Grouped(plan.Objects, "object"), plan.Expires.UTC().Format(time.RFC3339)
		s.Attention = append(s.Attention, Attention{
			Level: levelWaiting, Cleaner: row.Name, Run: plan.Run, Reason: v1alpha1.ReasonAwaitingApproval,
			Message: fmt.Sprintf("a plan of %s waits for approval until %s", objects, until),
		})
	}
	attention := Attention{Level: levelError, Cleaner: row.Name, Reason: row.State, Message: row.Message}
	switch row.State {
	case stateFailed:
		if row.LastRun != nil {
			attention.Run, attention.Since = row.LastRun.Name, &row.LastRun.Time
		}
		s.Attention = append(s.Attention, attention)
	case stateNotReady:
		s.Attention = append(s.Attention, attention)
	}
	if row.State != stateFailed && row.LastRun != nil && row.LastRun.Failed > 0 {
		s.Attention = append(s.Attention, Attention{
			Level: levelWarning, Cleaner: row.Name, Run: row.LastRun.Name, Reason: "ObjectsFailed",
			Message: "some objects of the last run failed", Since: &row.LastRun.Time,
		})
	}
}

// arrange puts the most urgent first.
func (s *Summary) arrange() {
	urgency := []string{levelWaiting, levelError, levelWarning}
	slices.SortStableFunc(s.Attention, func(a, b Attention) int {
		return cmp.Or(slices.Index(urgency, a.Level)-slices.Index(urgency, b.Level), cmp.Compare(a.Cleaner, b.Cleaner))
	})
	s.Attention = s.Attention[:min(len(s.Attention), maxAttention)]
	slices.SortFunc(s.Next, func(a, b NextRun) int {
		return cmp.Or(a.Time.Compare(b.Time),
			cmp.Compare(a.Cleaner, b.Cleaner))
	})
	s.Next = s.Next[:min(len(s.Next), maxNext)]
}

// daysOf adds the runs up by day, of those that are on record.
func daysOf(runs []RunRow, now time.Time) []Day {
	days, at := []Day{}, map[string]int{}
	first := now.UTC().AddDate(0, 0, -daysBack)
	for _, row := range slices.Backward(runs) { // the oldest first
		if row.Time.Before(first) || !v1alpha1.RunPhase(row.Phase).Final() {
			continue
		}
		day := row.Time.UTC().Format(dayForm)
		i, ok := at[day]
		if !ok {
			i = len(days)
			at[day] = i
			days = append(days, Day{Day: day})
		}
		days[i].Runs++
		days[i].Matched += row.found()
		days[i].Acted += row.Acted
		days[i].Failed += row.Failed
		days[i].FreedBytes += row.FreedBytes
	}
	return days
}
