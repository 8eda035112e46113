// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDecide(t *testing.T) {
	const hourly, everyMinute, everySecond = "0 * * * *", "* * * * *", "* * * * * *"
	const topOfTheHour = "2026-05-19 10:00:00"
	type want struct {
		due, late string
		missed    int
		next      string
	}
	tests := []struct {
		name, expression string
		planned, now     string
		deadline         string // "" for none
		want             want
	}{
		{"never planned", hourly, "", topOfTheHour, "", want{next: "2026-05-19 11:00:00"}},
		{"too early", hourly, topOfTheHour, "2026-05-19 09:59:59.9", "", want{next: topOfTheHour}},
		{"clock set back for years", hourly, topOfTheHour, "1999-01-01 00:00:00", "1s", want{next: topOfTheHour}},
		{"on the second", hourly, topOfTheHour, topOfTheHour, "0s", want{due: topOfTheHour, next: "2026-05-19 11:00:00"}},
		{"just after the hour", hourly, topOfTheHour, "2026-05-19 10:00:01", "", want{due: topOfTheHour, next: "2026-05-19 11:00:00"}},
		{"late, no deadline", hourly, topOfTheHour, "2026-05-19 10:59:59", "", want{due: topOfTheHour, next: "2026-05-19 11:00:00"}},
		{
			"late, at the deadline", hourly, topOfTheHour, "2026-05-19 10:10:00", "10m",
			want{due: topOfTheHour, next: "2026-05-19 11:00:00"},
		},
		{
			"late, beyond the deadline", hourly, topOfTheHour, "2026-05-19 10:10:00.1", "10m",
			want{late: topOfTheHour, missed: 1, next: "2026-05-19 11:00:00"},
		},
		{
			"no deadline at all is not zero", hourly, topOfTheHour, "2026-05-19 10:00:01", "0s",
			want{late: topOfTheHour, missed: 1, next: "2026-05-19 11:00:00"},
		},
		{
			"three passed, latest in time", hourly, topOfTheHour, "2026-05-19 12:05:00", "10m",
			want{due: "2026-05-19 12:00:00", missed: 2, next: "2026-05-19 13:00:00"},
		},
		{
			"three passed, all too late", hourly, topOfTheHour, "2026-05-19 12:30:00", "10m",
			want{late: "2026-05-19 12:00:00", missed: 3, next: "2026-05-19 13:00:00"},
		},
		{
			"100 missed", everyMinute, topOfTheHour, "2026-05-19 11:40:00", "",
			want{due: "2026-05-19 11:40:00", missed: 100, next: "2026-05-19 11:41:00"},
		},
		{
			"101 missed", everyMinute, topOfTheHour, "2026-05-19 11:41:00", "",
			want{due: "2026-05-19 11:41:00", missed: MissedMany, next: "2026-05-19 11:42:00"},
		},
		{
			"100 missed, all too late", everyMinute, topOfTheHour, "2026-05-19 11:39:30", "1s",
			want{late: "2026-05-19 11:39:00", missed: 100, next: "2026-05-19 11:40:00"},
		},
		{
			"101 missed, all too late", everyMinute, topOfTheHour, "2026-05-19 11:40:30", "1s",
			want{late: "2026-05-19 11:40:00", missed: MissedMany, next: "2026-05-19 11:41:00"},
		},
		{
			"102 passed, all too late", everyMinute, topOfTheHour, "2026-05-19 11:41:30", "1s",
			want{late: "2026-05-19 11:41:00", missed: MissedMany, next: "2026-05-19 11:42:00"},
		},
		{
			"years missed", hourly, topOfTheHour, "2036-05-19 10:30:00", "",
			want{due: "2036-05-19 10:00:00", missed: MissedMany, next: "2036-05-19 11:00:00"},
		},
		{
			"years of seconds missed", everySecond, topOfTheHour, "2126-05-19 10:30:00.5", "",
			want{due: "2126-05-19 10:30:00", missed: MissedMany, next: "2126-05-19 10:30:01"},
		},
		{
			"planned is not a nominal time", hourly, "2026-05-19 10:20:00", "2026-05-19 10:30:00", "",
			want{next: "2026-05-19 11:00:00"},
		},
		{
			"first nominal time after a wrong plan", hourly, "2026-05-19 10:20:00", "2026-05-19 11:30:00", "",
			want{due: "2026-05-19 11:00:00", next: "2026-05-19 12:00:00"},
		},

		{"interval, too early", "@every 1h", "2026-05-19 10:10:05", "2026-05-19 10:10:04", "", want{next: "2026-05-19 10:10:05"}},
		{
			"interval, late", "@every 1h", "2026-05-19 10:10:05", "2026-05-19 10:30:00", "",
			want{due: "2026-05-19 10:10:05", next: "2026-05-19 11:10:05"},
		},
		{
			"interval, beyond the deadline", "@every 1h", "2026-05-19 10:10:05", "2026-05-19 10:30:00", "10m",
			want{late: "2026-05-19 10:10:05", missed: 1, next: "2026-05-19 11:10:05"},
		},
		{
			"interval, two missed", "@every 1h", "2026-05-19 10:10:05", "2026-05-19 12:10:05", "",
			want{due: "2026-05-19 12:10:05", missed: 2, next: "2026-05-19 13:10:05"},
		},
		{
			"interval, 100 missed", "@every 1m", topOfTheHour, "2026-05-19 11:40:00", "",
			want{due: "2026-05-19 11:40:00", missed: 100, next: "2026-05-19 11:41:00"},
		},
		{
			"interval, 101 missed", "@every 1m", topOfTheHour, "2026-05-19 11:41:00", "",
			want{due: "2026-05-19 11:41:00", missed: MissedMany, next: "2026-05-19 11:42:00"},
		},
		{
			"interval, centuries missed", "@every 1s", topOfTheHour, "3026-05-19 10:30:00.5", "",
			want{due: "3026-05-19 10:30:00", missed: MissedMany, next: "3026-05-19 10:30:01"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			maybe := func(text string) (parsed time.Time) {
				if text != "" {
					parsed = at(t, text)
				}
				return parsed
			}
			var deadline *time.Duration
			if tt.deadline != "" {
				d, err := time.ParseDuration(tt.deadline)
				if err != nil {
					t.Fatal(err)
				}
				deadline = &d
			}
			got := Decide(mustParse(t, tt.expression, ""), maybe(tt.planned), maybe(tt.now), deadline)
			wanted := Decision{maybe(tt.want.due), maybe(tt.want.late), tt.want.missed, maybe(tt.want.next)}
			if diff := cmp.Diff(wanted, got); diff != "" {
				t.Errorf("Decide (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlan(t *testing.T) {
	const now = "2026-05-19 10:20:30"
	tests := []struct {
		name, expression, planned string
		want                      string
	}{
		{"nothing planned", "0 * * * *", "", "2026-05-19 11:00:00"},
		{"still nominal", "0 * * * *", "2026-05-19 11:00:00", "2026-05-19 11:00:00"},
		{"due and still nominal", "0 * * * *", "2026-05-19 08:00:00", "2026-05-19 08:00:00"},
		{"due no longer", "30 * * * *", "2026-05-19 08:00:00", "2026-05-19 10:30:00"},
		{"no longer nominal", "30 * * * *", "2026-05-19 11:00:00", "2026-05-19 10:30:00"},
		{"far away and still nominal", "0 * * * *", "2026-05-20 03:00:00", "2026-05-20 03:00:00"},
		{"fraction is not nominal", "0 * * * *", "2026-05-19 11:00:00.5", "2026-05-19 11:00:00"},
		{"interval, nothing planned", "@every 1h", "", "2026-05-19 11:20:30"},
		{"interval, within reach", "@every 1h", "2026-05-19 11:20:30", "2026-05-19 11:20:30"},
		{"interval, beyond reach", "@every 1h", "2026-05-19 11:20:31", "2026-05-19 11:20:30"},
		{"interval, due", "@every 1h", "2026-05-01 08:00:00", "2026-05-01 08:00:00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var planned time.Time
			if tt.planned != "" {
				planned = at(t, tt.planned)
			}
			got := mustParse(t, tt.expression, "").Plan(planned, at(t, now))
			if !got.Equal(at(t, tt.want)) {
				t.Errorf("Plan = %s, want %s", got, tt.want)
			}
		})
	}
}

// TestDueRisesWhileTheClockJumps proves that no nominal time is due twice, whatever the clock does. An interval is left
// out: it gives up a plan that is further away than itself, so that a clock that was set back does not stop it.
func TestDueRisesWhileTheClockJumps(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, expression := range []string{"*/10 * * * *", "30 1 * * *", "7 * * * MON"} {
		s := mustParse(t, expression, "America/New_York")
		now := at(t, "2026-01-01 00:00:00")
		planned := s.Plan(time.Time{}, now)
		last, runs := time.Time{}, 0
		for range 10_000 {
			now = now.Add(time.Duration(random.Int64N(int64(4*time.Hour))) - 110*time.Minute)
			decision := Decide(s, s.Plan(planned, now), now, nil)
			planned = decision.Next
			if decision.Due.IsZero() {
				continue
			}
			runs++
			if !decision.Due.After(last) {
				t.Fatalf("%s: %s is due after %s", s, decision.Due, last)
			}
			last = decision.Due
		}
		if runs < 50 {
			t.Errorf("%s: only %d runs", s, runs)
		}
	}
}

// A time that was planned by a clock that was hours ahead does not stop the schedule for hours.
func TestReplan(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ expression, planned, last, now, want string }{
		"as it is":                    {"0 * * * *", "2026-01-01 04:00:00", "2026-01-01 03:00:00", "2026-01-01 03:10:00", "2026-01-01 04:00:00"},
		"due":                         {"0 * * * *", "2026-01-01 04:00:00", "2026-01-01 03:00:00", "2026-01-01 09:10:00", "2026-01-01 04:00:00"},
		"8 hours ahead":               {"0 * * * *", "2026-01-01 12:00:00", "2026-01-01 03:00:00", "2026-01-01 03:10:00", "2026-01-01 04:00:00"},
		"8 hours ahead, and it ran":   {"0 * * * *", "2026-01-01 12:00:00", "2026-01-01 11:00:00", "2026-01-01 03:10:00", "2026-01-01 04:00:00"},
		"a little ahead, and it ran":  {"0 * * * *", "2026-01-01 05:00:00", "2026-01-01 04:00:00", "2026-01-01 03:59:30", "2026-01-01 05:00:00"},
		"interval":                    {"@every 1h", "2026-01-01 04:07:00", "2026-01-01 03:07:00", "2026-01-01 03:10:00", "2026-01-01 04:07:00"},
		"interval, 8 hours ahead":     {"@every 1h", "2026-01-01 12:07:00", "2026-01-01 03:07:00", "2026-01-01 03:10:00", "2026-01-01 04:10:00"},
		"interval, ahead, and it ran": {"@every 1h", "2026-01-01 12:07:00", "2026-01-01 11:07:00", "2026-01-01 03:10:00", "2026-01-01 04:10:00"},
	} {
		s := mustParse(t, test.expression, "")
		if got, want := s.Replan(at(t, test.planned), at(t, test.last), at(t, test.now)), at(t, test.want); !got.Equal(want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	s := mustParse(t, "0 * * * *", "")
	if got := s.Replan(at(t, "2026-01-01 12:00:00"), time.Time{}, at(t, "2026-01-01 03:10:00")); !got.Equal(at(t, "2026-01-01 04:00:00")) {
		t.Errorf("without a run: %s", got)
	}
}

func FuzzDecide(f *testing.F) {
	f.Add("0 * * * *", "", int64(1_772_000_000), int64(1_772_009_000), int64(600))
	f.Add("30 2 * * *", "Europe/Rome", int64(1_774_000_000), int64(1_775_000_000), int64(-1))
	f.Add("* * 1 * * *", "America/New_York", int64(0), int64(1_793_512_801), int64(0))
	f.Add("@every 90s", "", int64(1_772_000_000), int64(1_772_009_000), int64(10))
	f.Add("0 0 29 2 *", "Pacific/Apia", int64(-62_135_596_800), int64(4_000_000_000), int64(10))
	f.Fuzz(func(t *testing.T, expression, zone string, plannedUnix, nowUnix, deadlineSeconds int64) {
		s, err := Parse(expression, zone)
		if err != nil {
			return
		}
		planned, now := time.Unix(plannedUnix%200_000_000_000, 0), time.Unix(nowUnix%200_000_000_000, 0)
		var deadline *time.Duration
		if deadlineSeconds >= 0 {
			d := time.Duration(deadlineSeconds%1_000_000_000) * time.Second
			deadline = &d
		}
		checkDecision(t, s, planned, now, Decide(s, planned, now, deadline), deadline)
	})
}

func checkDecision(t *testing.T, s *Schedule, planned, now time.Time, got Decision, deadline *time.Duration) {
	t.Helper()
	passed := got.Due
	if passed.IsZero() {
		passed = got.Late
	}
	isNominal := s.isNominal(passed, now)
	if s.isInterval() {
		isNominal = (passed.Unix()-planned.Unix())%int64(s.every/time.Second) == 0
	}
	switch {
	case !got.Next.After(now):
		t.Errorf("Next %s is not after %s", got.Next, now)
	case !got.Due.IsZero() && !got.Late.IsZero():
		t.Errorf("%s is both due and late", got.Due)
	case got.Missed < 0 || got.Missed > MissedMany:
		t.Errorf("Missed = %d", got.Missed)
	case passed.IsZero() && got.Missed != 0:
		t.Errorf("missed %d without any", got.Missed)
	case passed.IsZero():
	case passed.After(now) || passed.Before(planned) || !isNominal:
		t.Errorf("%s is not a nominal time from %s to %s", passed, planned, now)
	case deadline != nil && now.Sub(passed) > *deadline != got.Due.IsZero():
		t.Errorf("%s is judged wrong for deadline %s at %s", passed, deadline, now)
	case !s.isInterval() && !s.Next(passed).Equal(got.Next):
		t.Errorf("%s is not the latest: %s follows before %s", passed, s.Next(passed), got.Next)
	}
}

func BenchmarkDecide(b *testing.B) {
	for _, expression := range []string{"* * * * * *", "59 59 23 31 12 *", "0 * 29 2 *", "@every 1s"} {
		s := mustParse(b, expression, "America/New_York")
		planned, now := at(b, "1900-01-01 00:00:00"), at(b, "2103-06-01 00:00:00")
		b.Run(expression, func(b *testing.B) {
			for b.Loop() {
				Decide(s, planned, now, nil)
			}
		})
	}
}
