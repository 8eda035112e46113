// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func TestEventsInConditions(t *testing.T) {
	const two = `{"events":[{"reason":"A","count":3,"lastTimestamp":"2026-03-01T00:00:00Z"},{"reason":"B","count":1}]}`
	for name, test := range map[string]struct {
		expression, data string
		want             bool
	}{
		"size":       {"size(events) == 2", two, true},
		"none":       {"size(events) == 0", `{"events":[]}`, true},
		"exists":     {"events.exists(e, e.reason == 'A' && e.count > 2)", two, true},
		"not there":  {"events.exists(e, e.reason == 'C')", two, false},
		"newest":     {"events[0].reason == 'A' && now - timestamp(events[0].lastTimestamp) > duration('1h')", two, true},
		"and object": {"object.metadata.name == 'a' && events.all(e, e.count > 0)", two, true},
	} {
		t.Run(name, func(t *testing.T) {
			program, err := Compile([]v1alpha1.MatchCondition{{Name: "c", Expression: test.expression}}, Events)
			if err != nil {
				t.Fatal(err)
			}
			run := program.NewRun(time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC))
			o := object.Object{Raw: []byte(`{"metadata":{"name":"a"}}`)}
			got, _, err := run.EvaluateWith(t.Context(), o, object.JSON(test.data))
			if err != nil || got != test.want {
				t.Errorf("it is %v, %v, want %v", got, err, test.want)
			}
			if !strings.Contains(test.expression, "size") {
				return
			}
			if _, _, err := run.Evaluate(t.Context(), o); err == nil { // a caller who forgets them must not get a verdict
				t.Error("it is judged without events")
			}
		})
	}
}

// The results of queries are doubles, also whole ones.
func TestMetricsInConditions(t *testing.T) {
	const two = `{"metrics":{"cpu":3.0,"mem":1e+06},"events":[]}`
	for expression, want := range map[string]bool{
		"metrics.cpu == 3.0 && metrics['cpu'] > 2": true, "metrics.cpu * 2.0 > metrics.mem / 1e6": true, "'idle' in metrics": false,
		"has(metrics.idle) || metrics.cpu < 3.0": false, "metrics.?idle.orValue(7.0) == 7.0 && size(events) == 0": true,
	} {
		program, err := Compile([]v1alpha1.MatchCondition{{Name: "c", Expression: expression}}, Events, Metrics)
		if err != nil {
			t.Fatal(err)
		}
		run := program.NewRun(time.Now())
		got, _, err := run.EvaluateWith(t.Context(), object.Object{Raw: []byte(`{}`)}, object.JSON(two))
		if err != nil || got != want {
			t.Errorf("%s is %v, %v, want %v", expression, got, err, want)
		}
	}
}

// Conditions that look at logs are kept apart, and all of them are asked when nobody asks for a part.
func TestLogsInConditions(t *testing.T) {
	conditions := []v1alpha1.MatchCondition{
		{Name: "late", Expression: "[1].all(x, x > 0 && logs.contains('panic'))", Message: "late"},
		{Name: "early", Expression: "object.metadata.name == 'a'", Message: "early"},
	}
	program, err := Compile(conditions, Logs)
	if err != nil {
		t.Fatal(err)
	}
	run := program.NewRun(time.Now())
	for _, test := range []struct {
		name, logs  string
		early, late bool
	}{{"a", "panic", true, true}, {"b", "panic", false, true}, {"a", "", true, false}} {
		o, data := object.Object{Raw: []byte(`{"metadata":{"name":"` + test.name + `"}}`)}, object.JSON(`{"logs":"`+test.logs+`"}`)
		early, said, err := run.EvaluatePart(t.Context(), o, nil, false) // logs are not at hand yet
		if err != nil || early != test.early || early && said != "early" {
			t.Errorf("early: %v, %q, %v, want %v", early, said, err, test.early)
		}
		late, said, err := run.EvaluatePart(t.Context(), o, data, true)
		if err != nil || late != test.late || late && said != "late" {
			t.Errorf("late: %v, %q, %v, want %v", late, said, err, test.late)
		}
		if all, _, err := run.EvaluateWith(t.Context(), o, data); err != nil || all != (test.early && test.late) {
			t.Errorf("all: %v, %v", all, err)
		}
	}
	if !run.HasLate() {
		t.Error("none is late")
	}
	if program, err = Compile(conditions[1:], Logs); err != nil || program.NewRun(time.Now()).HasLate() {
		t.Errorf("one is late, %v", err)
	}
	_, err = Compile(conditions[:1])
	if want := "logs are not read: set logSource in the selector"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// What was found is a map of texts; since is a time.
func TestFindingInConditions(t *testing.T) {
	const data = `{"finding":{"type":"Unused","reason":"none of 9 kinds names it","confidence":"Likely","since":"2026-03-01T00:00:00Z"}}`
	for expression, want := range map[string]bool{
		"finding.type == 'Unused' && finding.confidence == 'Likely'": true, "now - timestamp(finding.since) > duration('23h')": true,
		"now - timestamp(finding.since) > duration('25h')": false, "finding.reason.contains('9 kinds')": true,
	} {
		program, err := Compile([]v1alpha1.MatchCondition{{Name: "c", Expression: expression}}, Finding)
		if err != nil {
			t.Fatal(err)
		}
		o := object.Object{Raw: []byte(`{"metadata":{"name":"a"}}`)}
		got, _, err := program.NewRun(time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)).EvaluateWith(t.Context(), o, object.JSON(data))
		if err != nil || got != want {
			t.Errorf("%s is %v, %v, want %v", expression, got, err, want)
		}
	}
	_, err := Compile([]v1alpha1.MatchCondition{{Name: "c", Expression: "finding.type == 'Unused'"}})
	if err == nil || !strings.Contains(err.Error(), "set finding in the selector") {
		t.Errorf("without finding it says %v", err)
	}
}
