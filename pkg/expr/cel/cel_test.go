// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// longTail are the last 120 characters of a line.
const longTail = "&& object.spec.b == 2 && object.spec.b == 2 && object.spec.b == 2 && object.spec.b == 2 && object.spec.b == 2 && objct.c"

func TestProblemsSayWhere(t *testing.T) {
	for _, test := range []struct{ name, expression, want string }{
		{"unknown variable", "objct.spec.x > 1", "line 1, column 1: undeclared reference to 'objct': objct.spec.x > 1"},
		{
			"on the second line", "object.spec.x > 1 &&\n  objct.spec.y > 1",
			"line 2, column 3: undeclared reference to 'objct': objct.spec.y > 1",
		},
		{"syntax", "1 +", "line 1, column 4: Syntax error: mismatched input '<EOF>': 1 +"},
		{"not a condition", "'a'", "the expression is of type string, but a condition must be true or false: compare it with something"},
		{"metrics", "metrics.cpu > 1", "line 1, column 1: metrics are not read: set metricSource and metricQueries in the selector: metrics.cpu > 1"},
		{"events", "events.size() > 1", "line 1, column 1: events are not read: set includeEvents: true in the selector: events.size() > 1"},
		{"logs", "'x' in logs", "line 1, column 8: logs are not read: set logSource in the selector: 'x' in logs"},
		{"no authorizer", "authorizer == null", "line 1, column 1: undeclared reference to 'authorizer': authorizer == null"},
		{
			"function", "object.spec.foo() == 1",
			"line 1, column 16: undeclared reference to 'foo': object.spec.foo() == 1",
		},
		{"types of constants", "1 == 'a'", "line 1, column 3: found no matching overload for '_==_' applied to '(int, string)': 1 == 'a'"},
		{"bad duration", "now > now + duration('1 day')", "line 1, column 22: invalid duration argument: now > now + duration('1 day')"},
		{"bad pattern", "object.a.matches('(')", "line 1, column 17: error parsing regexp: missing closing ): `(`"},
		{"pattern of find", "object.a.find('(') == ''", "line 1, column 14: error parsing regexp: missing closing ): `(`"},
		{
			"pattern too large", "object.a.matches('" + strings.Repeat("a{1000}", 11) + "')",
			"line 1, column 17: a regular expression may have 10000 steps when its repetitions are written out, and all of a selector 100000; make it shorter",
		},
		{
			"long line", "object.spec.a == 1 && " + strings.Repeat("object.spec.b == 2 && ", 20) + "objct.c",
			"line 1, column 463: undeclared reference to 'objct': ..." + longTail + "...",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Compile([]v1alpha1.MatchCondition{{Name: "fine", Expression: "true"}, {Name: "unused", Expression: test.expression}})
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff("matchConditions[1] (unused): "+test.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAllProblemsAreReported(t *testing.T) {
	_, err := Compile([]v1alpha1.MatchCondition{
		{Name: "a", Expression: "x == 1 && y == 2"},
		{Name: "b", Expression: "true"},
		{Name: "c", Expression: "z"},
	})
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("got %v, want a joined error", err)
	}
	var got []string
	for _, err := range joined.Unwrap() {
		got = append(got, err.Error())
	}
	want := []string{
		"matchConditions[0] (a): line 1, column 1: undeclared reference to 'x': x == 1 && y == 2",
		"matchConditions[0] (a): line 1, column 11: undeclared reference to 'y': x == 1 && y == 2",
		"matchConditions[2] (c): line 1, column 1: undeclared reference to 'z': z",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDeepExpressionsAreRefused(t *testing.T) {
	for name, expression := range map[string]string{
		"parentheses": strings.Repeat("(", 8000) + "true" + strings.Repeat(")", 8000),
		"not":         strings.Repeat("!", 16000) + "true",
		"lists":       strings.Repeat("[", 8000) + strings.Repeat("]", 8000) + " == []",
		"ternary":     strings.Repeat("true ? ", 2000) + "true" + strings.Repeat(" : true", 2000),
		"select":      "object" + strings.Repeat(".a", 8000) + " == 1",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Compile([]v1alpha1.MatchCondition{{Name: "deep", Expression: expression}}); err == nil && name != "not" {
				t.Error("no error")
			} else if err != nil && len(err.Error()) > 1000 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
		})
	}
}

func TestTogetherTooLarge(t *testing.T) {
	conditions := func(expression string, n int) (all []v1alpha1.MatchCondition) {
		for range n {
			all = append(all, v1alpha1.MatchCondition{Name: "c", Expression: expression})
		}
		return all
	}
	for _, test := range []struct {
		name       string
		conditions []v1alpha1.MatchCondition
		want       string
	}{
		{
			"patterns", conditions("object.a.matches('a{1000}a{1000}a{1000}a{1000}')", 26),
			"matchConditions[24] (c): line 1, column 17: a regular expression may have 10000 steps when its repetitions are written out, and all of a selector 100000; make it shorter",
		},
		{
			"text", conditions("object.a == '"+strings.Repeat("a", 16000)+"'", 5),
			"matchConditions[4] (c): the expressions of a selector are longer than 65536 bytes together; make them shorter",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Compile(test.conditions)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if err := Check(test.conditions, &spec.Schema{}); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("Check: got %v, want %s", err, test.want)
			}
		})
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		"object.status.phase == 'Succeeded'", "object.spec.l.all(x, x > 1)", "has(object.a.b) ? object.a.b : 1", "'%s'.format([object])",
		"object.?a.?b[?'c'].orValue({}) == {}", "object.a.matches('a{1000}')", "[1, 2.0, 3u, b'x', null]", "{'a': 1}['a'] == 1", "1 +", "\"\\", "`a`",
	} {
		f.Add(seed)
	}
	o := realPod(f)
	f.Fuzz(func(t *testing.T, expression string) {
		if len(expression) > 16384 {
			t.Skip()
		}
		conditions := []v1alpha1.MatchCondition{{Name: "c", Expression: expression}}
		program, err := Compile(conditions)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "matchConditions[0] (c): ") {
				t.Fatalf("it does not say where: %v", err)
			}
			return
		}
		if _, _, err = program.NewRun(time.Now()).Evaluate(t.Context(), o); err != nil && !strings.HasPrefix(err.Error(), `condition "c": `) {
			t.Fatalf("it does not say where: %v", err)
		}
		_ = Check(conditions, &spec.Schema{})
	})
}
