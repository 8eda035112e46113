// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import "time"

// reach is more than clocks ever differ from UTC, and more than they were ever changed by at once (24 hours, where the
// date line moved).
const reach = 48 * time.Hour

// A wall time is what clocks in the zone show, held as a time in UTC so that each one exists exactly once.

// wall returns what clocks in the zone show at t.
func (s *Schedule) wall(t time.Time) time.Time {
	return t.Add(s.offset(t)).UTC()
}

func (s *Schedule) offset(t time.Time) time.Duration {
	_, seconds := t.In(s.zone).Zone()
	return time.Duration(seconds) * time.Second
}

// change returns an instant after t up to which clocks go on without a change. It is zero if they go on for ever.
func (s *Schedule) change(t time.Time) time.Time {
	_, end := t.In(s.zone).ZoneBounds()
	if !end.IsZero() && !end.After(t) {
		// Go takes every year beyond its table of changes for one of 365 days (tzset in time/zoneinfo.go), so that on the
		// last day of a leap year the end has passed. Clocks do not change on that day.
		return t.Truncate(24 * time.Hour).Add(24 * time.Hour)
	}
	return end
}

// nextWall returns the first matching wall time after w. It is zero if there is none.
func (s *Schedule) nextWall(w time.Time) time.Time {
	// The cron package gives up after five years. 29 February can be eight years away, so a second look is enough.
	for range 2 {
		if next := s.spec.Next(w); !next.IsZero() {
			return next
		}
		w = time.Date(w.Year()+5, time.December, 31, 23, 59, 59, 0, time.UTC)
	}
	return time.Time{}
}

// nextOnce returns the first nominal time after t of a schedule with fixed hours. Such a schedule runs for each
// matching wall time at the first instant at which clocks show that time or a later one. In that sentence are both a
// wall time that is skipped and one that is shown twice.
func (s *Schedule) nextOnce(t time.Time) time.Time {
	next := s.nextWall(s.latestWall(t))
	if next.IsZero() {
		return next
	}
	return s.firstInstant(next, t)
}

// latestWall returns the latest wall time that clocks showed up to t. It is later than what they show at t in the hour
// after they were set back.
func (s *Schedule) latestWall(t time.Time) time.Time {
	latest := s.wall(t)
	for end := s.change(t.Add(-reach)); !end.IsZero() && !end.After(t); end = s.change(end) {
		if w := s.wall(end.Add(-time.Second)); w.After(latest) {
			latest = w
		}
	}
	return latest
}

// firstInstant returns the first instant at which clocks show w or later. Up to t they showed only earlier times.
func (s *Schedule) firstInstant(w, t time.Time) time.Time {
	if from := w.Add(-reach); from.After(t) {
		t = from
	}
	for {
		instant, end := w.Add(-s.offset(t)), s.change(t)
		switch {
		case instant.Before(t):
			return t // Clocks jumped over w.
		case end.IsZero() || instant.Before(end):
			return instant
		}
		t = end
	}
}

// nextElapsed returns the first nominal time after t of a schedule that matches every hour: the first instant at which
// clocks show a matching wall time.
func (s *Schedule) nextElapsed(t time.Time) time.Time {
	from := s.wall(t)
	next := s.nextWall(from)
	for !next.IsZero() {
		instant, end := next.Add(-s.offset(t)), s.change(t)
		if end.IsZero() || instant.Before(end) {
			return instant
		}

		// Clocks change before they show next. Unless they jump out of the stretch between from and next, in which
		// nothing matches, next is still what to look for.
		t = end
		w := s.wall(t).Add(-time.Second)
		if w.Before(from) || !w.Before(next) {
			from, next = w, s.nextWall(w)
		}
	}
	return time.Time{}
}
