// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package schedule says when a Cleaner runs. Everything in it is a pure function of time: a Schedule is a set of
// nominal times, and Decide says which of them is to be started at a given moment.
//
// A cron schedule is matched on the wall clock of its zone, and then mapped to an instant. Two rules cover the days on
// which the clocks change:
//
//   - A schedule with fixed hours runs once for each wall time. A wall time that the clocks skip runs at the first
//     instant after the gap, and one that they show twice runs the first time.
//   - A schedule that matches every hour runs by elapsed time. A wall time that is skipped does not run, and one that
//     is shown twice runs twice.
//
// An interval (@every) has no wall clock: each nominal time is measured from the last one.
package schedule

import (
	"time"
	_ "time/tzdata" // The image has no time zone database.

	"github.com/robfig/cron/v3"
)

// Schedule is a cron expression in a time zone, or an interval. It does not change and may be shared.
type Schedule struct {
	// zone is where the wall clock hangs. An interval has one too, to show times in.
	zone *time.Location
	// prefix is the TZ= or CRON_TZ= in front of the expression, if any.
	prefix string
	// fields is the expression as written, without prefix and with its descriptor spelled out.
	fields []string
	// spec matches wall times, which are held as times in UTC. It is nil for an interval.
	spec *cron.SpecSchedule
	// every is the interval in whole seconds. It is zero for a cron expression.
	every time.Duration
}

// isInterval reports whether the schedule is measured from its last nominal time.
func (s *Schedule) isInterval() bool {
	return s.every > 0
}

// isEveryHour reports whether the schedule runs by elapsed time, because all hours match.
func (s *Schedule) isEveryHour() bool {
	return len(values(s.spec.Hour)) == 24
}

// Next returns the first nominal time after t. It is zero only if there is none.
func (s *Schedule) Next(t time.Time) time.Time {
	t = wholeSecond(t)

	var next time.Time
	switch {
	case s.isInterval():
		next = t.Add(s.every)
	case s.isEveryHour():
		next = s.nextElapsed(t)
	default:
		next = s.nextOnce(t)
	}
	if next.IsZero() {
		return next
	}
	return next.In(s.zone)
}

// Latest returns the latest nominal time after after and not after until. It is zero if there is none. The nominal
// times of an interval are measured from after.
func (s *Schedule) Latest(after, until time.Time) time.Time {
	after = wholeSecond(after)
	if s.isInterval() {
		n := s.intervals(after, until)
		if n < 1 {
			return time.Time{}
		}
		return s.addIntervals(after, n)
	}

	latest := s.anyBefore(after, until)
	if latest.IsZero() {
		return latest
	}
	// latest is a nominal time not after until, and no nominal time lies in (end, until].
	for end := until; ; {
		next := s.Next(latest)
		if next.IsZero() || next.After(end) {
			return latest
		}
		middle := next.Add(end.Sub(next) / 2)
		if found := s.Next(middle); !found.IsZero() && !found.After(end) {
			latest = found
		} else {
			latest, end = next, middle
		}
	}
}

// anyBefore returns some nominal time in (after, until], near until. It is zero if there is none.
func (s *Schedule) anyBefore(after, until time.Time) time.Time {
	for back := time.Minute; ; back *= 4 {
		from := until.Add(-back)
		isAll := !from.After(after)
		if isAll {
			from = after
		}
		if found := s.Next(from); !found.IsZero() && !found.After(until) {
			return found
		}
		if isAll {
			return time.Time{}
		}
	}
}

// intervals counts the whole intervals from start to end. It divides seconds, because a Duration ends at 292 years.
func (s *Schedule) intervals(start, end time.Time) int64 {
	elapsed := end.Unix() - start.Unix()
	if elapsed < 0 {
		return 0
	}
	return elapsed / int64(s.every/time.Second)
}

func (s *Schedule) addIntervals(start time.Time, n int64) time.Time {
	return time.Unix(start.Unix()+n*int64(s.every/time.Second), 0).In(s.zone)
}

// wholeSecond drops the fraction, and the monotonic reading that must not decide about wall time.
func wholeSecond(t time.Time) time.Time {
	return time.Unix(t.Unix(), 0)
}
