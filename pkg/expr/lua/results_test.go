// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"strings"
	"testing"
)

// A body of evaluate begins in line 2.
func TestNoTable(t *testing.T) {
	for _, c := range []struct {
		body, what string
		line       int
	}{
		{"if obj.x then\nreturn true\nend\nlocal hs = {}\nhs.matching = false\nreturn hs", "a boolean", 3},
		{"if obj.x then return {} end\nreturn false", "a boolean", 3},
		{"return obj.x == 1", "a boolean", 2},
		{"return not obj.x", "a boolean", 2},
		{"for i = 1, 3 do\nreturn 1\nend\nreturn {}", "a number", 3},
		{"return 'x', {}", "a text", 2},

		{"return {}", "", 0},
		{"return", "", 0},
		{"return nil", "", 0},
		{"return hs", "", 0},
		{"return obj.x and {} or {}", "", 0},
		{"return other(true)", "", 0},
		{"local function other() return true end\nreturn other() and {} or {}", "", 0},
	} {
		script := "function evaluate()\n" + c.body + "\nend"
		if what, line := NoTable(script, "evaluate"); what != c.what || line != c.line {
			t.Errorf("%q in line %d, want %q in %d:\n%s", what, line, c.what, c.line, script)
		}
	}
	for _, script := range []string{
		"function other() return true end", "function evaluate() return true end evaluate = x", "function evaluate(",
	} {
		if what, _ := NoTable(script, "evaluate"); what != "" {
			t.Errorf("%q in: %s", what, script)
		}
	}
}

func TestUnread(t *testing.T) {
	for _, c := range []struct {
		body, name string
		line       int
	}{
		{"return {match = true}", "match", 2},
		{"if obj.x then\nreturn {message = 'x', Matched = true}\nend\nreturn {matching = true}", "Matched", 3},
		{"return {['matches'] = true}", "matches", 2},
		{"return {1, match = true}", "match", 2},

		{"return {}", "", 0},
		{"return {message = 'x'}", "", 0},
		{"return {Message = 'x'}", "", 0},
		{"return {Message = 'x', Matching = true}", "", 0},
		{"return {match = true, matching = true}", "", 0},
		{"return {match = true, [key] = true}", "", 0},
		{"return {true}", "", 0},
		{"return hs", "", 0},
		{"local other = {match = true}\nreturn {matching = other.match}", "", 0},
	} {
		script := "function evaluate()\n" + c.body + "\nend"
		if name, line := Unread(script, "evaluate", "matching", "message"); name != c.name || line != c.line {
			t.Errorf("%q in line %d, want %q in %d:\n%s", name, line, c.name, c.line, script)
		}
	}
}

func TestSets(t *testing.T) {
	for body, want := range map[string]bool{
		"local hs = {}\nhs.matching = obj.x == '--'\nreturn hs":                           true,
		"return {matching = true}":                                                        true,
		"return {['matching'] = true}":                                                    true,
		"return {Matching = true}":                                                        true,
		"hs = {}\nhs[\"matching\"] = true\nreturn hs":                                     true,
		"local function fill(hs) hs.matching = true end\nlocal r = {}\nfill(r)\nreturn r": true,
		"a, r.matching = 1, true\nreturn r":                                               true,
		"rawset(hs, 'match' .. 'ing', true)\nreturn hs":                                   true,
		"hs[key] = true\nreturn hs":                                                       true,
		"return {[key] = true}":                                                           true,
		"return (":                                                                        true,

		"return {} -- matching = true":              false,
		"--[[ matching ]] return {}":                false,
		"return {message = 'not matching'}":         false,
		"return {message = \"matching = true\"}":    false,
		"if obj.matching then return {} end":        false,
		"local matching = true\nreturn {matching}":  false,
		"list = {}\nlist[#list+1] = 1\nlist[1] = 2": false,
		"return {match = true}":                     false,
		"hs.matching.x = true\nreturn hs":           false,
	} {
		if got := Sets("function evaluate()\n"+body+"\nend", "matching"); got != want {
			t.Errorf("%v, want %v: %s", got, want, strings.ReplaceAll(body, "\n", "; "))
		}
	}
}
