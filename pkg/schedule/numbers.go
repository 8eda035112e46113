// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// values returns the numbers that a field of the cron package matches.
func values(bits uint64) []int {
	var set []int
	for i := range 60 {
		if bits&(1<<i) != 0 {
			set = append(set, i)
		}
	}
	return set
}

// step returns the distance of the values if it is the same everywhere, else 0.
func step(values []int) int {
	if len(values) < 2 {
		return 0
	}
	distance := values[1] - values[0]
	for i := 2; i < len(values); i++ {
		if values[i]-values[i-1] != distance {
			return 0
		}
	}
	return distance
}

// isRun reports whether the values follow each other without a hole.
func isRun(values []int) bool {
	return values[len(values)-1]-values[0] == len(values)-1
}

// numbers writes values of a unit, such as "minutes 0, 7 and 14" or "hours 0 to 22 in steps of 2".
func numbers(unit string, values []int) string {
	if len(values) == 1 {
		return unit + " " + strconv.Itoa(values[0])
	}
	if distance := step(values); distance > 1 && len(values) > 4 {
		return fmt.Sprintf("%ss %d to %d in steps of %d", unit, values[0], values[len(values)-1], distance)
	}
	return unit + "s " + ranges(values, strconv.Itoa)
}

// ranges writes values by name. Three or more in a row are a range.
func ranges(values []int, name func(int) string) string {
	var parts []string
	for i := 0; i < len(values); {
		end := i
		for end+1 < len(values) && values[end+1] == values[end]+1 {
			end++
		}
		if end-i >= 2 {
			parts = append(parts, name(values[i])+" to "+name(values[end]))
			i = end + 1
			continue
		}
		parts = append(parts, name(values[i]))
		i++
	}
	return join(parts)
}

// join makes a list as in a sentence.
func join(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

func plural(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}
