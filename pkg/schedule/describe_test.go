// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestString(t *testing.T) {
	tests := []struct{ expression, want string }{
		{"0 3 * * *", "every day at 03:00 UTC"},
		{"15 0 3 * * *", "every day at 03:00:15 UTC"},
		{"0,30 3 * * *", "every day at 03:00 and 03:30 UTC"},
		{"0 */6 * * *", "every day at 00:00, 06:00, 12:00 and 18:00 UTC"},
		{"* * 1 * * *", "every second from 01:00:00 to 01:59:59 UTC"},
		{"* * * * * *", "every second UTC"},
		{"*/10 * * * * *", "every 10 seconds UTC"},
		{"0,20,40 * 1 * * *", "every 20 seconds from 01:00:00 to 01:59:40 UTC"},
		{"30 * * * * *", "at second 30 of every minute UTC"},
		{"30 * 5 * * *", "at second 30 of every minute of hour 5 UTC"},
		{"* 0-4 3 * * *", "every second of minutes 0 to 4 of hour 3 UTC"},
		{"*/20 30 * * * *", "at seconds 0, 20 and 40 of minute 30 of every hour UTC"},
		{"* 0 * * *", "every minute from 00:00 to 00:59 UTC"},
		{"* 9-17 * * *", "every minute from 09:00 to 17:59 UTC"},
		{"* 1,3,5 * * *", "every minute in hours 1, 3 and 5 UTC"},
		{"* * * * *", "every minute UTC"},
		{"*/5 * * * *", "every 5 minutes UTC"},
		{"4-59/10 * * * *", "every 10 minutes from minute 4 of each hour UTC"},
		{"*/5 1 * * *", "every 5 minutes from 01:00 to 01:55 UTC"},
		{"*/7 * * * *", "at minutes 0 to 56 in steps of 7 of every hour UTC"},
		{"0-10,30-40,50 * * * *", "at minutes 0 to 10, 30 to 40 and 50 of every hour UTC"},
		{"30 * * * *", "at minute 30 of every hour UTC"},
		{"0 * * * *", "every hour UTC"},
		{"0 */2 * * *", "every 2 hours UTC"},
		{"0 1/2 * * *", "at minute 0 of hours 1 to 23 in steps of 2 UTC"},
		{"30 9-17 * * *", "every hour from 09:30 to 17:30 UTC"},
		{"TZ=Europe/Rome 30 2 * * MON", "every Monday at 02:30 Europe/Rome"},
		{"30 2 * * 1-5", "every Monday to Friday at 02:30 UTC"},
		{"30 2 ? * SAT,SUN", "every Sunday and Saturday at 02:30 UTC"},
		{"*/5 * * * MON", "every 5 minutes on Monday UTC"},
		{"*/5 * * JUN *", "every 5 minutes in June UTC"},
		{"0 3 * 6-8 *", "every day in June to August at 03:00 UTC"},
		{"0 3 * JAN MON", "every Monday in January at 03:00 UTC"},
		{"0 3 1 * *", "on day 1 of every month at 03:00 UTC"},
		{"0 3 1,15 JAN *", "on days 1 and 15 of January at 03:00 UTC"},
		{"0 3 13 * FRI", "on day 13 of every month or on Friday at 03:00 UTC"},
		{"0 3 13 6 FRI", "on day 13 of June or on Friday in June at 03:00 UTC"},
		{"0 3 */2 * 1", "on days 1 to 31 in steps of 2 of every month or on Monday at 03:00 UTC"},
		{"0 3 1-31 * 1", "every day at 03:00 UTC"},
		{"0 3 *,13 * 1", "every Monday at 03:00 UTC"},
		{"0 0 29 2 *", "on day 29 of February at 00:00 UTC"},
		{"@hourly", "every hour UTC"},
		{"@daily", "every day at 00:00 UTC"},
		{"@midnight", "every day at 00:00 UTC"},
		{"@weekly", "every Sunday at 00:00 UTC"},
		{"@monthly", "on day 1 of every month at 00:00 UTC"},
		{"@yearly", "on day 1 of January at 00:00 UTC"},
		{"@annually", "on day 1 of January at 00:00 UTC"},
		{"@every 1h30m", "every 1h30m0s"},
		{"@every 1500ms", "every 1s"},
	}
	for _, tt := range tests {
		t.Run(tt.expression, func(t *testing.T) {
			if got := mustParse(t, tt.expression, "").String(); got != tt.want {
				t.Errorf("String()\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// The page on schedules shows what String says.
func TestPageShowsWords(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/schedules.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (every|on) (.+) \\|$").FindAllStringSubmatch(string(page), -1)
	for _, row := range rows {
		if got, want := mustParse(t, row[1], "").String(), row[2]+" "+row[3]; got != want {
			t.Errorf("%s is %q, and the page says %q", row[1], got, want)
		}
	}
	if len(rows) < 9 {
		t.Errorf("found %d rows, want at least 9", len(rows))
	}
}

func TestWarnings(t *testing.T) {
	tests := []struct {
		expression string
		want       []string
	}{
		{"0 3 * * *", nil},
		{"*/2 * * * *", nil},
		{"@every 2m", nil},
		{"@every 1m", []string{"the schedule fires 60 times in an hour"}},
		{"* * * * *", []string{"the schedule fires 60 times in an hour"}},
		{"* 0 * * *", []string{"the schedule fires 60 times in an hour, " +
			`because minute is *; if that is not meant, write "0 0 * * *"`}},
		{"* * 1 * * *", []string{"the schedule fires 3600 times in an hour, " +
			`because second is * and minute is *; if that is not meant, write "0 0 1 * * *"`}},
		{"* 0 1 * * *", []string{"the schedule fires 60 times in an hour, " +
			`because second is *; if that is not meant, write "0 0 1 * * *"`}},
		{"TZ=Europe/Rome * 1 * * *", []string{
			"the time zone is in the schedule; set spec.timeZone to Europe/Rome and remove TZ=Europe/Rome",
			"the schedule fires 60 times in an hour, " +
				`because minute is *; if that is not meant, write "0 1 * * *"`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.expression, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, mustParse(t, tt.expression, "").Warnings()); diff != "" {
				t.Errorf("Warnings (-want +got):\n%s", diff)
			}
		})
	}
}
