// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package mark

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	errForever  = errors.New("forever")
	errDuration = errors.New("not a duration")
)

const (
	day  = 24 * time.Hour
	week = 7 * day
)

var units = map[string]time.Duration{
	"ns": time.Nanosecond, "us": time.Microsecond, "µs": time.Microsecond, "μs": time.Microsecond, "ms": time.Millisecond,
	"s": time.Second, "m": time.Minute, "h": time.Hour, "d": day, "w": week,
}

var (
	durationForm = lazily(`^(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|µs|μs|ms|s|m|h|d|w))+$`)
	durationPart = lazily(`([0-9]+)(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h|d|w)`)
	janitorForm  = lazily(`^[0-9]+[smhdw]$`)
	kyvernoForm  = lazily(`^(?:[0-9]+[A-Za-z]+)+$`)
	kyvernoPart  = lazily(`([0-9]+)([A-Za-z]+)`)
)

// lazily compiles an expression when it is first used: a process that runs scripts mostly reads no marks, and it starts
// faster without.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

type durationFunc = func(string) (time.Duration, error)

// duration reads what Go does, and days and weeks: "1w2d3h". One below zero is none.
func duration(text string) (total time.Duration, err error) {
	if !durationForm().MatchString(text) {
		return 0, errDuration
	}
	for _, part := range durationPart().FindAllStringSubmatch(text, -1) {
		if total, err = add(total, part[1], part[2], units[part[3]]); err != nil {
			return 0, err
		}
	}
	return total, nil
}

// add adds a number of units. A sum that a time.Duration cannot hold, which is at most 292 years, is an error.
func add(total time.Duration, whole, fraction string, unit time.Duration) (time.Duration, error) {
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > math.MaxInt64/int64(unit) {
		return 0, errDuration
	}
	parts := 0.0
	if fraction != "" {
		if parts, err = strconv.ParseFloat("0"+fraction, 64); err != nil {
			return 0, errDuration
		}
	}
	more := time.Duration(n)*unit + time.Duration(parts*float64(unit))
	if more < 0 || total+more < 0 {
		return 0, errDuration
	}
	return total + more, nil
}

// goDuration reads what Go does. One below zero is none: it would end before the creation.
func goDuration(text string) (time.Duration, error) {
	after, err := time.ParseDuration(text)
	if err != nil || after < 0 {
		return 0, errDuration
	}
	return after, nil
}

// orZero also reads the zero that Go reads without a unit.
func orZero(read durationFunc) durationFunc {
	return func(text string) (time.Duration, error) {
		if text == "0" {
			return 0, nil
		}
		return read(text)
	}
}

func orForever(read durationFunc) durationFunc {
	return func(text string) (time.Duration, error) {
		if text == "forever" {
			return 0, errForever
		}
		return read(text)
	}
}

// positive refuses zero, which pod-reaper takes for a mistake.
func positive(read durationFunc) durationFunc {
	return func(text string) (time.Duration, error) {
		after, err := read(text)
		if err == nil && after == 0 {
			err = errDuration
		}
		return after, err
	}
}

// janitorTTL reads a number and a unit. Zero of any unit never ends: kube-janitor deletes by a TTL above zero only.
func janitorTTL(text string) (time.Duration, error) {
	if !janitorForm().MatchString(text) {
		return 0, errDuration
	}
	after, err := duration(text)
	if err == nil && after == 0 {
		err = errForever
	}
	return after, err
}

// kyvernoTTL reads what Go does and, as the library that Kyverno uses, words for units: "4d", "1week", "2hours". That
// library finds such parts anywhere in a text, and its versions differ in what they make of "1.5d". Here the text must
// be nothing else, and whole numbers.
func kyvernoTTL(text string) (total time.Duration, err error) {
	if after, err := goDuration(text); err == nil {
		return after, nil
	}
	if !kyvernoForm().MatchString(text) {
		return 0, errDuration
	}
	for _, part := range kyvernoPart().FindAllStringSubmatch(text, -1) {
		unit := kyvernoUnit(strings.ToLower(part[2]))
		if unit == 0 {
			return 0, errDuration
		}
		if total, err = add(total, part[1], "", unit); err != nil {
			return 0, err
		}
	}
	return total, nil
}

// kyvernoUnit is the length of a unit, or 0 of no unit. A word may go on after its name: "days".
func kyvernoUnit(word string) time.Duration {
	switch word {
	case "hr":
		return time.Hour
	case "wk":
		return week
	}
	if unit, ok := units[word]; ok {
		return unit
	}
	for name, unit := range map[string]time.Duration{
		"nano": time.Nanosecond, "micro": time.Microsecond, "milli": time.Millisecond, "sec": time.Second, "min": time.Minute,
		"hour": time.Hour, "day": day, "week": week,
	} {
		if strings.HasPrefix(word, name) {
			return unit
		}
	}
	return 0
}
