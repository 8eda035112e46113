// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"strings"
	"testing"
	"time"
)

// at reads a time in a zone, such as "2026-03-08 03:00:00 -0400".
func at(t testing.TB, text string) time.Time {
	t.Helper()
	for _, layout := range []string{time.DateTime, "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05.999999999"} {
		if parsed, err := time.Parse(layout, text); err == nil {
			return parsed
		}
	}
	t.Fatalf("test has the bad time %q", text)
	return time.Time{}
}

func mustParse(t testing.TB, expression, zone string) *Schedule {
	t.Helper()
	s, err := Parse(expression, zone)
	if err != nil {
		t.Fatalf("Parse(%q, %q): %v", expression, zone, err)
	}
	return s
}

func TestParseReadsZone(t *testing.T) {
	tests := []struct {
		name, expression, timeZone string
		want                       string
	}{
		{"no zone is UTC", "0 3 * * *", "", "every day at 03:00 UTC"},
		{"zone of the spec", "0 3 * * *", "Europe/Rome", "every day at 03:00 Europe/Rome"},
		{"TZ prefix", "TZ=Europe/Rome 0 3 * * *", "", "every day at 03:00 Europe/Rome"},
		{"CRON_TZ prefix", "CRON_TZ=Asia/Tokyo 0 3 * * *", "", "every day at 03:00 Asia/Tokyo"},
		{"prefix before six fields", "TZ=Asia/Tokyo 0 0 3 * * *", "", "every day at 03:00 Asia/Tokyo"},
		{"prefix before a word", "TZ=Asia/Tokyo @daily", "", "every day at 00:00 Asia/Tokyo"},
		{"prefix before an interval", "TZ=Asia/Tokyo @every 1h", "", "every 1h0m0s"},
		{"prefix and spec agree", "TZ=Europe/Rome 0 3 * * *", "Europe/Rome", "every day at 03:00 Europe/Rome"},
		{"wide space", " \tTZ=Europe/Rome   0  3 * *\t* ", "", "every day at 03:00 Europe/Rome"},
		{"UTC by name", "TZ=UTC 0 3 * * *", "", "every day at 03:00 UTC"},
		{"fixed offset", "0 3 * * *", "Etc/GMT-14", "every day at 03:00 Etc/GMT-14"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := mustParse(t, tt.expression, tt.timeZone).String(); got != tt.want {
				t.Errorf("String() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestParseRejects(t *testing.T) {
	const (
		fields   = "; write five (minute hour day-of-month month day-of-week), or six with seconds first"
		zone     = "; write a name of the IANA database, such as Europe/Rome"
		every    = "; write a duration of at least 1s, such as @every 1h30m"
		word     = "; write @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually or @every with a duration"
		never    = " never fires: no month that it names has such a day; change day-of-month or month"
		anything = ", or *, a list, a range or a step of these"
	)
	tests := []struct {
		name, expression, timeZone string
		want                       string
	}{
		{"empty", "", "", `schedule "" has no fields` + fields},
		{"only space", "  ", "", `schedule "  " has no fields` + fields},
		{"three fields", "* * *", "", `schedule "* * *" has 3 fields` + fields},
		{"one field", "5", "", `schedule "5" has 1 field` + fields},
		{"seven fields", "0 0 3 * * * 2026", "", `schedule "0 0 3 * * * 2026" has 7 fields` + fields},
		{"February 30", "0 0 30 2 *", "", `schedule "0 0 30 2 *"` + never},
		{"February 31", "0 0 31 2 *", "", `schedule "0 0 31 2 *"` + never},
		{"April 31", "0 0 31 4,6,9,11 ?", "", `schedule "0 0 31 4,6,9,11 ?"` + never},
		{"minute too large", "61 * * * *", "", `schedule "61 * * * *" has the minute "61", which is not valid ` +
			`(end of range (61) above maximum (59): 61); write 0-59` + anything},
		{"weekday 7", "0 0 * * 7", "", `schedule "0 0 * * 7" has the day-of-week "7", which is not valid ` +
			`(end of range (7) above maximum (6): 7); write 0-6 or SUN-SAT, where 0 is Sunday` + anything},
		{"range backwards", "0 0 5-1 * *", "", `schedule "0 0 5-1 * *" has the day-of-month "5-1", which is not valid ` +
			`(beginning of range (5) beyond end of range (1): 5-1); write 1-31` + anything},
		{"list of nothing", ", * * * *", "", `schedule ", * * * *" has the minute ",", which is not valid ` +
			`(it names no value); write 0-59` + anything},
		{"unknown word", "@reboot", "", `schedule "@reboot" is not a known word` + word},
		{"word and more", "@daily 3", "", `schedule "@daily 3" is not a known word` + word},
		{"interval without duration", "@every", "", `schedule "@every" needs one duration after @every` + every},
		{"interval in two parts", "@every 1h 30m", "", `schedule "@every 1h 30m" needs one duration after @every` + every},
		{
			"interval without unit", "@every 5", "",
			`schedule "@every 5" has an interval that is not a duration (time: missing unit in duration "5")` + every,
		},
		{"interval too short", "@every 999ms", "", `schedule "@every 999ms" has an interval of 999ms, which is too short` + every},
		{"interval negative", "@every -1h", "", `schedule "@every -1h" has an interval of -1h0m0s, which is too short` + every},
		{
			"panics in the cron package", "TZ=0", "",
			`schedule "TZ=0" is in time zone "0", which cannot be loaded (unknown time zone 0)` + zone,
		},
		{"panics there too", "CRON_TZ=UTC", "", `schedule "CRON_TZ=UTC" has no fields` + fields},
		{"empty prefix", "TZ= 0 3 * * *", "", `schedule "TZ= 0 3 * * *" has an empty TZ=` + zone + ", right after it"},
		{
			"unknown zone", "0 3 * * *", "Europe/Roma",
			`schedule "0 3 * * *" is in time zone "Europe/Roma", which cannot be loaded (unknown time zone Europe/Roma)` + zone,
		},
		{"zone outside the database", "0 3 * * *", "../../etc/passwd", `schedule "0 3 * * *" is in time zone ` +
			`"../../etc/passwd", which cannot be loaded (time: invalid location name)` + zone},
		{
			"zone of the machine", "0 3 * * *", "Local",
			`schedule "0 3 * * *" is in time zone "Local", which depends on the machine` + zone,
		},
		{
			"prefix of the machine", "TZ=localtime 0 3 * * *", "",
			`schedule "TZ=localtime 0 3 * * *" is in time zone "localtime", which depends on the machine` + zone,
		},
		{"zones differ", "TZ=Europe/Rome 0 3 * * *", "Asia/Tokyo", `schedule "TZ=Europe/Rome 0 3 * * *" has the time zone ` +
			`"Europe/Rome", but spec.timeZone is "Asia/Tokyo"; remove TZ=Europe/Rome from the schedule`},
		{
			"two prefixes", "TZ=Europe/Rome TZ=Europe/Rome 0 3 * * *", "",
			`schedule "TZ=Europe/Rome TZ=Europe/Rome 0 3 * * *" has two time zones; remove both and set spec.timeZone`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse(tt.expression, tt.timeZone)
			if err == nil {
				t.Fatalf("Parse succeeded with %s", s)
			}
			if err.Error() != tt.want {
				t.Errorf("Parse error\n got %s\nwant %s", err, tt.want)
			}
		})
	}
}

func TestParseSpecRecovers(t *testing.T) {
	// With a single field that begins with TZ= the cron package slices to index -1.
	_, err := parseSpec([]string{"TZ=0"})
	if err == nil || !strings.HasPrefix(err.Error(), "reading failed: runtime error") {
		t.Errorf("parseSpec error = %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, expression := range []string{
		"0 3 * * *", "* * 1 * * *", "*/5 9-17 * JAN-MAR MON,WED", "0 0 29 2 ?", "@every 1h30m", "@daily", "TZ=0", "CRON_TZ=UTC",
		"TZ=Europe/Rome 30 2 * * *", "TZ= 0 0 * * *", "0 0 30 2 *", ", , , , ,", "0/99999999999 * * * *", "@every 1e9h", "**-/,",
	} {
		f.Add(expression, "", int64(1_772_000_000))
	}
	f.Add("30 1 * * *", "America/New_York", int64(1_793_500_000))
	f.Add("0 * 1 * 1", "Australia/Lord_Howe", int64(4_070_000_000))
	f.Fuzz(func(t *testing.T, expression, zone string, unix int64) {
		s, err := Parse(expression, zone)
		if err != nil {
			return
		}
		from := time.Unix(unix%200_000_000_000, 0)
		next := s.Next(from)
		if !next.After(from) {
			t.Errorf("Next(%s) = %s", from, next)
		}
		if latest := s.Latest(from, next); !latest.Equal(next) {
			t.Errorf("Latest(%s, %s) = %s", from, next, latest)
		}
		if s.String() == "" {
			t.Error("String is empty")
		}
		s.Warnings()
	})
}
