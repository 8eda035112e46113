// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

const (
	fieldsHint = "write five (minute hour day-of-month month day-of-week), or six with seconds first"
	zoneHint   = "write a name of the IANA database, such as Europe/Rome"
	everyHint  = "write a duration of at least 1s, such as @every 1h30m"
	wordsHint  = "write @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually or @every with a duration"
)

// descriptors are the short forms, in six fields.
var descriptors = map[string]string{
	"@yearly":   "0 0 0 1 1 *",
	"@annually": "0 0 0 1 1 *",
	"@monthly":  "0 0 0 1 * *",
	"@weekly":   "0 0 0 * * 0",
	"@daily":    "0 0 0 * * *",
	"@midnight": "0 0 0 * * *",
	"@hourly":   "0 0 * * * *",
}

// fieldKinds are the six fields in order.
var fieldKinds = [6]struct{ name, allowed string }{
	{"second", "0-59"},
	{"minute", "0-59"},
	{"hour", "0-23"},
	{"day-of-month", "1-31"},
	{"month", "1-12 or JAN-DEC"},
	{"day-of-week", "0-6 or SUN-SAT, where 0 is Sunday"},
}

// parser has no descriptors, because the cron package would read zones and intervals more loosely than we do.
var parser = cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// Parse reads a cron expression. timeZone is spec.timeZone, "" when unset.
func Parse(expression, timeZone string) (*Schedule, error) {
	s := &Schedule{fields: strings.Fields(expression)}
	if err := s.parse(timeZone); err != nil {
		return nil, fmt.Errorf("schedule %q %w", expression, err)
	}
	return s, nil
}

// parse completes s from its fields. Its errors go on after the expression.
func (s *Schedule) parse(timeZone string) error {
	if err := s.parseZone(timeZone); err != nil {
		return err
	}
	if len(s.fields) == 0 {
		return errors.New("has no fields; " + fieldsHint)
	}
	if s.fields[0] == "@every" {
		return s.parseEvery()
	}
	if strings.HasPrefix(s.fields[0], "@") {
		long, ok := descriptors[strings.Join(s.fields, " ")]
		if !ok {
			return errors.New("is not a known word; " + wordsHint)
		}
		s.fields = strings.Fields(long)
	}
	return s.parseFields()
}

// parseZone takes the prefix off the fields and settles the zone.
func (s *Schedule) parseZone(timeZone string) error {
	name := timeZone
	if len(s.fields) > 0 && hasZone(s.fields[0]) {
		s.prefix, s.fields = s.fields[0], s.fields[1:]
		_, name, _ = strings.Cut(s.prefix, "=")
		if name == "" {
			return fmt.Errorf("has an empty %s; %s, right after it", s.prefix, zoneHint)
		}
	}

	switch {
	case len(s.fields) > 0 && hasZone(s.fields[0]):
		return errors.New("has two time zones; remove both and set spec.timeZone")
	case timeZone != "" && timeZone != name:
		return fmt.Errorf(
			"has the time zone %q, but spec.timeZone is %q; remove %s from the schedule",
			name,
			timeZone,
			s.prefix,
		)
	case name == "Local" || name == "localtime":
		return fmt.Errorf("is in time zone %q, which depends on the machine; %s", name, zoneHint)
	}

	zone, err := time.LoadLocation(name)
	if err != nil {
		return fmt.Errorf("is in time zone %q, which cannot be loaded (%w); %s", name, err, zoneHint)
	}
	s.zone = zone
	return nil
}

func hasZone(field string) bool {
	return strings.HasPrefix(field, "TZ=") || strings.HasPrefix(field, "CRON_TZ=")
}

func (s *Schedule) parseEvery() error {
	if len(s.fields) != 2 {
		return errors.New("needs one duration after @every; " + everyHint)
	}
	every, err := time.ParseDuration(s.fields[1])
	if err != nil {
		return fmt.Errorf("has an interval that is not a duration (%w); %s", err, everyHint)
	}
	if every < time.Second {
		return fmt.Errorf("has an interval of %s, which is too short; %s", every, everyHint)
	}
	s.every = every.Truncate(time.Second)
	return nil
}

func (s *Schedule) parseFields() error {
	six := s.fields
	switch len(six) {
	case 5:
		six = append([]string{"0"}, six...)
	case 6:
	default:
		return fmt.Errorf("has %s; %s", plural(len(six), "field"), fieldsHint)
	}
	for i, field := range six {
		if err := checkField(i, field); err != nil {
			kind := fieldKinds[i]
			return fmt.Errorf("has the %s %q, which is not valid (%w); write %s, or *, a list, a range or a step of these",
				kind.name, field, err, kind.allowed)
		}
	}

	spec, err := parseSpec(six)
	if err != nil {
		return fmt.Errorf("cannot be read (%w); %s", err, fieldsHint)
	}
	s.spec = spec
	// Any start will do: the calendar that matters for this repeats within eight years.
	if s.nextWall(time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return errors.New("never fires: no month that it names has such a day; change day-of-month or month")
	}
	return nil
}

// checkField reads one field alone, so that an error can name it.
func checkField(i int, field string) error {
	six := []string{"*", "*", "*", "*", "*", "*"}
	six[i] = field
	spec, err := parseSpec(six)
	if err != nil {
		return err
	}
	// The cron package takes "," for a list of nothing, and would then look for a match for seconds.
	bits := [6]uint64{spec.Second, spec.Minute, spec.Hour, spec.Dom, spec.Month, spec.Dow}
	if len(values(bits[i])) == 0 {
		return errors.New("it names no value")
	}
	return nil
}

// parseSpec turns a panic of the cron package into an error.
func parseSpec(six []string) (spec *cron.SpecSchedule, err error) {
	defer func() {
		if r := recover(); r != nil { //nolint:forbidigo // an error of the schedule, not ours
			err = fmt.Errorf("reading failed: %v", r)
		}
	}()
	parsed, err := parser.Parse(strings.Join(six, " "))
	if err != nil {
		return nil, err
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, fmt.Errorf("reading gave a %T", parsed)
	}
	spec.Location = time.UTC
	return spec, nil
}
