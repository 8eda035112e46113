// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"strings"
	"time"
)

// maxPoints is how many times of day are written out.
const maxPoints = 6

// starBit is set by the cron package in a field that was written with a star.
const starBit = 1 << 63

// String describes the schedule in words, for example "every Monday at 02:30 Europe/Rome".
func (s *Schedule) String() string {
	if s.isInterval() {
		return "every " + s.every.String()
	}

	c := clock{values(s.spec.Second), values(s.spec.Minute), values(s.spec.Hour)}
	parts := []string{c.rhythm(), s.days("on "), s.zone.String()}
	if points := c.points(); points != "" {
		parts = []string{s.days("every "), points, s.zone.String()}
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

// clock is the part of a schedule that says when in a day.
type clock struct{ seconds, minutes, hours []int }

// points writes out all times of a day. It is empty if these are too many.
func (c clock) points() string {
	if len(c.seconds)*len(c.minutes)*len(c.hours) > maxPoints {
		return ""
	}
	var points []string
	for _, hour := range c.hours {
		for _, minute := range c.minutes {
			for _, second := range c.seconds {
				points = append(points, c.format(hour, minute, second))
			}
		}
	}
	return "at " + join(points)
}

// format leaves the seconds out where they are always zero.
func (c clock) format(hour, minute, second int) string {
	if c.isOnTheMinute() {
		return fmt.Sprintf("%02d:%02d", hour, minute)
	}
	return fmt.Sprintf("%02d:%02d:%02d", hour, minute, second)
}

func (c clock) isOnTheMinute() bool {
	return len(c.seconds) == 1 && c.seconds[0] == 0
}

// rhythm describes runs that are too many to be written out.
func (c clock) rhythm() string {
	beat := c.beat()
	switch {
	case beat == "":
		return c.general()
	case len(c.hours) == 24:
		return beat
	case isRun(c.hours):
		first := c.format(c.hours[0], c.minutes[0], c.seconds[0])
		last := c.format(c.hours[len(c.hours)-1], c.minutes[len(c.minutes)-1], c.seconds[len(c.seconds)-1])
		return fmt.Sprintf("%s from %s to %s", beat, first, last)
	case len(c.minutes) == 1 && c.minutes[0] == 0 && isEven(c.hours, 24):
		return fmt.Sprintf("every %d hours", 24/len(c.hours))
	case len(c.minutes) == 1:
		return c.general()
	default:
		return fmt.Sprintf("%s in %s", beat, numbers("hour", c.hours))
	}
}

// beat is the even distance of the runs within the hours, such as "every 5 minutes". It is empty if there is none.
func (c clock) beat() string {
	switch {
	case len(c.minutes) == 60 && isEven(c.seconds, 60):
		return everyUnit(60/len(c.seconds), "second")
	case !c.isOnTheMinute():
		return ""
	case isEven(c.minutes, 60) && len(c.minutes) > 1:
		return everyUnit(60/len(c.minutes), "minute")
	case len(c.minutes) != 1:
		return c.shiftedBeat()
	case len(c.hours) == 24 && c.minutes[0] != 0:
		return ""
	default:
		return everyUnit(1, "hour")
	}
}

// shiftedBeat is the even distance of runs that do not begin at minute 0, such as "every 10 minutes from minute 4 of
// each hour". It is empty if there is none.
func (c clock) shiftedBeat() string {
	if len(c.hours) != 24 || len(c.minutes) < 3 || !isEven(shifted(c.minutes), 60) {
		return ""
	}
	return fmt.Sprintf("%s from minute %d of each hour", everyUnit(60/len(c.minutes), "minute"), c.minutes[0])
}

// isEven reports whether the values divide size evenly, from 0 on.
func isEven(values []int, size int) bool {
	return values[0] == 0 && size%len(values) == 0 && (len(values) == 1 || step(values) == size/len(values))
}

// shifted are the values as far from 0 as they are from the first one.
func shifted(values []int) []int {
	from := make([]int, len(values))
	for i, value := range values {
		from[i] = value - values[0]
	}
	return from
}

func everyUnit(n int, unit string) string {
	switch n {
	case 1:
		return "every " + unit
	case 60:
		return "every minute" // once per minute, in seconds
	default:
		return fmt.Sprintf("every %d %ss", n, unit)
	}
}

// general describes anything, field by field.
func (c clock) general() string {
	var parts []string
	isAny := false
	fields := []struct {
		unit   string
		values []int
		all    int
	}{{"second", c.seconds, 60}, {"minute", c.minutes, 60}, {"hour", c.hours, 24}}
	if c.isOnTheMinute() {
		fields = fields[1:]
	}
	for _, field := range fields {
		link := "of"
		if len(parts) == 0 {
			link = "at"
		}
		wasAny := isAny
		isAny = len(field.values) == field.all
		switch {
		case isAny && wasAny:
		case isAny && len(parts) == 0:
			parts = append(parts, "every "+field.unit)
		case isAny:
			parts = append(parts, link+" every "+field.unit)
		default:
			parts = append(parts, link+" "+numbers(field.unit, field.values))
		}
	}
	return strings.Join(parts, " ")
}

// days describes the days. lead goes before weekdays: "every " or "on ". Every day is "every day" after the first and
// nothing after the second.
func (s *Schedule) days(lead string) string {
	months := ""
	if set := values(s.spec.Month); len(set) < 12 {
		months = ranges(set, func(month int) string { return time.Month(month).String() })
	}
	in, of := "", " of every month"
	if months != "" {
		in, of = " in "+months, " of "+months
	}

	days, weekdays := values(s.spec.Dom), values(s.spec.Dow)
	ofMonth := "on " + numbers("day", days) + of
	ofWeek := ranges(weekdays, func(day int) string { return time.Weekday(day).String() }) + in
	isDayAny, isWeekdayAny := len(days) == 31, len(weekdays) == 7
	// As in every cron, a day must match both fields if one of them was written with a star, and else any of them.
	isBoth := (s.spec.Dom|s.spec.Dow)&starBit != 0
	switch {
	case isDayAny && isWeekdayAny, !isBoth && (isDayAny || isWeekdayAny):
		if lead == "on " {
			return in
		}
		return lead + "day" + in
	case isDayAny:
		return lead + ofWeek
	case isWeekdayAny:
		return ofMonth
	default:
		return ofMonth + " or on " + ofWeek
	}
}
