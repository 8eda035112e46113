// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"reflect"
	"testing"
)

const page = "# Title\n\nFirst:\n\n```sh\nkubectl create namespace a\nkubectl get all\n```\n\nThen restore:\n\n1. Look:\n\n   ```console\n   $ kubectl cleaner restore a-1795479662\n   a would come back\n   Go on? [y/N] y\n   ...\n   $ kubectl apply -f x\n   ```\n"

func TestParse(t *testing.T) {
	steps := Parse(page)
	if len(steps) != 2 || steps[0].Line != 5 || steps[1].Line != 14 || steps[1].Language != "console" {
		t.Fatalf("the steps are %+v", steps)
	}
	want := [][]Command{
		{{Text: "kubectl create namespace a"}, {Text: "kubectl get all"}},
		{
			{Text: "kubectl cleaner restore a-1795479662", Answers: "y\n", Output: []string{"a would come back", "Go on? [y/N] ", "..."}},
			{Text: "kubectl apply -f x"},
		},
	}
	for i, step := range steps {
		if got := step.Commands(); !reflect.DeepEqual(got, want[i]) {
			t.Errorf("the commands of step %d are %+v, want %+v", i, got, want[i])
		}
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		shown, printed string
		same           bool
	}{
		{"Unused   a   4s   none of 17 kinds names it", "Unused a 1m30s none of 19 kinds names it", true},
		{"run a-1795479662 ended after 200ms", "run a-1795479999 ended after 1.2s", true},
		{"Pod tutorial/web-98d78c6f5-47x8q    spec", "Pod tutorial/web-6b8f9d7c4d-xzv2k spec", true},
		{"deleted 1s ago, on 2026-11-24T00:21:02Z", "deleted 12s ago, on 2027-01-01T00:00:00Z", true},
		{"from the run with UID 7c6c68d9-1ee5-4875-8b5e-057649298e04", "from the run with UID 00000000-1ee5-4875-8b5e-057649298e04", true},
		{"it was restored; ...", "it was restored; and more", true},
		{"it was restored; ...", "it was deleted; and more", false},
		{"2 of 4 objects match", "3 of 4 objects match", false},
		{"unused-configmaps", "unused-secrets", false},
	} {
		if got := Same(c.shown, c.printed); got != c.same {
			t.Errorf("Same(%q, %q) is %v", c.shown, c.printed, got)
		}
	}
}

func TestMatch(t *testing.T) {
	for name, c := range map[string]struct {
		shown   []string
		output  string
		missing string
	}{
		"all":              {[]string{"a", "b"}, "a\nb\n", ""},
		"empty lines":      {[]string{"a", "b"}, "a\n\nb\n", ""},
		"lines are left":   {[]string{"a", "...", "d"}, "a\nb\nc\nd\n", ""},
		"the rest":         {[]string{"a", "..."}, "a\nb\nc\n", ""},
		"no line for dots": {[]string{"a", "...", "b"}, "a\nb\n", ""},
		"another line":     {[]string{"a", "b"}, "a\nc\n", "b"},
		"a line is gone":   {[]string{"a", "b"}, "a\n", "b"},
		"one too many":     {[]string{"a"}, "a\nb\n", "the end, but there is: b"},
		"a question":       {[]string{"Go on? [y/N] ", "done"}, "Go on? [y/N] done\n", ""},
		"nothing shown":    {nil, "a\n", ""},
	} {
		if _, missing := Match(c.shown, c.output); missing != c.missing {
			t.Errorf("%s: missing is %q, want %q", name, missing, c.missing)
		}
	}
}

func TestNames(t *testing.T) {
	names := Names{}
	pairs, _ := Match([]string{"run a-b-1795479662 ended after 1s"}, "run a-b-1795480000 ended after 2s\n")
	names.Learn(pairs)
	if got, want := names.Put("kubectl cleaner restore a-b-1795479662 --only x; other-1795479662"), "kubectl cleaner restore a-b-1795480000 --only x; other-1795479662"; got != want {
		t.Errorf("the command is %q, want %q", got, want)
	}
}
