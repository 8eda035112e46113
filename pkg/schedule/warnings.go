// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// often is how many runs in an hour are still taken for what the user meant.
const often = 30

// Warnings returns a sentence for each thing that is valid but probably not what the user meant.
func (s *Schedule) Warnings() []string {
	var warnings []string
	if s.prefix != "" {
		_, zone, _ := strings.Cut(s.prefix, "=")
		warnings = append(warnings, fmt.Sprintf("the time zone is in the schedule; set spec.timeZone to %s and remove %s",
			zone, s.prefix))
	}
	if runs := s.runsInAnHour(); runs > often {
		warnings = append(warnings, fmt.Sprintf("the schedule fires %d times in an hour%s", runs, s.meant()))
	}
	return warnings
}

// runsInAnHour counts the runs in an hour in which the schedule fires at all.
func (s *Schedule) runsInAnHour() int {
	if s.isInterval() {
		return int(time.Hour / s.every)
	}
	return len(values(s.spec.Second)) * len(values(s.spec.Minute))
}

// meant says which schedule the user probably had in mind, if that is clear: in "* 0 * * *" the minute should be 0.
func (s *Schedule) meant() string {
	isSecondAny := !s.isInterval() && len(values(s.spec.Second)) == 60
	isMinuteAny := !s.isInterval() && len(values(s.spec.Minute)) == 60 && !s.isEveryHour()
	if !isSecondAny && !isMinuteAny {
		return ""
	}

	// A second that matches always was written, so there are six fields.
	fields := slices.Clone(s.fields)
	minute := len(fields) - 5
	var because []string
	if isSecondAny {
		fields[0] = "0"
		because = append(because, "second is *")
	}
	if isMinuteAny {
		fields[minute] = "0"
		because = append(because, "minute is *")
	}
	meant := strings.Join(fields, " ")
	return fmt.Sprintf(", because %s; if that is not meant, write %q", strings.Join(because, " and "), meant)
}
