// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNext(t *testing.T) {
	const newYork, rome, lordHowe, apia = "America/New_York", "Europe/Rome", "Australia/Lord_Howe", "Pacific/Apia"
	tests := []struct {
		name, expression, zone, from string
		want                         []string
	}{
		{"five fields", "30 2 * * *", "", "2026-01-01 02:30:00", []string{"2026-01-02 02:30:00 +0000"}},
		{
			"six fields", "15 30 2 * * *", "", "2026-01-01 02:30:00",
			[]string{"2026-01-01 02:30:15 +0000", "2026-01-02 02:30:15 +0000"},
		},
		{"names", "0 0 ? FEB MON", "", "2026-01-01 00:00:00", []string{"2026-02-02 00:00:00 +0000"}},
		{"fraction of a second", "* * * * * *", "", "2026-01-01 00:00:00.9", []string{"2026-01-01 00:00:01 +0000"}},
		{
			"interval", "@every 90m", "", "2026-01-01 00:00:00.9",
			[]string{"2026-01-01 01:30:00 +0000", "2026-01-01 03:00:00 +0000"},
		},
		{
			"leap day skips 2100", "0 0 29 2 *", "", "2096-02-29 00:00:00",
			[]string{"2104-02-29 00:00:00 +0000", "2108-02-29 00:00:00 +0000"},
		},

		{"gap in New York", "30 2 * * *", newYork, "2026-03-07 12:00:00", []string{
			"2026-03-08 03:00:00 -0400", "2026-03-09 02:30:00 -0400",
		}},
		{"gap in Rome", "30 2 * * *", rome, "2026-03-28 12:00:00", []string{
			"2026-03-29 03:00:00 +0200", "2026-03-30 02:30:00 +0200",
		}},
		{"several in one gap", "*/20 2 * * *", rome, "2026-03-29 00:00:00", []string{
			"2026-03-29 03:00:00 +0200", "2026-03-30 02:00:00 +0200",
		}},
		{"gap and right after it", "0,30 2,3 * * *", rome, "2026-03-29 00:00:00", []string{
			"2026-03-29 03:00:00 +0200", "2026-03-29 03:30:00 +0200", "2026-03-30 02:00:00 +0200",
		}},
		{"elapsed hours over the gap", "30 * * * *", newYork, "2026-03-08 06:00:00", []string{
			"2026-03-08 01:30:00 -0500", "2026-03-08 03:30:00 -0400",
		}},

		{"repeated in New York", "30 1 * * *", newYork, "2026-10-31 12:00:00", []string{
			"2026-11-01 01:30:00 -0400", "2026-11-02 01:30:00 -0500",
		}},
		{"from between both", "30 1 * * *", newYork, "2026-11-01 06:10:00", []string{"2026-11-02 01:30:00 -0500"}},
		{"elapsed hours repeat", "30 * * * *", newYork, "2026-11-01 05:00:00", []string{
			"2026-11-01 01:30:00 -0400", "2026-11-01 01:30:00 -0500", "2026-11-01 02:30:00 -0500",
		}},
		{"every second of one hour", "* * 1 * * *", newYork, "2026-11-01 05:59:58", []string{
			"2026-11-01 01:59:59 -0400", "2026-11-02 01:00:00 -0500",
		}},

		{"gap of half an hour", "15 2 * * *", lordHowe, "2026-10-03 00:00:00", []string{
			"2026-10-04 02:30:00 +1100", "2026-10-05 02:15:00 +1100",
		}},
		{"elapsed over half an hour", "15,45 * * * *", lordHowe, "2026-10-03 15:00:00", []string{
			"2026-10-04 01:45:00 +1030", "2026-10-04 02:45:00 +1100", "2026-10-04 03:15:00 +1100",
		}},
		{"elapsed repeats half an hour", "45 * * * *", lordHowe, "2026-04-04 14:00:00", []string{
			"2026-04-05 01:45:00 +1100", "2026-04-05 01:45:00 +1030", "2026-04-05 02:45:00 +1030",
		}},
		{"day that is skipped", "0 12 * * *", apia, "2011-12-29 00:00:00", []string{
			"2011-12-29 12:00:00 -1000", "2011-12-31 00:00:00 +1400", "2011-12-31 12:00:00 +1400",
		}},
		{"elapsed over a skipped day", "0 * * * *", apia, "2011-12-30 08:30:00", []string{
			"2011-12-29 23:00:00 -1000", "2011-12-31 00:00:00 +1400",
		}},
		{"only on the skipped day", "0 12 30 12 *", apia, "2011-12-01 00:00:00", []string{
			"2011-12-31 00:00:00 +1400", "2012-12-30 12:00:00 +1400",
		}},
		{"fixed offset", "0 3 * * *", "Etc/GMT-14", "2026-01-01 00:00:00", []string{"2026-01-02 03:00:00 +1400"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := mustParse(t, tt.expression, tt.zone)
			from := at(t, tt.from)
			var got []string
			for range tt.want {
				from = s.Next(from)
				got = append(got, from.Format("2006-01-02 15:04:05 -0700"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("nominal times (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLatest(t *testing.T) {
	tests := []struct {
		name, expression, after, until string
		want                           string
	}{
		{"after is exclusive", "0 * * * *", "2026-01-01 10:00:00", "2026-01-01 10:59:59", ""},
		{"until is inclusive", "0 * * * *", "2026-01-01 10:00:00", "2026-01-01 11:00:00", "2026-01-01 11:00:00"},
		{"latest of many", "* * * * * *", "1970-01-01 00:00:00", "2026-01-01 11:00:00.5", "2026-01-01 11:00:00"},
		{"far back", "0 0 29 2 *", "1970-01-01 00:00:00", "2104-02-28 00:00:00", "2096-02-29 00:00:00"},
		{"none in years", "0 0 29 2 *", "2096-02-29 00:00:00", "2104-02-28 00:00:00", ""},
		{"nothing to look at", "0 * * * *", "2026-01-01 10:00:00", "2025-01-01 10:00:00", ""},
		{"interval", "@every 1h", "2026-01-01 10:10:00", "2026-01-01 13:00:00", "2026-01-01 12:10:00"},
		{"interval not over", "@every 1h", "2026-01-01 10:10:00", "2026-01-01 11:09:59", ""},
		{"interval over centuries", "@every 1s", "1000-01-01 00:00:00", "2026-01-01 13:00:00", "2026-01-01 13:00:00"},
		{"interval backwards", "@every 1h", "2026-01-01 10:10:00", "2026-01-01 01:00:00", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var want time.Time
			if tt.want != "" {
				want = at(t, tt.want)
			}
			got := mustParse(t, tt.expression, "").Latest(at(t, tt.after), at(t, tt.until))
			if !got.Equal(want) {
				t.Errorf("Latest = %s, want %s", got, want)
			}
		})
	}
}

func TestLatestAgreesWithNext(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, expression := range []string{"30 1 * * *", "*/7 * * * *", "0 0 1 * 1", "15 2 * 3,10 *", "* * 1 * * *"} {
		s := mustParse(t, expression, "America/New_York")
		for range 200 {
			until := time.Unix(1_767_000_000+random.Int64N(63_000_000), 0)
			latest := s.Latest(time.Time{}, until)
			if latest.After(until) || !s.Next(latest).After(until) || !s.Next(latest.Add(-1)).Equal(latest) {
				t.Fatalf("%s: Latest(%s) = %s", expression, until, latest)
			}
		}
	}
}

func TestNextRises(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	zones := []string{"", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "America/Juneau"}
	expressions := []string{"30 2 * * *", "*/10 * * * *", "0 0 29 2 *", "0 * 29 2 *", "59 59 23 31 12 ?", "0 0 13 * FRI", "@every 7h"}
	for _, zone := range zones {
		for _, expression := range expressions {
			s := mustParse(t, expression, zone)
			for range 40 {
				// From 1800 to 2200.
				from := time.Unix(random.Int64N(400*31_557_600)-170*31_557_600, random.Int64N(1e9))
				for range 5 {
					next := s.Next(from)
					if !next.After(from) {
						t.Fatalf("%s: Next(%s) = %s", s, from, next)
					}
					from = next
				}
			}
		}
	}
}

func BenchmarkLatest(b *testing.B) {
	for _, expression := range []string{"* * * * * *", "59 59 23 31 12 *", "0 * 29 2 *"} {
		s := mustParse(b, expression, "America/New_York")
		until := at(b, "2103-06-01 00:00:00")
		b.Run(expression, func(b *testing.B) {
			for b.Loop() {
				s.Latest(time.Time{}, until)
			}
		})
	}
}
