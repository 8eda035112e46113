// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import "testing"

func TestMisspelledReturn(t *testing.T) {
	for _, c := range []struct {
		body, name string
		line       int
	}{
		{"local a = 1\nretrun {matching = true}", "retrun", 3},
		{"if obj.x then retrn({matching = true}) end", "retrn", 2},
		{"return {matching = true}", "", 0},
		{"print('x')\nreturn {}", "", 0},
		{"local function retrun() end\nretrun()", "", 0},
		{"retrun = 1\nretrun()", "", 0},
		{"obj.retrun({})", "", 0},
		{"retrun hs", "", 0},
	} {
		if name, line := MisspelledReturn("function evaluate()\n" + c.body + "\nend"); name != c.name || line != c.line {
			t.Errorf("%q in line %d: %s", name, line, c.body)
		}
	}
}

func TestWrongMatching(t *testing.T) {
	for _, c := range []struct {
		body, what string
		line       int
	}{
		{"hs = {}\nhs.matching = \"true\"", "a text", 3},
		{"hs.a, hs.matching = true, 1", "a number", 2},
		{"return {\nmatching = 'true'}", "a text", 3},
		{"return {['matching'] = {}}", "a table", 2},
		{"hs.matching = true\nhs.matching = 0", "a number", 3},
		{"hs.matching = true", "", 0},
		{"hs.matching = nil", "", 0},
		{"hs.Matching = 'true'", "a text", 2},
		{"hs.matching = obj.x == \"true\"", "", 0},
		{"hs.message = \"matching\"", "", 0},
		{"matching = \"true\"", "", 0},
		{"return {'matching', message = 'x', [1] = 2}", "", 0},
		{"hs.matching = (", "", 0},
	} {
		if what, line := WrongMatching("function evaluate()\n" + c.body + "\nend"); what != c.what || line != c.line {
			t.Errorf("%q in line %d: %s", what, line, c.body)
		}
	}
}

func TestUnknown(t *testing.T) {
	for _, c := range []struct {
		body, field string
		line        int
	}{
		{"local a = 1\nreturn {matching = finding.nope == 'x'}", "nope", 3},
		{"return {matching = finding['kind'] == 'x'}", "kind", 2},
		{"return {matching = finding.type == 'x' and obj.finding.nope and obj.nope}", "", 0},
		{"local finding = obj\nreturn {matching = finding.nope}", "", 0},
		{"return {matching = finding[obj.x] == 'x'}", "", 0},
		{"return {matching = finding.nope", "", 0},
	} {
		script := "function evaluate()\n" + c.body + "\nend"
		if field, line := Unknown(script, "finding", []string{"type"}); field != c.field || line != c.line {
			t.Errorf("%q in line %d: %s", field, line, c.body)
		}
	}
}
