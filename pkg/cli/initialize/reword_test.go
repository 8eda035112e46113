// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package initialize

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTextsSayTheTimeOfTheFlag: what a recipe says of its time is true of the Cleaner that is written with another one.
func TestTextsSayTheTimeOfTheFlag(t *testing.T) {
	known, err := read()
	if err != nil {
		t.Fatal(err)
	}
	c := changes{long: "17d", act: "Scan"}
	others := map[string][]string{ // times that --for does not change
		"often-restarted-pods": {"an hour"},
		"stuck-deletions":      {"10 minutes"},
		"preview-namespaces":   {"a day"},
		"mount-failures":       {"an hour"},
	}
	anyTime := regexp.MustCompile(`\b(\d+|an?|last|two|seven|ten|half\s+an)\s+(minutes?|hours?|days?|weeks?|months?)\b`)
	reworded := 0
	for i := range known {
		r := &known[i]
		if _, _, err := c.apply(r); err != nil {
			continue
		}
		told := c.retimed(r)
		if told.Finds != r.Finds {
			reworded++
		}
		for _, found := range anyTime.FindAllString(told.Finds+"\n"+told.AlsoSelects, -1) {
			found = strings.Join(strings.Fields(found), " ")
			if found != "17 days" && !slices.Contains(others[r.Name], found) {
				t.Errorf("%s says %q:\n%s\n%s", r.Name, found, told.Finds, told.AlsoSelects)
			}
		}
	}
	if reworded < 15 {
		t.Errorf("only %d recipes say the time", reworded)
	}
}

func TestReword(t *testing.T) {
	c := changes{long: "36h"}
	r := withSelectors(t, podSelector+"      minAgeSeconds: 604800\n")
	r.Finds, r.AlsoSelects = "Pods that are older than a\nweek, or seven days.", "What is kept for two weeks."
	r.Cleaner += "    # Finds Pods that are older than a\n    # week.\n"
	told := c.retimed(r)
	if told.Finds != "Pods that are older than \n36 hours, or 36 hours." || told.AlsoSelects != r.AlsoSelects {
		t.Errorf("%q, %q", told.Finds, told.AlsoSelects)
	}
	if !strings.HasSuffix(told.Cleaner, "older than \n    # 36 hours.\n") {
		t.Errorf("%q", told.Cleaner)
	}
	beside := "      minAgeSeconds: 86400 # a day, and not a week\n"
	r = withSelectors(t, podSelector+beside+"      finding:\n        type: Idle\n        forSeconds: 604800 # a week\n")
	text, _, err := c.apply(c.retimed(r))
	if err != nil || !strings.Contains(text, beside) || !strings.Contains(text, "forSeconds: 129600 # 36h\n") {
		t.Errorf("%v, or the comment beside a time that stays is not as it was:\n%s", err, text)
	}
	r = withSelectors(t, podSelector+conditions(`now - object.a < duration('24h')`))
	r.Finds = "Pods that ended within the last day."
	if told = (&changes{long: "1w"}).retimed(r); told.Finds != "Pods that ended within the last 1 week." {
		t.Errorf("%q", told.Finds)
	}
	if told = (&changes{}).retimed(r); told.Finds != r.Finds {
		t.Errorf("%q", told.Finds)
	}
}
