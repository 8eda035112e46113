// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// oracle knows the nominal times in a window by looking at every instant and every wall time in it.
type oracle struct {
	first, last time.Time
	step        time.Duration
	zone        *time.Location
	// walls is what clocks show at each instant of the window.
	walls []time.Time
	// instants maps each wall time to when it is shown first, or to the end of the gap that it is in.
	instants map[time.Time]time.Time
}

func newOracle(t *testing.T, middle time.Time, around, step time.Duration, zone string) *oracle {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	o := &oracle{first: middle.Add(-around), last: middle.Add(around), step: step, zone: location}
	o.instants = map[time.Time]time.Time{}
	for instant := o.first; !instant.After(o.last); instant = instant.Add(step) {
		w := o.wallAt(instant)
		if len(o.walls) > 0 {
			for skipped := o.walls[len(o.walls)-1].Add(step); skipped.Before(w); skipped = skipped.Add(step) {
				o.instants[skipped] = instant
			}
		}
		if _, isAgain := o.instants[w]; !isAgain {
			o.instants[w] = instant
		}
		o.walls = append(o.walls, w)
	}
	return o
}

// wallAt is what clocks show, put together from what they show.
func (o *oracle) wallAt(t time.Time) time.Time {
	t = t.In(o.zone)
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// elapsed is the rule for schedules that match every hour: each instant at which clocks show a matching wall time.
func (o *oracle) elapsed(matches func(time.Time) bool) []time.Time {
	var times []time.Time
	for i, w := range o.walls {
		if matches(w) {
			times = append(times, o.first.Add(time.Duration(i)*o.step))
		}
	}
	return times
}

// once is the rule for schedules with fixed hours: each matching wall time, when it is shown first or its gap ends.
func (o *oracle) once(matches func(time.Time) bool) []time.Time {
	var times []time.Time
	for w, instant := range o.instants {
		if matches(w) {
			times = append(times, instant)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	return slices.CompactFunc(times, time.Time.Equal)
}

// transitions finds the hours in which clocks change, by looking at each hour. A zone without any gives some hour.
func transitions(zone *time.Location, from, to time.Time) []time.Time {
	var found []time.Time
	for t := from; t.Before(to); t = t.Add(time.Hour) {
		_, before := t.In(zone).Zone()
		_, after := t.Add(time.Hour).In(zone).Zone()
		if before != after {
			found = append(found, t)
		}
	}
	if len(found) == 0 {
		return []time.Time{from.Add(100 * 24 * time.Hour)}
	}
	return found
}

type sample struct {
	expression  string
	isEveryHour bool
	matches     func(w time.Time) bool
}

var minuteSamples = []sample{
	{"30 2 * * *", false, func(w time.Time) bool { return w.Hour() == 2 && w.Minute() == 30 }},
	{"30 1 * * *", false, func(w time.Time) bool { return w.Hour() == 1 && w.Minute() == 30 }},
	{"0 0 * * *", false, func(w time.Time) bool { return w.Hour() == 0 && w.Minute() == 0 }},
	{"* 2 * * *", false, func(w time.Time) bool { return w.Hour() == 2 }},
	{"*/15 0-3 * * *", false, func(w time.Time) bool { return w.Hour() <= 3 && w.Minute()%15 == 0 }},
	{"45 */2 * * *", false, func(w time.Time) bool { return w.Hour()%2 == 0 && w.Minute() == 45 }},
	{"10,50 1-23 * * *", false, func(w time.Time) bool { return w.Hour() != 0 && w.Minute()%40 == 10 }},
	{"15 3 * * 0", false, func(w time.Time) bool { return w.Weekday() == 0 && w.Hour() == 3 && w.Minute() == 15 }},
	{"0 0 1 * *", false, func(w time.Time) bool { return w.Day() == 1 && w.Hour() == 0 && w.Minute() == 0 }},
	{"* * * * *", true, func(time.Time) bool { return true }},
	{"30 * * * *", true, func(w time.Time) bool { return w.Minute() == 30 }},
	{"*/20 * * * *", true, func(w time.Time) bool { return w.Minute()%20 == 0 }},
	{"5 * * * 6", true, func(w time.Time) bool { return w.Weekday() == 6 && w.Minute() == 5 }},
	{"7 * 1-8 * MON", true, func(w time.Time) bool { return w.Minute() == 7 && (w.Day() <= 8 || w.Weekday() == 1) }},
}

var secondSamples = []sample{
	{"* * 1 * * *", false, func(w time.Time) bool { return w.Hour() == 1 }},
	{"30 59 0-2 * * *", false, func(w time.Time) bool { return w.Hour() <= 2 && w.Minute() == 59 && w.Second() == 30 }},
	{"*/20 0 * * * *", true, func(w time.Time) bool { return w.Minute() == 0 && w.Second()%20 == 0 }},
}

// check compares Next and Latest with the oracle all over the window.
func (o *oracle) check(t *testing.T, sample sample) {
	t.Helper()
	s := mustParse(t, sample.expression, o.zone.String())
	want := o.once(sample.matches)
	if sample.isEveryHour {
		want = o.elapsed(sample.matches)
	}

	var got []time.Time
	for next := s.Next(o.first.Add(-time.Second)); !next.After(o.last); next = s.Next(next) {
		got = append(got, next)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: nominal times from %s (-want +got):\n%s", s, o.first, diff)
	}

	i := 0
	for at := o.first; !at.After(o.last); at = at.Add(211 * o.step) {
		for i < len(want) && !want[i].After(at) {
			i++
		}
		if i < len(want) && !s.Next(at).Equal(want[i]) {
			t.Errorf("%s: Next(%s) = %s, want %s", s, at, s.Next(at), want[i])
		}
		if i > 0 && !s.Latest(o.first.Add(-time.Second), at).Equal(want[i-1]) {
			t.Errorf("%s: Latest(%s) = %s, want %s", s, at, s.Latest(o.first.Add(-time.Second), at), want[i-1])
		}
	}
}

func TestNextAgreesWithOracle(t *testing.T) {
	zones := []string{
		"America/New_York", "Europe/Rome", "Europe/Dublin", "Australia/Lord_Howe", "Australia/Sydney", "America/Santiago",
		"America/Havana", "Africa/Cairo", "Asia/Beirut", "Pacific/Chatham", "Africa/Casablanca", "Antarctica/Troll",
		"America/Nuuk", "Asia/Kathmandu",
	}
	for _, name := range zones {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone, err := time.LoadLocation(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, hour := range transitions(zone, at(t, "2026-01-01 00:00:00"), at(t, "2028-01-01 00:00:00")) {
				o := newOracle(t, hour, 26*time.Hour, time.Minute, name)
				for _, sample := range minuteSamples {
					o.check(t, sample)
				}
			}
		})
	}
}

func TestNextAgreesWithOracleToTheSecond(t *testing.T) {
	for name, hour := range map[string]string{
		"America/New_York": "2026-11-01 05:00:00", "Europe/Rome": "2026-03-29 00:00:00", "Australia/Lord_Howe": "2026-04-04 15:00:00",
	} {
		o := newOracle(t, at(t, hour), 3*time.Hour, time.Second, name)
		for _, sample := range secondSamples {
			o.check(t, sample)
		}
	}
}

// TestNextAgreesWithOracleOnOddDays covers the date line (Samoa and Kwajalein skipped a day, Kwajalein had one twice) and
// the last day of a leap year, on which Time.ZoneBounds is wrong.
func TestNextAgreesWithOracleOnOddDays(t *testing.T) {
	tests := []struct{ zone, hour string }{
		{"Pacific/Apia", "2011-12-30 10:00:00"},
		{"Pacific/Kwajalein", "1993-08-21 12:00:00"},
		{"Pacific/Kwajalein", "1969-09-30 13:00:00"},
		{"America/New_York", "2028-12-31 12:00:00"},
		{"America/New_York", "2040-12-31 12:00:00"},
		{"Australia/Lord_Howe", "2040-12-31 12:00:00"},
	}
	for _, tt := range tests {
		o := newOracle(t, at(t, tt.hour), 50*time.Hour, time.Minute, tt.zone)
		for _, sample := range minuteSamples {
			o.check(t, sample)
		}
	}
}
