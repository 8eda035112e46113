// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import "time"

const (
	// maxMissed is how far missed runs are counted exactly.
	maxMissed = 100
	// MissedMany stands for more than 100 missed runs.
	MissedMany = maxMissed + 1
)

// Decision is what is to be done about a schedule at one moment.
type Decision struct {
	// Due is the nominal time of the run to start now, always the latest that is due. It is zero if there is none.
	Due time.Time
	// Late is the latest nominal time that passed, if it is beyond the starting deadline and so missed. Else it is zero.
	Late time.Time
	// Missed counts the nominal times that passed and will not run: all that are due except Due. It is exact up to 100;
	// MissedMany means more.
	Missed int
	// Next is the first nominal time after now.
	Next time.Time
}

// Decide says what to do now, when planned is the nominal time that the schedule was waiting for. A zero planned means
// that it waited for nothing, so that nothing is due. deadline is how late a run may start, nil for however late.
//
// A clock that was set back makes nothing due again: planned stays in the future until the clock is there.
func Decide(s *Schedule, planned, now time.Time, deadline *time.Duration) Decision {
	switch {
	case planned.IsZero():
		return Decision{Next: s.Next(now)}
	case planned.After(now):
		return Decision{Next: planned.In(s.zone)}
	}

	latest, passed, next := s.passed(planned, now)
	decision := Decision{Next: next}
	switch {
	case passed == 0:
		return decision
	case deadline != nil && now.Sub(latest) > *deadline:
		decision.Late = latest
	default:
		decision.Due = latest
		passed--
	}
	decision.Missed = min(passed, MissedMany)
	return decision
}

// passed looks at the nominal times from planned to now. It returns the latest, how many there are (any number above
// MissedMany means at least that many), and the first one after now.
func (s *Schedule) passed(planned, now time.Time) (latest time.Time, count int, next time.Time) {
	if s.isInterval() {
		n := s.intervals(planned, now)
		return s.addIntervals(planned, n), int(min(n, MissedMany)) + 1, s.addIntervals(planned, n+1)
	}

	// A second too much would count a nominal time before planned, so it is a nanosecond.
	next = s.Next(planned.Add(-time.Nanosecond))
	for ; count <= MissedMany; count++ {
		if next.IsZero() || next.After(now) {
			return latest, count, next
		}
		latest = next
		next = s.Next(latest)
	}
	if later := s.Latest(latest, now); !later.IsZero() {
		latest = later
	}
	return latest, count, s.Next(now)
}

// Plan says which nominal time to wait for after something changed: planned, if it is still a nominal time of s, else
// the first one after now. A zero planned means that nothing is waited for yet.
//
// An interval keeps a planned time in the past, which is due, and one that is at most an interval away.
func (s *Schedule) Plan(planned, now time.Time) time.Time {
	if planned.IsZero() || !s.isNominal(planned, now) {
		return s.Next(now)
	}
	return planned.In(s.zone)
}

// slightly is by how much a clock may be set back without the nominal times in between becoming due again.
const slightly = time.Minute

// Replan says which nominal time to wait for when planned was stored: another one when planned is later than it can be,
// because the clock was ahead when it was planned. last is the nominal time of the last run, zero if there was none.
func (s *Schedule) Replan(planned, last, now time.Time) time.Time {
	if last.After(now) && last.Sub(now) <= slightly {
		now = last
	}
	if anew := s.Next(now); !anew.IsZero() && anew.Before(planned) {
		return anew
	}
	return planned
}

func (s *Schedule) isNominal(t, now time.Time) bool {
	if s.isInterval() {
		return !t.After(now.Add(s.every))
	}
	return s.Next(t.Add(-time.Nanosecond)).Equal(t)
}
