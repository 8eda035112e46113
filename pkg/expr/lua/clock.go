// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"strconv"
	"strings"
	"time"

	gopher "github.com/yuin/gopher-lua"
)

// clock is the part of os that scripts see. It stands still at the start of the run, and its time zone is UTC.
type clock struct{ now time.Time }

func (c clock) time(state *gopher.LState) int {
	if state.Get(1) == gopher.LNil {
		state.Push(gopher.LNumber(c.now.Unix()))
		return 1
	}
	table := state.CheckTable(1)
	field := func(name string, missing int) int {
		value, ok := wholeNumber(table.RawGetString(name))
		switch {
		case ok:
			return value
		case missing < 0:
			state.RaiseError("field '%s' missing in date table", name)
		}
		return missing
	}
	year, month, day := field("year", -1), field("month", -1), field("day", -1)
	at := time.Date(year, time.Month(month), day, field("hour", 12), field("min", 0), field("sec", 0), 0, time.UTC)
	state.Push(gopher.LNumber(at.Unix()))
	return 1
}

// wholeNumber reads a field of a date table as the interpreter's own os.time does. Scripts fill it with what
// string.match cut out of a timestamp: "08" is 8.
func wholeNumber(value gopher.LValue) (int, bool) {
	switch value := value.(type) {
	case gopher.LNumber:
		return int(value), true
	case gopher.LString:
		text := strings.TrimLeft(string(value), " ")
		if strings.HasPrefix(text, "0") && !strings.HasPrefix(strings.ToLower(text), "0x") {
			if text = strings.TrimLeft(text, "0"); text == "" {
				return 0, true
			}
		}
		number, ok := parseNumber(text)
		return int(number), ok
	}
	return 0, false
}

// parseNumber reads a number as the interpreter does: "0x10" is 16.
func parseNumber(text string) (gopher.LNumber, bool) {
	text = strings.Trim(text, " \t\n")
	if number, err := strconv.ParseInt(text, 0, 64); err == nil {
		return gopher.LNumber(number), true
	}
	number, err := strconv.ParseFloat(text, 64)
	return gopher.LNumber(number), err == nil
}

// date looks at the number of arguments, as the interpreter's own os.date does: nil is no text and no time.
func (c clock) date(state *gopher.LState) int {
	format, at := "%c", c.now
	if state.GetTop() >= 1 {
		format = strings.TrimLeft(state.CheckString(1), "!")
	}
	if state.GetTop() >= 2 {
		at = time.Unix(state.CheckInt64(2), 0).UTC()
	}
	if !strings.HasPrefix(format, "*t") {
		state.Push(gopher.LString(formatTime(at, format)))
		return 1
	}
	table := state.CreateTable(0, 9)
	for _, field := range []struct {
		name  string
		value int
	}{
		{"year", at.Year()},
		{"month", int(at.Month())},
		{"day", at.Day()},
		{"hour", at.Hour()},
		{"min", at.Minute()},
		{"sec", at.Second()},
		{"wday", int(at.Weekday()) + 1},
		{"yday", at.YearDay()},
	} {
		table.RawSetString(field.name, gopher.LNumber(field.value))
	}
	table.RawSetString("isdst", gopher.LFalse)
	state.Push(table)
	return 1
}

func formatTime(at time.Time, format string) string {
	var text strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			text.WriteByte(format[i])
			continue
		}
		i++
		text.WriteString(conversion(at, format[i]))
	}
	return text.String()
}

// conversion knows what the interpreter's own os.date knows, and prints an unknown letter unchanged as that does. %c
// has its text too, which messages of existing scripts show; %a and %x, which it prints wrongly, are those of the C
// locale.
func conversion(at time.Time, letter byte) string {
	layouts := map[byte]string{
		'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'c': "02 Jan 06 15:04 MST", 'd': "02", 'D': "01/02/06",
		'F': "2006-01-02", 'H': "15", 'I': "03", 'j': "002", 'm': "01", 'M': "04", 'p': "PM", 'P': "pm", 'S': "05",
		'T': "15:04:05", 'x': "01/02/06", 'X': "15:04:05", 'y': "06", 'Y': "2006", 'z': "-0700", 'Z': "MST",
	}
	switch layout, ok := layouts[letter]; {
	case ok:
		return at.Format(layout)
	case letter == 'w':
		return strconv.Itoa(int(at.Weekday()))
	case letter == '%':
		return "%"
	}
	return string([]byte{'%', letter})
}

// difftime refuses all but numbers, as the interpreter's own does: what is no date must not count as one that is long
// ago.
func difftime(state *gopher.LState) int {
	state.Push(gopher.LNumber(state.CheckInt64(1) - state.CheckInt64(2)))
	return 1
}
